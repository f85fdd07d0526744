import type { LaneKey } from '../domain/ids.ts';
import { amount } from '../domain/measures.ts';
import type { PlannedLane } from './planned-work.ts';
import type { WorldLane } from './play-world.ts';

interface Term {
  readonly ms: number;
  readonly words: string;
}

function rateTerm(units: number, perMinute: number | undefined, capacity: number, unit: string): Term[] {
  if (perMinute === undefined || perMinute <= 0) return [];
  return [{ ms: (Math.max(0, units - capacity) / perMinute) * 60_000, words: `${amount(perMinute)} ${unit}/min` }];
}

/** Everything that a lane cannot be quicker than, in the words of its limits. */
function termsOf({ spec }: PlannedLane, lane: WorldLane): Term[] {
  const { limits, learned } = spec;
  const found = (resource: string) => learned?.find((each) => each.resource === resource);
  const told = (resource: string) => found(resource)?.mostPerMinute ?? found(resource)?.ratePerMinute;
  const places = limits?.maxConcurrent ?? spec.ceiling ?? 512;
  const gap = limits?.minGapMs ?? 0;
  return [
    ...rateTerm(lane.calls, limits?.rpm ?? told('requests'), found('requests')?.capacity ?? 0, 'requests'),
    ...rateTerm(lane.tokens, limits?.tpm ?? told('tokens'), found('tokens')?.capacity ?? 0, 'tokens'),
    { ms: lane.latencyMs / places, words: `${places} at a time` },
    ...(gap > 0 ? [{ ms: gap * lane.calls, words: `${gap} ms between calls` }] : []),
    lane.mostCallsOfCase > 2
      ? { ms: lane.longestCaseMs, words: 'conversation turns' }
      : { ms: lane.longestCaseMs, words: 'answer time' },
  ];
}

/** What decides how long a lane takes, for a person. */
export function boundWords(lane: PlannedLane, result: WorldLane, follows: LaneKey | undefined): string {
  const terms = termsOf(lane, result);
  const most = terms.reduce((best, term) => (term.ms > best.ms ? term : best), { ms: -1, words: 'nothing' });
  // A lane that serves another one and is not held by a limit of its own goes at the other's pace.
  if (follows !== undefined && most.ms < result.endsAtMs * 0.8)
    return `follows ${follows.replace(/:[0-9a-f]{6,64}$/, '')}`;
  return most.words;
}
