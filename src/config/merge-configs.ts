/** Several configs as one: lists joined, maps laid over each other, later files win. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts';

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Joins lists; what is equal stands once. */
export function withoutDoubles<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export function mergedMap(configs: readonly JsonObject[], key: string): JsonObject {
  return Object.assign({}, ...configs.map((config) => (isObject(config[key]) ? config[key] : {}))) as JsonObject;
}

export const joinedList = (configs: readonly JsonObject[], key: string): Json[] =>
  configs.flatMap((config) => listOf(config[key]));

/** The last one that says anything. */
export const lastOf = (configs: readonly JsonObject[], key: string): Json | undefined =>
  configs.map((config) => config[key]).findLast((value) => value !== undefined);

/** Vars, options and metadata laid over each other, assertions joined; a file reference replaces everything before it. */
export function mergeDefaultTests(tests: readonly (JsonObject | string)[]): JsonObject | string | undefined {
  const reference = tests.findLast((test) => typeof test === 'string');
  if (reference !== undefined) return reference;
  const maps = tests.filter(isObject);
  if (maps.length < 2) return maps[0];
  const spread = (key: string): JsonObject => mergedMap(maps, key);
  return {
    ...Object.assign({}, ...maps),
    vars: spread('vars'),
    assert: joinedList(maps, 'assert'),
    options: spread('options'),
    metadata: spread('metadata'),
  } as JsonObject;
}
