/** Metrics per column (promptfoo's `CompletedPrompt`) and the run's totals (`stats`), one row at a time. */
import type { Column } from '../../domain/case.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';
import { tokenUsage } from './evaluate-result.ts';

export interface ColumnFacts {
  readonly column: Column;
  readonly promptId: string;
  readonly raw: string;
  readonly label: string;
  readonly provider: string;
}

interface Sums {
  score: number;
  pass: number;
  fail: number;
  error: number;
  assertPass: number;
  assertFail: number;
  latencyMs: number;
  cost: number;
  input: number;
  output: number;
  cached: number;
  requests: number;
  named: Record<string, number>;
  namedCount: Record<string, number>;
  namedWeight: Record<string, number>;
}

const nothing = (): Sums => ({
  ...{ score: 0, pass: 0, fail: 0, error: 0, assertPass: 0, assertFail: 0, latencyMs: 0, cost: 0 },
  ...{ input: 0, output: 0, cached: 0, requests: 0, named: {}, namedCount: {}, namedWeight: {} },
});

const add = (sums: Record<string, number>, name: string, value: number): void => {
  sums[name] = (sums[name] ?? 0) + value;
};

function addRow(sums: Sums, row: Row): void {
  sums.score += row.score ?? 0;
  sums[row.status === 'passed' ? 'pass' : row.status === 'failed' ? 'fail' : 'error'] += 1;
  for (const part of row.verdict?.componentResults ?? []) sums[part.pass ? 'assertPass' : 'assertFail'] += 1;
  sums.latencyMs += row.latencyMs;
  sums.cost += (row.costUsdMicros ?? 0) / 1_000_000;
  sums.input += row.usage?.inputTokens ?? 0;
  sums.output += row.usage?.outputTokens ?? 0;
  sums.cached += row.usage?.cachedInputTokens ?? 0;
  sums.requests += row.attempts;
  for (const [name, score] of Object.entries(row.verdict?.namedScores ?? {})) {
    add(sums.named, name, score);
    add(sums.namedCount, name, 1);
    add(sums.namedWeight, name, row.verdict?.namedScoreWeights?.[name] ?? 1);
  }
}

const usageOf = ({ input, output, cached, requests }: Sums): JsonObject =>
  tokenUsage({ inputTokens: input, outputTokens: output, cachedInputTokens: cached }, requests);

/** Adds metrics made of others to a column's named scores; `count` is the number of its rows. */
export type Derive = (
  named: Readonly<Record<string, number>>,
  count: number,
) => Promise<Readonly<Record<string, number>>>;

export interface EvalSummary {
  add(row: Row): void;
  /** `CompletedPrompt`, one per column; `derived` adds metrics made of others. */
  prompts(derive?: Derive): Promise<JsonObject[]>;
  /** The metrics of one column so far, without derived ones. */
  metrics(column: number): JsonObject;
  stats(durationMs: number): JsonObject;
}

const metricsOf = (sums: Sums): JsonObject => ({
  score: sums.score,
  testPassCount: sums.pass,
  testFailCount: sums.fail,
  testErrorCount: sums.error,
  assertPassCount: sums.assertPass,
  assertFailCount: sums.assertFail,
  totalLatencyMs: sums.latencyMs,
  tokenUsage: usageOf(sums),
  namedScores: { ...sums.named },
  namedScoresCount: { ...sums.namedCount },
  namedScoreWeights: { ...sums.namedWeight },
  cost: sums.cost,
});

/** Sums up rows as they come; nothing of them is kept. */
export function evalSummary(columns: readonly ColumnFacts[]): EvalSummary {
  const byColumn = columns.map(nothing);
  const all = nothing();
  return {
    add(row) {
      const sums = byColumn[row.column];
      if (sums !== undefined) addRow(sums, row);
      addRow(all, row);
    },
    metrics: (column) => metricsOf(byColumn[column] ?? nothing()),
    prompts: (derive = async (named) => named) =>
      Promise.all(
        columns.map(async ({ promptId, raw, label, provider }, at) => {
          const sums = byColumn[at] ?? nothing();
          const namedScores = await derive(sums.named, sums.pass + sums.fail + sums.error);
          const metrics = { ...metricsOf(sums), namedScores: { ...namedScores } };
          return { id: promptId, raw, label, provider, metrics };
        }),
      ),
    stats: (durationMs) => ({
      successes: all.pass,
      failures: all.fail,
      errors: all.error,
      tokenUsage: usageOf(all),
      durationMs,
      evaluationDurationMs: durationMs,
    }),
  };
}
