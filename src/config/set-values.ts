/** `--set providers[0].config.temperature=0`: another value for a place of the config, for one command. */
import { parse } from 'yaml';
import type { Json, JsonObject } from '../domain/json.ts';
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

/** The config with every value set; what cannot be set is reported. */
export function setValues(config: JsonObject, sets: readonly string[], loading: Loading): JsonObject {
  let current = config;
  for (const text of sets) {
    const report = (message: string): void =>
      loading.report({ file: `--set ${text}`, line: 1, column: 1, message, hint: 'write it like providers[0]=echo' });
    const at = text.indexOf('=');
    const keys = at < 1 ? undefined : keysOf(text.slice(0, at).trim());
    if (keys === undefined) {
      report('is not path=value');
      continue;
    }
    try {
      current = placed(current, keys, parse(text.slice(at + 1)) as Json) as JsonObject;
    } catch (error) {
      report(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
  }
  return current;
}
