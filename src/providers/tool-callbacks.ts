import { isAbsolute, resolve } from 'node:path';
import type { CodeRunner, UserCode } from '../domain/code-runner.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';

/** A tool call's callback as a config author wrote it: a function's source text, or `file://path.js:name`. */
function callbackCode(reference: string, basePath: string): UserCode {
  if (!reference.startsWith('file://')) {
    return { kind: 'inline', language: 'javascript', parameters: ['args'], body: `return (${reference})(args);` };
  }
  const named = /^file:\/\/(.*?)(?::([A-Za-z_$][\w$]*))?$/.exec(reference);
  const path = named?.[1] ?? '';
  const functionName = named?.[2];
  return {
    kind: 'file',
    language: path.endsWith('.py') ? 'python' : 'javascript',
    path: isAbsolute(path) ? path : resolve(basePath, path),
    ...(functionName === undefined ? {} : { functionName }),
  };
}

export interface CallbackSurroundings {
  readonly code: CodeRunner | undefined;
  readonly basePath: string;
  readonly signal: AbortSignal;
}

/** Runs the callback of one tool call; undefined when there is none or it failed, then the call itself is the output. */
export async function runCallback(
  call: ToolCall,
  callbacks: JsonObject,
  { code, basePath, signal }: CallbackSurroundings,
): Promise<string | undefined> {
  const reference = callbacks[call.function.name];
  if (typeof reference !== 'string' || code === undefined) return undefined;
  const outcome = await code.run(
    { code: callbackCode(reference, basePath), args: [call.function.arguments] },
    { signal },
  );
  if (outcome.kind !== 'returned') return undefined;
  const { value } = outcome;
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
