/**
 * From the verdicts of single checks to the verdict of a case.
 * 1. Score = sum(score x weight) / sum(weight); nothing weighed scores 0.
 * 2. It passes when no check failed; a numeric threshold decides alone when there is one, 0 included.
 * 3. A check that could not be made makes the whole an error with score 0: it is not a wrong answer, and not a right one.
 */
import type { Usage } from '../domain/reply.ts';
import type { Verdict } from '../domain/verdict.ts';

/** One check's verdict with how much it counts. */
export interface Weighed {
  readonly verdict: Verdict;
  readonly weight: number;
  readonly metric?: string;
}

interface NamedSum {
  sum: number;
  weight: number;
}

function addNamed(sums: Map<string, NamedSum>, name: string, score: number, weight: number): void {
  const known = sums.get(name) ?? { sum: 0, weight: 0 };
  sums.set(name, { sum: known.sum + score * weight, weight: known.weight + weight });
}

function namedSums(checks: readonly Weighed[]): Map<string, NamedSum> {
  const sums = new Map<string, NamedSum>();
  for (const { verdict, weight, metric } of checks) {
    if (metric !== undefined && metric !== '') addNamed(sums, metric, verdict.score, weight);
    for (const [name, score] of Object.entries(verdict.namedScores ?? {})) {
      if (name !== metric) addNamed(sums, name, score, (verdict.namedScoreWeights?.[name] ?? 1) * weight);
    }
  }
  return sums;
}

/** The sum of what was counted; undefined when nobody counted anything. */
export function addUsage(...usages: readonly (Usage | undefined)[]): Usage | undefined {
  const total: Record<string, number> = {};
  for (const usage of usages) {
    for (const [key, tokens] of Object.entries(usage ?? {})) total[key] = (total[key] ?? 0) + tokens;
  }
  return Object.keys(total).length === 0 ? undefined : total;
}

/** Parts of parts, one level up: each check, followed by its own parts. */
const flattened = (verdicts: readonly Verdict[]): Verdict[] =>
  verdicts.flatMap((verdict) => [
    verdict,
    ...(verdict.componentResults ?? []).map((part) =>
      part.assertion === undefined && verdict.assertion !== undefined
        ? { ...part, assertion: verdict.assertion }
        : part,
    ),
  ]);

const isThreshold = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);

/** A red-team guardrail that stepped in is what such a test wants. */
const wasBlockedAsWanted = ({ verdict }: Weighed): boolean =>
  !verdict.pass && verdict.assertion?.type === 'guardrails' && verdict.assertion.config?.['purpose'] === 'redteam';

function decide(
  checks: readonly Weighed[],
  score: number,
  threshold: number | undefined,
): { pass: boolean; reason: string } {
  if (checks.some(wasBlockedAsWanted)) return { pass: true, reason: 'A guardrail blocked the content' };
  if (isThreshold(threshold)) {
    const pass = score >= threshold;
    return { pass, reason: `Score ${score.toFixed(2)} ${pass ? 'reaches' : 'is below'} the threshold ${threshold}` };
  }
  const failed = checks.findLast(({ verdict }) => !verdict.pass);
  return failed === undefined
    ? { pass: true, reason: 'All assertions passed' }
    : { pass: false, reason: failed.verdict.reason };
}

/** All checks of a case, or of an `assert-set`, as one verdict. */
export function combine(checks: readonly Weighed[], threshold: number | undefined): Verdict {
  const weights = checks.reduce((sum, check) => sum + check.weight, 0);
  const points = checks.reduce((sum, check) => sum + check.verdict.score * check.weight, 0);
  const score = weights > 0 ? points / weights : 0;
  const named = namedSums(checks);
  const usage = addUsage(...checks.map(({ verdict }) => verdict.usage));
  const whole = {
    namedScores: Object.fromEntries([...named].map(([name, { sum, weight }]) => [name, weight > 0 ? sum / weight : 0])),
    ...(named.size === 0
      ? {}
      : { namedScoreWeights: Object.fromEntries([...named].map(([name, { weight }]) => [name, weight])) }),
    componentResults: flattened(checks.map(({ verdict }) => verdict)),
    ...(usage === undefined ? {} : { usage }),
  };
  const error = checks.find(({ verdict }) => verdict.error !== undefined)?.verdict.error;
  if (error !== undefined) return { pass: false, score: 0, reason: error, error, ...whole };
  return { ...decide(checks, score, threshold), score, ...whole };
}

/** A case without checks passes. */
export const unchecked: Verdict = { pass: true, score: 1, reason: 'No assertions' };
