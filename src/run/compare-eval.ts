/**
 * Comparisons between the columns of a test (`select-best`, `max-score`), once all its rows are there and before they
 * are final. They turn at most a pass into a fail.
 */
import type { PromptCase } from '../domain/case.ts';
import type { Effects } from '../domain/effects.ts';
import { evalDetail } from '../domain/eval-case.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { type ComparedRow, maxScore, selectBest, withComparison } from '../grading/compare-rows.ts';
import { looksAtRows } from '../grading/grade.ts';
import type { CasedRow, CaseRunners } from './case-runner.ts';
import { type EvalRunnerParts, gradeOptions } from './eval-runner.ts';

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

/** Compares the rows of one test; their grader calls have paths of their own in the journal. */
export const rowComparer =
  (parts: EvalRunnerParts): NonNullable<CaseRunners['compare']> =>
  async (rows, effects) => {
    const apart: Effects = {
      ...effects,
      model: (path, call) => effects.model(`compare/${path}`, call),
      perform: (kind, path, request, effect) => effects.perform(kind, `compare/${path}`, request, effect),
    };
    return (await compareTest(rows, parts, apart)).map(({ row }) => row);
  };
