/**
 * Its job: from the checks of a case and what it came to, one verdict.
 * Not its job: comparing rows with each other (`compare-rows.ts`), or deciding what an error means for a run.
 * 1. Nothing is asked of a model when a type is unknown.
 * 2. All checks run at once; the order of verdicts is the order of the config.
 * 3. A check that cannot be made is `error`, on itself and on the whole; it never counts as a wrong answer.
 */
import type { Effects } from '../domain/effects.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { baseTypeOf } from './assertion-table.ts';
import { broken, type GradingPorts } from './check.ts';
import { unknownTypeError } from './check-assertions.ts';
import type { DefaultGraders } from './graders/grader-provider.ts';
import { runCheck } from './run-check.ts';
import { combine, unchecked, type Weighed } from './score.ts';
import { applyScoring } from './scoring-function.ts';
import type { Subject } from './subject.ts';

export interface GradeOptions {
  /** The case's threshold. */
  readonly threshold?: number;
  /** The config's folder: `file://` is resolved against it. */
  readonly baseDir: string;
  readonly ports: GradingPorts;
  /** From `options` of the test, with those of `defaultTest` beneath. */
  readonly grading?: { readonly provider?: Json; readonly rubricPrompt?: Json; readonly factuality?: JsonObject };
  readonly defaultGraders?: DefaultGraders;
  /** `assertScoringFunction`: `file://score.js[:name]` or `file://score.py[:name]`. */
  readonly scoringFunction?: string;
  readonly repeatIndex?: number;
  /** A failed check makes the row an error at once (`PROMPTFOO_SHORT_CIRCUIT_TEST_FAILURES`). */
  readonly shortCircuit?: boolean;
}

/** Types that look at all rows of a test and are left for later. */
export const looksAtRows = (type: string): boolean => type.startsWith('select-') || type === 'max-score';

interface Placed {
  readonly assertion: Assertion;
  readonly index: number;
}

/** The checks that run now with their position among all, sets laid flat: paths of grader calls are made from it. */
function layFlat(checks: readonly Assertion[]): { place(assertion: Assertion): Placed } {
  const positions = new Map<Assertion, number[]>();
  let next = 0;
  const visit = (assertion: Assertion): void => {
    if (assertion.type === 'assert-set') [assertion.assert ?? []].flat().forEach(visit);
    else {
      positions.set(assertion, [...(positions.get(assertion) ?? []), next]);
      next += 1;
    }
  };
  checks.forEach(visit);
  // The same object may stand in a list twice (a YAML alias); each place has its own number.
  return { place: (assertion) => ({ assertion, index: positions.get(assertion)?.shift() ?? 0 }) };
}

async function metricOf(
  { metric }: Assertion,
  { vars }: Subject,
  { ports }: GradeOptions,
): Promise<{ metric?: string }> {
  if (typeof metric !== 'string' || metric === '') return {};
  try {
    return { metric: await ports.render(metric, vars) };
  } catch {
    return { metric };
  }
}

const weightOf = (assertion: Assertion): number =>
  baseTypeOf(assertion.type) === 'human' ? 0 : (assertion.weight ?? 1);

/** Grades one answer or one conversation. */
export async function grade(
  assertions: readonly Assertion[],
  subject: Subject,
  effects: Effects,
  options: GradeOptions,
): Promise<Verdict> {
  if (assertions.length === 0) return unchecked;
  const unknown = unknownTypeError(assertions);
  if (unknown !== undefined) return { pass: false, score: 0, reason: unknown, error: unknown };
  const flat = layFlat(assertions);

  const single = async ({ assertion, index }: Placed): Promise<Weighed> => ({
    verdict: await runCheck({ assertion, index, subject, effects, options }),
    weight: weightOf(assertion),
    ...(await metricOf(assertion, subject, options)),
  });
  const list = (inner: readonly Assertion[]): Promise<Weighed[]> =>
    Promise.all(inner.filter(({ type }) => !looksAtRows(type)).map(one));
  const set = async (assertion: Assertion): Promise<Weighed> => ({
    verdict: Array.isArray(assertion.assert)
      ? { ...combine(await list(assertion.assert), assertion.threshold), metadata: setFacts(assertion) }
      : broken('"assert-set" needs a list "assert"'),
    weight: assertion.weight ?? 1,
    ...(await metricOf(assertion, subject, options)),
  });
  const one = (assertion: Assertion): Promise<Weighed> =>
    assertion.type === 'assert-set' ? set(assertion) : single(flat.place(assertion));

  const weighed = await list(assertions);
  const verdict = combine(weighed, options.threshold);
  const failed = options.shortCircuit ? weighed.find((check) => !check.verdict.pass)?.verdict.reason : undefined;
  if (failed !== undefined) return { ...verdict, pass: false, score: 0, reason: failed, error: failed };
  return options.scoringFunction === undefined ? verdict : applyScoring(verdict, effects, options);
}

/** What the set was, for whoever shows its verdict. */
function setFacts({ assert, metric, threshold, weight }: Assertion): JsonObject {
  const facts = { type: 'assert-set', assertionCount: assert?.length ?? 0, metric, threshold, weight };
  return { assertionSet: JSON.parse(JSON.stringify(facts)) as JsonObject };
}
