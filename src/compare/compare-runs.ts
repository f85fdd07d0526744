import type { CaseIndex } from '../domain/ids.ts';
import { type Stratum, stratifiedExact, swapTest } from './exact-tests.ts';
import { type Interval, meanInterval, pairedInterval } from './interval.ts';
import { type RepeatAdvice, repeatsToSettle } from './repeats.ts';
import type { CaseGroup, RunSide } from './run-side.ts';

/** What became of one case. `unscored`: an error or a skip in either run, which says nothing about the answers. */
export type Change = 'better' | 'worse' | 'same' | 'unscored';

export interface CaseSide {
  readonly index: CaseIndex;
  readonly tries: number;
  readonly passed: number;
  readonly score: number | null;
  readonly excerpt: string;
  readonly reason: string;
}

export interface CaseChange {
  readonly name: string;
  readonly change: Change;
  readonly newText: boolean;
  readonly before: CaseSide;
  readonly after: CaseSide;
}

export interface OnlyCase {
  readonly name: string;
  readonly index: CaseIndex;
}

/** Two runs over the same cases, told apart. Plain data: it is also the JSON form. */
export interface Comparison {
  readonly before: string;
  readonly after: string;
  readonly inBoth: number;
  readonly better: readonly CaseChange[];
  readonly worse: readonly CaseChange[];
  readonly same: number;
  readonly sameVerdictNewText: number;
  readonly unscored: readonly CaseChange[];
  readonly onlyBefore: readonly OnlyCase[];
  readonly onlyAfter: readonly OnlyCase[];
  /** Over the cases scored in both; null when there are none. */
  readonly passRate: { readonly before: number; readonly after: number; readonly interval: Interval } | null;
  readonly p: number;
  /** Mean scores, when there is more to them than pass and fail. */
  readonly score: { readonly before: number; readonly after: number; readonly p: number } | null;
  readonly verdict: 'better' | 'worse' | 'may-be-chance' | 'same' | 'nothing-to-compare';
  readonly settle: RepeatAdvice | null;
  readonly cost: { readonly before: number | null; readonly after: number | null };
  readonly durationMs: { readonly before: number | null; readonly after: number | null };
}

/** Below this a difference is called real. */
const chanceLevel = 0.05;

interface Pair {
  readonly before: CaseGroup;
  readonly after: CaseGroup;
}

/** The same case in both runs: by content key where one matches, else by name, column and order (an edited prompt changes the key). */
function pairUp(before: RunSide, after: RunSide): { pairs: Pair[]; onlyBefore: OnlyCase[]; onlyAfter: OnlyCase[] } {
  const byKey = new Map<string, CaseGroup>();
  for (const group of before.groups.values()) for (const key of group.keys) byKey.set(key, group);
  const partners = new Map<CaseGroup, CaseGroup>();
  const taken = new Set<CaseGroup>();
  const join = (group: CaseGroup, partner: CaseGroup | undefined): void => {
    if (partner === undefined || taken.has(partner)) return;
    partners.set(group, partner);
    taken.add(partner);
  };
  for (const group of after.groups.values()) {
    for (const key of group.keys) if (!partners.has(group)) join(group, byKey.get(key));
  }
  for (const group of after.groups.values()) if (!partners.has(group)) join(group, before.groups.get(group.label));
  const pairs: Pair[] = [];
  const onlyAfter: OnlyCase[] = [];
  for (const group of after.groups.values()) {
    const partner = partners.get(group);
    if (partner === undefined) onlyAfter.push({ name: group.name, index: group.index });
    else pairs.push({ before: partner, after: group });
  }
  const onlyBefore = [...before.groups.values()].filter((group) => !taken.has(group));
  return { pairs, onlyBefore: onlyBefore.map(({ name, index }) => ({ name, index })), onlyAfter };
}

const rateOf = (group: CaseGroup): number => group.passed / group.tries;
const scoreOf = (group: CaseGroup): number | null => (group.scores === 0 ? null : group.scoreSum / group.scores);

function changeOf({ before, after }: Pair): Change {
  if (before.tries === 0 || after.tries === 0) return 'unscored';
  const difference = rateOf(after) - rateOf(before);
  if (difference === 0) return 'same';
  return difference > 0 ? 'better' : 'worse';
}

const sideOf = (group: CaseGroup): CaseSide => ({
  index: group.index,
  tries: group.tries,
  passed: group.passed,
  score: scoreOf(group),
  excerpt: group.excerpt,
  reason: group.reason,
});

