/** One config file: parsed, references followed, environment put in, checked. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import { renderEnvironment } from '../prompts/env-template.ts';
import { parseSource, type SourceDocument } from '../prompts/source-document.ts';
import { checkConfig, withoutNulls } from './check-config.ts';
import { dereference } from './dereference.ts';
import { isJavascript } from './file-reference.ts';
import { type Loading, readSource, runCode } from './loading.ts';

export interface ReadConfig {
  readonly path: string;
  readonly document: SourceDocument;
  readonly config: JsonObject;
}

export const isOn = (value: string | undefined): boolean => /^(?:1|true|yes|yup|yeppers)$/i.test(value ?? '');

/** A config written in code has no places of its own: they are those of the data it gives, in the file's first line. */
async function codeConfig(path: string, loading: Loading): Promise<SourceDocument | undefined> {
  const place = { file: loading.shown(path), line: 1, column: 1 };
  const code = { kind: 'file', language: 'javascript', path } as const;
  const outcome = await runCode(loading, { code, args: [], mode: 'read', timeoutMs: 60_000 });
  if ('fault' in outcome) {
    loading.report({ ...place, message: `the config could not be run: ${outcome.fault}` });
    return undefined;
  }
  const at = (keys: readonly PropertyKey[], message: string, hint?: string) => ({
    ...place,
    message: keys.length === 0 ? message : `${keys.map(String).join('.')}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  });
  return { file: place.file, value: outcome.value, problems: [], at, atKey: at };
}

/** The environment a config sees: the process's, with the config's own `env` over it. */
export function configEnvironment(config: JsonObject, env: Loading['env']): Record<string, string | undefined> {
  const given = isObject(config['env']) ? renderEnvironment(config['env'], env) : {};
  const texts = Object.entries(given).map(([key, value]) => [key, String(value)] as const);
  return { ...env, ...Object.fromEntries(texts) };
}

/** Top keys that references of the same file point into. */
function referencedKeys(value: Json | undefined): Set<string> {
  const found = JSON.stringify(value ?? null).matchAll(/"\$ref":"#\/([^/"]+)/g);
  return new Set([...found].map((match) => match[1] ?? ''));
}

export async function readConfig(path: string, loading: Loading): Promise<ReadConfig | undefined> {
  const known = isJavascript(path) || /\.(?:ya?ml|json)$/.test(path);
  if (!known) {
    loading.report({ ...parseSource(loading.shown(path), '').at([], 'a config is .yaml, .json, .js or .ts') });
    return undefined;
  }
  const document = isJavascript(path) ? await codeConfig(path, loading) : await readSource(path, loading);
  // Text that is wrong but can be read does not hide what else is wrong.
  if (document === undefined || (document.problems.length > 0 && document.value === undefined)) return undefined;
  const off = isOn(loading.env['PROMPTFOO_DISABLE_REF_PARSER']) || isJavascript(path);
  const fault = (keys: readonly string[], message: string): void => loading.report(document.at(keys, message));
  const whole: Json = off ? (document.value ?? null) : await dereference(document.value ?? null, path, loading, fault);
  const placed = { ...document, value: document.value === undefined ? undefined : whole };
  const told = new Set(document.problems.map(({ line }) => line));
  const problems = checkConfig(placed, referencedKeys(document.value), loading.note);
  for (const problem of problems) if (!told.has(problem.line)) loading.report(problem);
  if (!isObject(whole)) return undefined;
  const { targets, ...rest } = withoutNulls(renderEnvironment(whole, configEnvironment(whole, loading.env)));
  const config = targets === undefined ? rest : { ...rest, providers: targets };
  return { path, document, config };
}
