/** Reading answers of unknown shape: every step may be missing, and nothing throws. */
import type { Json, JsonObject } from '../domain/json.ts';

export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The value at a path of keys and positions. */
export function at(value: unknown, ...path: readonly (string | number)[]): Json | undefined {
  let current: unknown = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current as Json | undefined;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A count as vendors report them; negative and fractional ones were not meant. */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export const objectAt = (value: unknown, ...path: readonly (string | number)[]): JsonObject | undefined =>
  asObject(at(value, ...path));
