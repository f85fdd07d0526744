import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import { demand } from './check.ts';
import { matchesGlob } from './glob.ts';

/** How to compare a tool's arguments with the expected ones. */
export interface ArgumentRules {
  readonly expected: Json;
  readonly mode: 'partial' | 'exact';
  /** A call may leave these out or say them; both count as not said. */
  readonly defaults: JsonObject;
  /** Names or patterns of arguments that do not matter. */
  readonly ignore: readonly string[];
}

/** Rules from a config: `args` (or `arguments`), `mode`, `defaults`, `ignore`. */
export function argumentRules(type: string, value: JsonObject): ArgumentRules {
  const expected = Object.hasOwn(value, 'args') ? value['args'] : value['arguments'];
  demand(expected !== undefined, `"${type}" needs args`);
  const mode = value['mode'] ?? 'partial';
  demand(mode === 'partial' || mode === 'exact', `"${type}": mode is "partial" or "exact"`);
  const defaults = value['defaults'] ?? {};
  demand(isObject(defaults), `"${type}": defaults must map arguments to values`);
  const ignore = value['ignore'] === undefined ? [] : [value['ignore']].flat();
  demand(
    ignore.every((name) => typeof name === 'string' && name.trim() !== ''),
    `"${type}": ignore must be names`,
  );
  return { expected, mode, defaults, ignore: ignore.map(String) };
}

const isIgnored = (key: string, ignore: readonly string[]): boolean =>
  ignore.some((entry) => entry === key || (/[*?]/.test(entry) && matchesGlob(key, entry)));

function without(value: Json, drops: (key: string, item: Json) => boolean): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, item]) => !drops(key, item)));
}

/** Everything expected is there; more may be. Lists must agree item by item. */
export function includesPartly(actual: Json | undefined, expected: Json): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, at) => includesPartly(actual[at], item))
    );
  }
  if (isObject(expected)) {
    return (
      isObject(actual) &&
      Object.entries(expected).every(([key, item]) => Object.hasOwn(actual, key) && includesPartly(actual[key], item))
    );
  }
  return isDeepStrictEqual(actual, expected);
}

export function argumentsMatch(actual: Json, { expected, mode, defaults, ignore }: ArgumentRules): boolean {
  const said = without(
    actual,
    (key, item) => isIgnored(key, ignore) || (Object.hasOwn(defaults, key) && isDeepStrictEqual(item, defaults[key])),
  );
  const wanted = without(expected, (key) => isIgnored(key, ignore));
  return mode === 'exact' ? isDeepStrictEqual(said, wanted) : includesPartly(said, wanted);
}