const strata = (pairs: readonly Pair[]): Stratum[] =>
  pairs.map(({ before, after }) => ({
    passedBefore: before.passed,
    triesBefore: before.tries,
    passedAfter: after.passed,
    triesAfter: after.tries,
  }));

function rates(pairs: readonly Pair[]): Comparison['passRate'] {
  if (pairs.length === 0) return null;
  const mean = (pick: (pair: Pair) => CaseGroup): number =>
    pairs.reduce((sum, pair) => sum + rateOf(pick(pair)), 0) / pairs.length;
  const single = pairs.every(({ before, after }) => before.tries === 1 && after.tries === 1);
  const interval = single
    ? pairedInterval(tableOf(pairs))
    : meanInterval(pairs.map((pair) => rateOf(pair.after) - rateOf(pair.before)));
  return { before: mean((pair) => pair.before), after: mean((pair) => pair.after), interval };
}

function tableOf(pairs: readonly Pair[]): { both: number; better: number; worse: number; neither: number } {
  const table = { both: 0, better: 0, worse: 0, neither: 0 };
  for (const { before, after } of pairs) {
    if (before.passed === after.passed) table[before.passed === 1 ? 'both' : 'neither']++;
    else table[after.passed > before.passed ? 'better' : 'worse']++;
  }
  return table;
}

function scores(pairs: readonly Pair[]): Comparison['score'] {
  const scored: [number, number][] = [];
  for (const { before, after } of pairs) {
    const [left, right] = [scoreOf(before), scoreOf(after)];
    if (left !== null && right !== null) scored.push([left, right]);
  }
  const plain = pairs.every(
    ({ before, after }) => before.scoreSum === before.passed && after.scoreSum === after.passed,
  );
  if (scored.length === 0 || plain) return null;
  const mean = (at: 0 | 1): number => scored.reduce((sum, pair) => sum + pair[at], 0) / scored.length;
  return { before: mean(0), after: mean(1), p: swapTest(scored.map(([left, right]) => right - left)) };
}

function verdictOf(p: number, better: number, worse: number, passRate: Comparison['passRate']): Comparison['verdict'] {
  if (passRate === null) return 'nothing-to-compare';
  if (better === 0 && worse === 0) return 'same';
  if (p >= chanceLevel) return 'may-be-chance';
  return passRate.after > passRate.before ? 'better' : 'worse';
}

function adviceFor(pairs: readonly Pair[], better: number, worse: number, after: RunSide): RepeatAdvice | null {
  const triesPerCase = pairs.reduce((sum, pair) => sum + pair.after.tries, 0) / Math.max(1, pairs.length);
  const repeat = repeatsToSettle(better, worse, triesPerCase);
  if (repeat === undefined) return null;
  const times = repeat / triesPerCase;
  return {
    repeat,
    costUsdMicros: after.costUsdMicros === null ? null : Math.round(after.costUsdMicros * times),
    durationMs: after.durationMs === undefined ? undefined : Math.round(after.durationMs * times),
  };
}

/** Compares two runs case by case. */
export function compareRuns(before: RunSide, after: RunSide): Comparison {
  const { pairs, onlyBefore, onlyAfter } = pairUp(before, after);
  const lists: Record<Change, CaseChange[]> = { better: [], worse: [], same: [], unscored: [] };
  const scored: Pair[] = [];
  let same = 0;
  let newTexts = 0;
  for (const pair of pairs) {
    const change = changeOf(pair);
    const newText = pair.before.outputHash !== pair.after.outputHash;
    if (change !== 'unscored') scored.push(pair);
    if (change === 'same') {
      same++;
      if (newText) newTexts++;
      continue;
    }
    const { name } = pair.after;
    lists[change].push({ name, change, newText, before: sideOf(pair.before), after: sideOf(pair.after) });
  }
  const passRate = rates(scored);
  const p = stratifiedExact(strata(scored));
  const verdict = verdictOf(p, lists.better.length, lists.worse.length, passRate);
  return {
    before: before.name,
    after: after.name,
    inBoth: pairs.length,
    better: lists.better,
    worse: lists.worse,
    same,
    sameVerdictNewText: newTexts,
    unscored: lists.unscored,
    onlyBefore,
    onlyAfter,
    passRate,
    p,
    score: scores(scored),
    verdict,
    settle: verdict === 'may-be-chance' ? adviceFor(scored, lists.better.length, lists.worse.length, after) : null,
    cost: { before: before.costUsdMicros, after: after.costUsdMicros },
    durationMs: { before: before.durationMs ?? null, after: after.durationMs ?? null },
  };
}
