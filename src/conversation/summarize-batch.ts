/** A batch in numbers. No number without its denominator, no NaN, and an error is never a wrong answer. */
import { wilson } from '../compare/interval.ts';
import { type ConversationResult, resultOf } from '../domain/conversation-result.ts';
import type { Row } from '../domain/row.ts';
import { flakyRate, passK, type Tries } from './repeats.ts';

export interface Distribution {
  readonly count: number;
  readonly mean: number | null;
  /** Null with fewer than two values. */
  readonly deviation: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly median: number | null;
  readonly p95: number | null;
}

export interface RoleTotals {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null when a price is unknown. */
  readonly cost_usd: number | null;
}

export interface ScenarioSummary {
  readonly scenario: string;
  readonly planned: number;
  readonly scored: number;
  readonly successes: number;
  readonly success_rate: number | null;
  readonly mean_score: number | null;
  readonly mean_turns: number | null;
}

export interface BatchSummary {
  readonly planned: number;
  /** Tries whose success is known: neither errors, nor skipped, nor aborted ones. */
  readonly scored: number;
  readonly successes: number;
  readonly success_rate: number | null;
  readonly success_interval: { readonly low: number; readonly high: number } | null;
  readonly counts: {
    readonly passed: number;
    readonly failed: number;
    readonly errors: number;
    readonly skipped: number;
    readonly aborted: number;
    /** Of the aborted, those that a resume plays: not yet begun ones, too. */
    readonly open?: number;
  };
  readonly statuses: { readonly completed: number; readonly failed: number; readonly failed_api_blocked: number };
  readonly terminations: Readonly<Record<string, number>>;
  readonly pass_hat_k: readonly number[];
  readonly pass_at_k: readonly number[];
  readonly pass_k_scenarios: readonly number[];
  readonly flaky_rate: number | null;
  readonly flaky_scenarios: number;
  readonly repeated_scenarios: number;
  /** The judge's scores, of conversations that have one. */
  readonly scores: Distribution;
  readonly score_distribution: Readonly<Record<string, number>>;
  readonly evaluations: { readonly completed: number; readonly failed: number; readonly skipped: number };
  readonly turns: Distribution;
  readonly duration_seconds: Distribution;
  readonly working_seconds: Distribution;
  readonly per_scenario: readonly ScenarioSummary[];
  readonly per_role: Readonly<Record<string, RoleTotals>>;
  readonly cost_usd: number | null;
}

export type SummaryRow = Pick<Row, 'name' | 'column' | 'status' | 'repeat' | 'costUsdMicros' | 'detail'>;

/** Sums up rows of conversations. `detail` is the conversation's result. */
export function summarizeBatch(rows: readonly SummaryRow[]): BatchSummary {
  const results = rows.flatMap((row) => resultOf(row) ?? []);
  const groups = Map.groupBy(rows, (row) => `${row.column}\n${row.name}`);
  const tries = [...groups.values()].map(triesOf);
  const known = triesOf(rows);
  const repeats = passK(tries);
  const flaky = flakyRate(tries);
  const scores = results.flatMap(({ score }) => (typeof score === 'number' ? [score] : []));
  return {
    planned: rows.length,
    scored: known.scored,
    successes: known.successes,
    success_rate: share(known.successes, known.scored),
    success_interval: successInterval(known),
    counts: {
      passed: countOf(rows, ({ status }) => status === 'passed'),
      failed: countOf(rows, ({ status }) => status === 'failed'),
      errors: countOf(rows, ({ status }) => status === 'error'),
      skipped: countOf(rows, ({ status }) => status === 'skipped'),
      aborted: countOf(rows, ({ status }) => status === 'aborted'),
    },
    statuses: {
      completed: countOf(results, ({ status }) => status === 'completed'),
      failed: countOf(results, ({ status }) => status === 'failed'),
      failed_api_blocked: countOf(results, ({ status }) => status === 'failed_api_blocked'),
    },
    terminations: tally(results.map(({ termination_reason: reason }) => reason)),
    pass_hat_k: repeats.hat,
    pass_at_k: repeats.at,
    pass_k_scenarios: repeats.scenarios,
    flaky_rate: flaky.rate,
    flaky_scenarios: flaky.flaky,
    repeated_scenarios: flaky.scenarios,
    scores: distribution(scores),
    score_distribution: tally(scores.map(String)),
    evaluations: {
      completed: countOf(results, ({ evaluation_status: status }) => status === 'completed'),
      failed: countOf(results, ({ evaluation_status: status }) => status === 'failed'),
      skipped: countOf(results, ({ evaluation_status: status }) => status === 'skipped'),
    },
    turns: distribution(results.map(({ total_turns: turns }) => turns)),
    duration_seconds: distribution(results.map(({ duration_seconds: seconds }) => seconds)),
    working_seconds: distribution(results.map(({ working_seconds: seconds }) => seconds)),
    per_scenario: [...groups.values()].map(scenarioSummary),
    per_role: roleTotals(results),
    cost_usd: rows.some(({ costUsdMicros: cost }) => cost === null)
      ? null
      : rows.reduce((sum, { costUsdMicros: cost }) => sum + (cost ?? 0), 0) / 1_000_000,
  };
}

/** The 95 % interval of a success rate; null when nothing was scored. */
export const successInterval = ({ scored, successes }: Tries): BatchSummary['success_interval'] =>
  scored === 0 ? null : wilson(successes, scored);

const triesOf = (rows: readonly SummaryRow[]): Tries => ({
  scored: countOf(rows, ({ status }) => status === 'passed' || status === 'failed'),
  successes: countOf(rows, ({ status }) => status === 'passed'),
});

const countOf = <T>(list: readonly T[], test: (one: T) => boolean): number => list.filter(test).length;
const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function distribution(values: readonly number[]): Distribution {
  const sorted = values.toSorted((a, b) => a - b);
  const mean = meanOf(sorted);
  const squares = sorted.reduce((sum, value) => sum + (value - (mean ?? 0)) ** 2, 0);
  return {
    count: sorted.length,
    mean,
    deviation: sorted.length < 2 ? null : Math.sqrt(squares / (sorted.length - 1)),
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
  };
}

function quantile(sorted: readonly number[], q: number): number | null {
  if (sorted.length === 0) return null;
  const at = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return low + (high - low) * (at - Math.floor(at));
}

function scenarioSummary(rows: readonly SummaryRow[]): ScenarioSummary {
  const results = rows.flatMap((row) => resultOf(row) ?? []);
  const { scored, successes } = triesOf(rows);
  return {
    scenario: rows[0]?.name ?? '',
    planned: rows.length,
    scored,
    successes,
    success_rate: share(successes, scored),
    mean_score: meanOf(results.flatMap(({ score }) => (typeof score === 'number' ? [score] : []))),
    mean_turns: meanOf(results.map(({ total_turns: turns }) => turns)),
  };
}

function roleTotals(results: readonly ConversationResult[]): Record<string, RoleTotals> {
  const totals: Record<string, RoleTotals> = {};
  for (const { metrics } of results) {
    for (const [role, usage] of Object.entries(metrics.per_role)) {
      const old = totals[role] ?? { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 };
      totals[role] = {
        calls: old.calls + usage.calls,
        input_tokens: old.input_tokens + usage.input_tokens,
        output_tokens: old.output_tokens + usage.output_tokens,
        cost_usd: old.cost_usd === null || usage.cost_usd === null ? null : old.cost_usd + usage.cost_usd,
      };
    }
  }
  return totals;
}
