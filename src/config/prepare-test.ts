/** What must happen to a test before it is expanded and needs files or code: `transformVars`, patterns in vars. */
import { relative } from 'node:path';
import type { CodeRunner, UserCode } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { SuiteTest } from '../domain/suite.ts';
import type { ConfigFiles } from './config-files.ts';
import { fileReference, isCode, referencedCode } from './file-reference.ts';

export interface PrepareOptions {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly defaultTransformVars?: string;
  readonly disableVarExpansion?: boolean;
}

/** Inline code is an expression, or a body when it has several lines. */
function inlineCode(text: string, parameters: readonly string[]): UserCode {
  const body = text.includes('\n') ? text : `return ${text}`;
  return { kind: 'inline', language: 'javascript', body, parameters };
}

async function transformed(vars: JsonObject, transform: string, options: PrepareOptions): Promise<JsonObject> {
  const file = transform.startsWith('file://') ? referencedCode(transform, options.folder, 'get_transform') : undefined;
  const code = file ?? inlineCode(transform, ['vars', 'context']);
  const outcome = await options.code.run({ code, args: [vars, { prompt: {} }] }, { signal: options.signal });
  if (outcome.kind === 'returned' && typeof outcome.value === 'object' && outcome.value !== null) {
    return { ...vars, ...(outcome.value as JsonObject) };
  }
  const why = outcome.kind === 'returned' ? 'it gave no map of vars' : outcome.message;
  throw new ParlaneError(
    'config/transform-vars',
    `transformVars failed: ${why}.`,
    'It gets the vars and returns those to add or change.',
    { transform },
  );
}

async function expanded(name: string, value: Json, options: PrepareOptions): Promise<Json> {
  if (typeof value !== 'string' || !value.startsWith('file://')) return value;
  const { path, functionName } = fileReference(value);
  const found = await options.files.glob(path, options.folder);
  if (found.length === 0) {
    throw new ParlaneError(
      'config/var-file',
      `The var "${name}" names ${path}, where there is no file.`,
      `Paths start at ${options.folder}.`,
      { name, path },
    );
  }
  const named = found.map((file) => {
    const short = path.startsWith('/') ? file : relative(options.folder, file).replaceAll('\\', '/');
    return `file://${short}${functionName === undefined || !isCode(path) ? '' : `:${functionName}`}`;
  });
  return named.length === 1 ? (named[0] ?? value) : named;
}

/** The test with its vars ready to be combined. Throws a `ParlaneError` when a file or a transform fails. */
export async function prepareTest(test: SuiteTest, options: PrepareOptions): Promise<SuiteTest> {
  const transform = test.options?.['transformVars'] ?? options.defaultTransformVars;
  let vars = test.vars ?? {};
  if (typeof transform === 'string' && transform !== '') vars = await transformed(vars, transform, options);
  if (options.disableVarExpansion === true || test.options?.['disableVarExpansion'] === true) return { ...test, vars };
  if (!Object.values(vars).some((value) => typeof value === 'string' && value.startsWith('file://')))
    return { ...test, vars };
  const parts: [string, Json][] = [];
  for (const [name, value] of Object.entries(vars)) parts.push([name, await expanded(name, value, options)]);
  return { ...test, vars: Object.fromEntries(parts) };
}
