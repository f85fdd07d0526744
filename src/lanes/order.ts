import type { QueuedCall } from './queued-call.ts';

/**
 * Who goes first within a lane: overdue cases, then cases already started, then the case with the longest expected
 * remainder; equal ones in plan order. Started first keeps few cases open and the provider's caches warm; longest first
 * keeps the tail of a run short; an overdue case (it made more calls than expected) is likely to be a long one.
 */
export function rank(made: number, expected: number): number {
  if (made === 0) return 0;
  return made >= expected ? 2 : 1;
}

/**
 * Calls that a case may well still make: as many as forecast, or as many as it has made if those are more. Pessimistic on
 * purpose. Forecasts are off by a factor, so that a case near its forecast end is not near its end for certain, and the
 * longer a case has lasted, the longer it is likely to last; the one that turns out long decides when a run ends.
 */
export function likelyRemainder(made: number, expected: number): number {
  return Math.max(1, made, expected);
}

export function goesFirst(a: QueuedCall, b: QueuedCall): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  if (a.remainder !== b.remainder) return a.remainder > b.remainder;
  if (a.index !== b.index) return a.index < b.index;
  return a.id < b.id;
}
