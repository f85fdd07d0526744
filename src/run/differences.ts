/** Where two pieces of plain data differ, place by place, for people. */
import type { Json } from '../domain/json.ts';

export interface Difference {
  /** `request.messages.3.content`; empty for the whole. */
  readonly at: string;
  readonly recorded: Json | undefined;
  readonly actual: Json | undefined;
}

type Branch = { readonly [key: string]: Json | undefined };

const isBranch = (value: Json | undefined): value is Json & Branch => typeof value === 'object' && value !== null;

/** At most `limit` differences, in document order. */
export function differences(recorded: Json | undefined, actual: Json | undefined, limit = 20, at = ''): Difference[] {
  if (recorded === actual) return [];
  if (!isBranch(recorded) || !isBranch(actual) || Array.isArray(recorded) !== Array.isArray(actual)) {
    return [{ at, recorded, actual }];
  }
  const found: Difference[] = [];
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
    if (found.length >= limit) break;
    const below = at === '' ? key : `${at}.${key}`;
    found.push(...differences((recorded as Branch)[key], (actual as Branch)[key], limit - found.length, below));
  }
  return found;
}
