/** What an eval came to, in the shapes that hooks and programs around promptfoo know. */
import type { CodeRunner } from '../domain/code-runner.ts';
import type { Millis } from '../domain/ids.ts';
import { isObject, type JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Suite } from '../domain/suite.ts';
import { type DerivedMetric, deriveMetrics } from '../grading/derived-metrics.ts';
import type { EvalColumn } from '../plan/columns.ts';
import { type ColumnFacts, type Derive, evalSummary } from '../reporters/promptfoo/column-metrics.ts';
import { evaluateResult } from '../reporters/promptfoo/evaluate-result.ts';
import type { RunStore } from '../store/store.ts';
import type { CasedRow } from './case-runner.ts';
import type { EvalHooks } from './eval-hooks.ts';
import { casedRows } from './read-run.ts';
import { suiteJson } from './suite-snapshot.ts';

/** A step of an eval as progress tells it. */
export interface EvalStep {
  readonly testIdx: number;
  readonly promptIdx: number;
  readonly repeatIndex: number;
  readonly description: string;
  readonly vars: JsonObject;
  readonly prompt: { readonly raw: string; readonly label: string };
  readonly provider: { readonly id: string; readonly label?: string };
  readonly row: Row;
}

export const columnFacts = (columns: readonly EvalColumn[]): ColumnFacts[] =>
  columns.map(({ column, promptId, prompt, provider }) => ({
    column,
    promptId,
    raw: prompt.raw,
    label: prompt.label,
    provider: provider.label ?? provider.id,
  }));

/** The step a row is of. */
export function stepOf(row: Row, columns: readonly EvalColumn[]): EvalStep {
  const facts = isObject(row.detail) ? row.detail : {};
  const { testIdx = 0, promptIdx = row.column, prompt, vars } = facts;
  const column = columns.find((one) => one.column.position === row.column);
  const { id = '', label } = column?.provider ?? {};
  return {
    testIdx: Number(testIdx),
    promptIdx: Number(promptIdx),
    repeatIndex: row.repeat,
    description: row.name,
    vars: isObject(vars) ? vars : {},
    prompt: {
      raw: typeof prompt === 'string' ? prompt : (column?.prompt.raw ?? ''),
      label: column?.prompt.label ?? '',
    },
    provider: { id, ...(label === undefined ? {} : { label }) },
    row,
  };
}

/** Metrics made of others, by the suite's own formulas; `complain` hears what could not be computed. */
export function deriving(
  suite: Suite,
  code: CodeRunner,
  signal: AbortSignal,
  complain: (problem: string) => void,
): Derive {
  const metrics = suite.derivedMetrics.flatMap(({ name, value }): DerivedMetric[] =>
    typeof name === 'string' && typeof value === 'string' ? [{ name, value }] : [],
  );
  return async (named, count) => {
    if (metrics.length === 0) return named;
    const { scores, problems } = await deriveMetrics(named, count, metrics, { code, baseDir: suite.folder, signal });
    for (const problem of problems) complain(problem);
    return scores;
  };
}

export interface AfterAll {
  readonly suite: Suite;
  readonly hooks: EvalHooks;
  readonly columns: readonly EvalColumn[];
  readonly derive: Derive;
  readonly durationMs: Millis;
  readonly signal: AbortSignal;
}

/**
 * Tells the `afterAll` hooks what an eval came to. All rows are kept already, so what goes wrong here must not take them
 * away: it is given back in words.
 */
export async function tellAfterAll(run: RunStore, told: AfterAll): Promise<string | undefined> {
  const { suite, hooks, columns, derive, durationMs, signal } = told;
  if (!hooks.wants('afterAll')) return undefined;
  const results = await wholeResults(casedRows(run), columns, derive, durationMs);
  const context = { evalId: run.id, suite: suiteJson(suite), config: suiteJson(suite), ...results };
  return hooks.afterAll(context, signal).then(
    () => undefined,
    (cause: unknown) => String(Object(cause).message ?? cause),
  );
}

/** Everything at once, for hooks that want all of it. */
export async function wholeResults(
  rows: AsyncIterable<CasedRow>,
  columns: readonly EvalColumn[],
  derive: Derive,
  durationMs: number,
): Promise<{ results: JsonObject[]; prompts: JsonObject[]; stats: JsonObject }> {
  const summary = evalSummary(columnFacts(columns));
  const results: JsonObject[] = [];
  for await (const { case: planned, row } of rows) {
    summary.add(row);
    results.push(evaluateResult(planned, row));
  }
  return { results, prompts: await summary.prompts(derive), stats: summary.stats(durationMs) };
}
