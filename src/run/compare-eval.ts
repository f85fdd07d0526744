/**
 * Comparisons between the columns of a test (`select-best`, `max-score`), once all its rows are there. They change rows
 * only here, after the run, and turn at most a pass into a fail. Rows of one test stand together in the plan's order, so
 * no more than one test is held.
 */
import type { PromptCase } from '../domain/case.ts';
import type { Effects, ModelCall } from '../domain/effects.ts';
import { evalDetail } from '../domain/eval-case.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Provider } from '../domain/provider.ts';
import type { Row } from '../domain/row.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { type ComparedRow, maxScore, selectBest, withComparison } from '../grading/compare-rows.ts';
import { looksAtRows } from '../grading/grade.ts';
import type { Clock } from '../platform/clock.ts';
import { type EvalRunnerParts, gradeOptions } from './eval-runner.ts';
import type { ModelLanes } from './model-lanes.ts';

export interface CasedRow {
  readonly case: PromptCase;
  readonly row: Row;
}

/** Effects of grader calls that belong to no single case: through the lanes, not journaled. */
export function laneEffects(
  provider: (name: string) => Provider,
  lanes: ModelLanes,
  clock: Clock,
  index: Row['index'],
  signal: AbortSignal,
): Effects {
  const model = async (path: string, call: ModelCall) => {
    const asked = provider(call.provider);
    lanes.open(asked, []);
    const { outcome, times } = await lanes.submit({
      lane: asked.laneKey,
      index,
      path,
      estimate: { input: 1000, output: 100 },
      expectedCalls: 1,
      made: 0,
      perform: (stop, onHead) => asked.call(call.request, { signal: AbortSignal.any([stop, signal]), onHead }),
    });
    return { value: outcome, times, replayed: false };
  };
  return {
    signal,
    model,
    async perform(_kind, path, _request, effect) {
      const startedAt = clock.now();
      const value = await effect({ signal, idempotencyKey: path });
      const endedAt = clock.now();
      const times = { startedAt, endedAt, queueMs: 0, backoffMs: 0, latencyMs: endedAt - startedAt, attempts: 1 };
      return { value, times, replayed: false };
    },
    now: async () => clock.now(),
    uuid: async (path) => path,
  };
}

const unjudged: Verdict = { pass: false, score: 0, reason: 'No answer' };

async function compareTest(rows: readonly CasedRow[], parts: EvalRunnerParts, effects: Effects): Promise<CasedRow[]> {
  const [first] = rows;
  const checks = first?.case.checks.filter(({ type }) => looksAtRows(type)) ?? [];
  let verdicts = rows.map(({ row }) => row.verdict ?? unjudged);
  if (first === undefined || checks.length === 0) return [...rows];
  const vars = ((first.row.detail as JsonObject | undefined)?.['vars'] ?? first.case.vars) as JsonObject;
  for (const assertion of checks) {
    const compared: ComparedRow[] = rows.map(({ row }, at) => ({
      output: row.output,
      verdict: verdicts[at] ?? unjudged,
    }));
    const found = await verdictsOf(assertion, compared, vars, first.case, parts, effects);
    verdicts = verdicts.map((verdict, at) => {
      const comparison = found[at];
      return comparison === undefined ? verdict : withComparison(verdict, comparison);
    });
  }
  return rows.map((one, at) => ({ ...one, row: rejudged(one.row, verdicts[at] ?? unjudged) }));
}

function verdictsOf(
  assertion: Assertion,
  rows: readonly ComparedRow[],
  vars: JsonObject,
  planned: PromptCase,
  parts: EvalRunnerParts,
  effects: Effects,
): Promise<Verdict[]> | Verdict[] {
  if (assertion.type === 'max-score') return maxScore(assertion, rows);
  const options = gradeOptions(evalDetail(planned), parts);
  return selectBest(assertion, rows, vars, planned.checks.indexOf(assertion), effects, options);
}

function rejudged(row: Row, verdict: Verdict): Row {
  if (row.status === 'error' || row.status === 'aborted' || row.status === 'skipped') return row;
  if (verdict.error !== undefined) {
    return { ...row, status: 'error', score: null, verdict, error: { code: 'grading', message: verdict.error } };
  }
  return { ...row, status: verdict.pass ? 'passed' : 'failed', score: verdict.score, verdict };
}

/** The rows with their comparisons made, in the plan's order. */
export async function* compareRows(
  rows: AsyncIterable<CasedRow>,
  parts: EvalRunnerParts,
  effectsFor: (index: Row['index']) => Effects,
): AsyncGenerator<CasedRow> {
  let group: CasedRow[] = [];
  const close = async (): Promise<CasedRow[]> => {
    const [first] = group;
    return first === undefined ? [] : compareTest(group, parts, effectsFor(first.row.index));
  };
  for await (const one of rows) {
    const same = group[0] !== undefined && evalDetail(group[0].case).testIdx === evalDetail(one.case).testIdx;
    if (!same) {
      yield* await close();
      group = [];
    }
    group.push(one);
  }
  yield* await close();
}

/** What of a row a comparison may change; for storing beside it. */
export const comparedJson = (row: Row): Json => ({
  index: row.index,
  status: row.status,
  score: row.score,
  verdict: (row.verdict ?? null) as unknown as Json,
});
