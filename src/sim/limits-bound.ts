/**
 * The lower bound of a run that really happened: from its calls as they were answered, and from the limits as far as they
 * are known. Where no rate is known, only the longest case and the calls that may be in flight at once count.
 */
import { assertNever } from '../domain/errors.ts';
import type { LaneKey, Millis } from '../domain/ids.ts';
import type { Resource } from '../domain/reply.ts';
import type { BindingTerm } from '../domain/run-efficiency.ts';
import type { KnownLimit, KnownRate } from '../lanes/known-limits.ts';
import { type Admission, PlacedCalls, type Weigh } from './head-tail.ts';

export interface RunBound {
  readonly ms: Millis;
  readonly term: BindingTerm;
  /** The limit that binds, where one does. */
  readonly limit?: KnownLimit;
}

export interface RunWork {
  /** The calls of each lane, placed in their cases. */
  readonly calls: ReadonlyMap<LaneKey, PlacedCalls>;
  readonly longestCaseMs: Millis;
  /** All cases that had to run one by one, together. */
  readonly oneByOneMs: Millis;
}

function weighing(resource: Resource): Weigh {
  switch (resource) {
    case 'requests':
      return (count) => count;
    case 'tokens':
      return (_, input, output) => input + output;
    case 'inputTokens':
      return (_, input) => input;
    case 'outputTokens':
      return (_, __, output) => output;
    default:
      return assertNever(resource);
  }
}

/** With strict spacing the last call starts when all others are paid for, and the last may be the heaviest. */
const admissionOf =
  ({ resource, perMs, credit }: KnownRate): Admission =>
  (units, head, heaviest) =>
    head + Math.max(0, units - Math.max(credit, resource === 'requests' ? 1 : heaviest)) / perMs;

function* boundsOf(limit: KnownLimit, { calls }: RunWork): Generator<RunBound> {
  const all = PlacedCalls.joined(limit.lanes.flatMap((lane) => calls.get(lane) ?? []));
  for (const rate of limit.rates)
    yield { ms: all.bound(weighing(rate.resource), admissionOf(rate)), term: rate.resource, limit };
  if (limit.maxConcurrent > 0 && Number.isFinite(limit.maxConcurrent))
    yield { ms: all.latencyMs / limit.maxConcurrent, term: 'concurrency', limit };
}

export function limitsBound(work: RunWork, limits: readonly KnownLimit[]): RunBound {
  let best: RunBound = { ms: work.longestCaseMs, term: 'longest-case' };
  if (work.oneByOneMs > best.ms) best = { ms: work.oneByOneMs, term: 'one-by-one' };
  for (const limit of limits) for (const bound of boundsOf(limit, work)) if (bound.ms > best.ms) best = bound;
  return best;
}
