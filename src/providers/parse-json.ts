import type { Json } from '../domain/json.ts';

/** Deeper than this, `JSON.stringify` and `structuredClone` may overflow the stack although `JSON.parse` did not. */
const deepest = 200;

export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: 'syntax' | 'depth' | 'prototype' };

/** Parses text from outside: at most 200 levels deep, and no key that could reach an object's prototype. */
export function parseJson(text: string): ParsedJson {
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return { ok: false, reason: 'syntax' };
  }
  const problem = problemIn(value, 0);
  return problem === undefined ? { ok: true, value: value as Json } : { ok: false, reason: problem };
}

function problemIn(value: unknown, depth: number): 'depth' | 'prototype' | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= deepest) return 'depth';
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== 'object') continue;
      const problem = problemIn(item, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (reachesPrototype(value, key, item)) return 'prototype';
    if (typeof item !== 'object') continue;
    const problem = problemIn(item, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `constructor` alone is an honest name (schemas have such properties); with `prototype` inside it is an attack. */
const reachesPrototype = (owner: object, key: string, item: unknown): boolean =>
  (key === '__proto__' && Object.hasOwn(owner, key)) ||
  (key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype'));
