import type { Json, JsonObject } from '../domain/json.ts';

/** Longest argument text that is looked at. */
export const longestArguments = 1024 * 1024;
const deepest = 200;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

export type ParsedArguments = { readonly args: JsonObject } | { readonly fault: string };

/** Reads a model's argument text. Anything but one JSON object is a fault; nothing is ever guessed to be `{}`. */
export function parseArguments(text: string): ParsedArguments {
  if (text.length > longestArguments)
    return { fault: `the arguments are ${text.length} characters long, more than ${longestArguments}` };
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `the arguments are not valid JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: 'the arguments must be a JSON object' };
  const unsafe = unsafeIn(value, 0);
  return unsafe === undefined ? { args: value as JsonObject } : { fault: `the arguments ${unsafe}` };
}

/** Why data from outside should not be taken in: too deep to be written again, or keys that reach for prototypes. */
export function unsafeIn(value: Json, depth: number): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (depth >= deepest) return `are nested deeper than ${deepest} levels`;
  for (const [key, item] of Object.entries(value)) {
    if (forbidden.has(key)) return `hold the key "${key}", which is not allowed`;
    const found = unsafeIn(item, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
