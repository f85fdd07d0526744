/** `--set providers[0].config.temperature=0`: another value for a place of the config, for one command. */
import { parse } from 'yaml';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import type { SourceDocument } from '../prompts/source-document.ts';
import { checkConfig } from './check-config.ts';
import type { Loading } from './loading.ts';

type Key = string | number;

/** `a.b[0].c` -> its keys; undefined when it is no path. */
function keysOf(path: string): Key[] | undefined {
  if (!/^[\w$-]+(?:\.[\w$:/-]+|\[\d+\])*$/.test(path)) return undefined;
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([text, index]) => (index === undefined ? text : Number(index)));
}

function placed(value: Json | undefined, [key, ...rest]: readonly Key[], to: Json): Json {
  if (key === undefined) return to;
  if (typeof key === 'number') {
    const list = Array.isArray(value) ? value : value === undefined ? [] : undefined;
    if (list === undefined || key > list.length) throw new RangeError(`there is no [${key}]`);
    return list.toSpliced(key, 1, placed(list[key], rest, to));
  }
  if (Array.isArray(value)) throw new RangeError(`"${key}" is inside a list: name its place like [0]`);
  if (value !== undefined && (typeof value !== 'object' || value === null))
    throw new RangeError(`there is nothing inside ${JSON.stringify(value)}`);
  const map = (value ?? {}) as JsonObject;
  return { ...map, [key]: placed(map[key], rest, to) };
}

/** A config that stands in no file: a problem's place is its path. */
function placeless(value: JsonObject): SourceDocument {
  const at = (keys: readonly PropertyKey[], message: string, hint?: string): Problem => ({
    file: keys.map(String).join('.'),
    line: 1,
    column: 1,
    message,
    ...(hint === undefined ? {} : { hint }),
  });
  return { file: '', value, problems: [], at, atKey: at };
}

/** What became wrong by a value. A key that nobody knows is an error here: whoever types it means to change something. */
function madeWrong(option: string, before: JsonObject, after: JsonObject): Problem[] {
  const known = new Set(checkConfig(placeless(before)).map((problem) => JSON.stringify(problem)));
  return checkConfig(placeless(after))
    .filter((problem) => !known.has(JSON.stringify(problem)))
    .map((problem) => ({ ...problem, file: option, severity: 'error' }));
}

/** The config with every value set; what cannot be set, and what nobody would read, is reported. */
export function setValues(config: JsonObject, sets: readonly string[], loading: Loading): JsonObject {
  let current = config;
  for (const text of sets) {
    const file = `--set ${text}`;
    const report = (message: string): void =>
      loading.report({ file, line: 1, column: 1, message, hint: 'write it like providers[0]=echo' });
    const at = text.indexOf('=');
    const keys = at < 1 ? undefined : keysOf(text.slice(0, at).trim());
    if (keys === undefined) {
      report('is not path=value');
      continue;
    }
    // Both names mean one list, which was read under the first.
    const [top, ...rest] = keys;
    const path = top === 'targets' ? ['providers', ...rest] : keys;
    try {
      const next = placed(current, path, parse(text.slice(at + 1)) as Json) as JsonObject;
      for (const problem of madeWrong(file, current, next)) loading.report(problem);
      current = next;
    } catch (error) {
      report(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
  }
  return current;
}
