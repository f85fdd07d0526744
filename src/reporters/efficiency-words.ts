/** How close a run came to the least possible time, what binds, and where the time went, in one sentence. */
import { assertNever } from '../domain/errors.ts';
import { duration, percent } from '../domain/measures.ts';
import type { BindingTerm, RunEfficiency, TimeSpent } from '../domain/run-efficiency.ts';
import { laneLabel } from './lane-label.ts';

const partWords: readonly (readonly [keyof TimeSpent, string])[] = [
  ['atPace', 'at pace'],
  ['ramp', 'ramp'],
  ['rejected', 'rejected'],
  ['userCap', 'at the cap'],
  ['idle', 'idle'],
  ['drain', 'tail'],
];

function binding(term: BindingTerm, owner: string): string {
  switch (term) {
    case 'longest-case':
      return 'the longest case binds';
    case 'one-by-one':
      return 'cases that run one by one bind';
    case 'concurrency':
      return `${owner} calls in flight bind`;
    case 'requests':
    case 'tokens':
      return `${owner} ${term} bind`;
    case 'inputTokens':
      return `${owner} input tokens bind`;
    case 'outputTokens':
      return `${owner} output tokens bind`;
    default:
      return assertNever(term);
  }
}

/** Whole percents, and never 100 where something was lost. */
const share = (efficiency: number): string => percent(Math.floor(efficiency * 100 + 1e-9) / 100);

export function efficiencyWords(told: RunEfficiency, labels: Readonly<Record<string, string>> = {}): string {
  const deciding = laneLabel(told.decidingLane, labels);
  const limit = told.bindingLimit;
  const owner =
    limit === undefined || limit === told.decidingLane
      ? `${deciding}'s`
      : limit === 'global'
        ? 'all'
        : `${limit.replace(/^group:/, 'group ')}'s`;
  const { timeMs } = told.lanes.find(({ lane }) => lane === told.decidingLane) ?? {};
  const parts = partWords.flatMap(([part, words]) => {
    const ms = timeMs?.[part] ?? 0;
    return ms < told.makespanMs / 100 ? [] : [`${duration(ms)} ${words}`];
  });
  const unknown = told.lanes.filter(({ limitUnknown }) => limitUnknown === true);
  return [
    `${share(told.efficiency)} of what the limits allow (${duration(told.boundMs)} at best)`,
    binding(told.bindingTerm, owner),
    ...(parts.length === 0
      ? []
      : [`${limit === told.decidingLane ? 'its' : `${deciding}'s`} time: ${parts.join(', ')}`]),
    ...unknown.map(({ lane }) => `${laneLabel(lane, labels)} never told its limit, which is not counted`),
    ...(told.simplified === true ? ['the order within cases is not counted'] : []),
  ].join('; ');
}
