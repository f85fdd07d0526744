/**
 * Functions that a program hands over inside a config. Each gets a name under which the config, which is plain data
 * everywhere else, can speak of it; whoever runs code finds the function again by that name and calls it right here.
 *
 * 1. Only functions that the program itself passed run in this process; files and texts go where all user code goes.
 * 2. They get copies of what they are shown.
 */
import { join } from 'node:path';
import type { ConfigFiles } from '../config/config-files.ts';
import type { CodeCall, CodeOutcome } from '../domain/code-runner.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModelRequest } from '../domain/message.ts';
import type { Provider } from '../domain/provider.ts';
import type { Clock } from '../platform/clock.ts';
import type { ClosableCodeRunner } from '../platform/code-runner.ts';
import {
  contextOf,
  createProgramProvider,
  outcomeOf,
  promptOf,
  timeoutOf,
  wantedOf,
} from '../providers/program/program-provider.ts';
import type { ProviderOptions } from '../providers/provider-factory.ts';

export type InProcessFunction = (...args: never[]) => unknown;
type Callable = (...args: unknown[]) => unknown;

/** The functions of one config, by the names that stand for them in it. */
export interface InProcessFunctions {
  /** By absolute path; there is no such file. */
  readonly code: ReadonlyMap<string, Callable>;
  /** By provider id. */
  readonly providers: ReadonlyMap<string, Callable>;
}

const providerKeys = new Set(['provider', 'providers', 'targets', 'userProvider']);

const isCallable = (value: unknown): value is Callable => typeof value === 'function';
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const hasCallApi = (value: unknown): value is Record<string, unknown> & { callApi: Callable } =>
  isRecord(value) && isCallable(value['callApi']);

/** Takes the functions out of a config; what is left is data. */
export function nameFunctions(
  config: object,
  folder: string,
): { readonly data: JsonObject; readonly functions: InProcessFunctions } {
  const code = new Map<string, Callable>();
  const providers = new Map<string, Callable>();
  const provider = (call: Callable, said: unknown, label: unknown, rest: Record<string, unknown>): JsonObject => {
    const id = typeof said === 'string' && said !== '' ? said : `function:${providers.size}`;
    const free = providers.has(id) ? `${id}:${providers.size}` : id;
    providers.set(free, call);
    return { ...(visit(rest, '') as JsonObject), id: free, ...(typeof label === 'string' ? { label } : {}) };
  };
  const named = (call: Callable, key: string): Json => {
    if (providerKeys.has(key)) return provider(call, undefined, (call as { label?: unknown }).label, {});
    const path = join(folder, `in-process-${code.size}.mjs`);
    code.set(path, call);
    return key === 'prompts' ? { id: `file://${path}`, label: call.name || `prompt ${code.size}` } : `file://${path}`;
  };
  const visit = (value: unknown, key: string): unknown => {
    if (isCallable(value)) return named(value, key);
    if (hasCallApi(value)) {
      const { callApi, id, label, config: settings } = value;
      const said = isCallable(id) ? id.call(value) : id;
      const rest = settings === undefined ? {} : { config: settings };
      return provider((...args) => callApi.apply(value, args), said, label, rest);
    }
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (!isRecord(value) || value instanceof Date) return value;
    // An entry of a provider list with a function for its id.
    if (providerKeys.has(key) && isCallable(value['id'])) {
      const { id, label, ...rest } = value;
      return provider(id as Callable, undefined, label, rest);
    }
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, visit(item, name)]));
  };
  const data = JSON.parse(JSON.stringify(visit({ ...config }, ''))) as JsonObject;
  return { data, functions: { code, providers } };
}

/** Files with some that exist only here. */
export function withTexts(files: ConfigFiles, texts: ReadonlyMap<string, string>): ConfigFiles {
  return {
    ...files,
    read: async (path) => texts.get(path) ?? files.read(path),
    kind: async (path) => (texts.has(path) ? 'file' : files.kind(path)),
  };
}

const defaultTimeoutMs = 30_000;

/** Calls a function and waits for it as long as it may take; whatever happens is an outcome. */
function callHere(
  call: Callable,
  args: readonly unknown[],
  { clock, signal, timeoutMs }: { clock: Clock; signal: AbortSignal; timeoutMs: number },
): Promise<CodeOutcome> {
  const stopped: CodeOutcome = { kind: 'broke', cause: 'aborted', message: 'stopped' };
  if (signal.aborted) return Promise.resolve(stopped);
  return new Promise((resolve) => {
    const end = (outcome: CodeOutcome): void => {
      cancel();
      signal.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = (): void => end(stopped);
    const late = (): void => end({ kind: 'broke', cause: 'timeout', message: `it took longer than ${timeoutMs} ms` });
    const cancel = clock.at(clock.now() + timeoutMs, late);
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(() => call(...structuredClone(args)))
      .then(
        (value) => end({ kind: 'returned', value }),
        (cause: unknown) => end({ kind: 'threw', message: cause instanceof Error ? cause.message : String(cause) }),
      );
  });
}

/** A code runner that knows the program's own functions. */
export function withFunctions(
  other: ClosableCodeRunner,
  { code }: InProcessFunctions,
  clock: Clock,
): ClosableCodeRunner {
  return {
    run(call: CodeCall, { signal }) {
      const found = call.code.kind === 'file' ? code.get(call.code.path) : undefined;
      if (found === undefined) return other.run(call, { signal });
      return callHere(found, call.args, { clock, signal, timeoutMs: call.timeoutMs ?? defaultTimeoutMs });
    },
    close: () => other.close(),
  };
}

/** Most calls of one function at a time, unless its lane says otherwise. */
const functionCeiling = 16;

/** A provider that is a function of the program: `(prompt, context) => text or {output, error, tokenUsage, ...}`. */
export function functionProvider(options: ProviderOptions, call: Callable, clock: Clock): Provider {
  const made = createProgramProvider(options, {
    lane: options.id,
    model: options.id,
    async call(request: ModelRequest, signal) {
      const timeoutMs = timeoutOf(options.config);
      const outcome = await callHere(call, [promptOf(request), contextOf(request)], { clock, signal, timeoutMs });
      const said = outcome.kind === 'returned' && typeof outcome.value === 'string';
      const read = said ? { ...outcome, value: { output: outcome.value } } : outcome;
      return outcomeOf(options.id, read, wantedOf(request));
    },
  });
  return { ...made, ceiling: functionCeiling };
}
