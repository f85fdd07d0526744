import { amount, counted, money, percent } from '../domain/measures.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from '../reporters/efficiency-words.ts';
import { singleLine } from '../reporters/terminal/text-width.ts';
import type { EvalSummary, PartSummary, RunSummary } from '../run/summarize-run.ts';

const rate = (value: number | null): string => (value === null ? 'unknown' : percent(value));
const number = (value: number | null): string => (value === null ? '-' : String(Math.round(value * 100) / 100));
const dollars = (usd: number | null): string => (usd === null ? 'price unknown' : `$${usd.toFixed(4)}`);
const line = (name: string, words: string): string => `${name.padEnd(10)} ${words}`;

const countsOf = ({ counts }: PartSummary): string =>
  `${counts.passed} passed, ${counts.failed} failed, ${counted(counts.errors, 'error')}, ${counts.skipped} skipped, ${counts.aborted} open`;

const rangeOf = (interval: RunSummary['success_interval']): string =>
  interval === null ? '' : ` (95 % interval ${percent(interval.low)} to ${percent(interval.high)})`;

const success = (part: PartSummary, interval: RunSummary['success_interval']): string =>
  line('success', `${part.successes} of ${part.scored} scored, ${rate(part.success_rate)}${rangeOf(interval)}`);

const tokens = (part: { readonly input_tokens: number; readonly output_tokens: number }): string =>
  `${amount(part.input_tokens)} tokens in, ${amount(part.output_tokens)} out`;

/** The tests of a run, each column of the table with its own numbers where there are several. */
function evalLines(evals: EvalSummary): string[] {
  const columns = evals.columns.map(
    (column) =>
      `  ${singleLine(column.provider)} | ${singleLine(column.prompt).slice(0, 40)}: ${column.successes} of ${column.scored}, ${rate(column.success_rate)}; ${tokens(column)}; ${dollars(column.cost_usd)}`,
  );
  return [
    `${counted(evals.planned, 'test case')}: ${countsOf(evals)}`,
    success(evals, evals.success_interval),
    ...(columns.length > 1 ? columns : []),
  ];
}

/** The conversations of a run, each number with what it stands on. */
function conversationLines(summary: RunSummary, part: PartSummary): string[] {
  const { evaluations, pass_hat_k: hat } = summary;
  const lines = [
    `${counted(part.planned, 'conversation')}: ${countsOf(part)}`,
    success(part, part.scored === summary.scored ? summary.success_interval : null),
  ];
  if (summary.scores.count > 0) {
    const spread = Object.entries(summary.score_distribution)
      .map(([score, count]) => `${count} x ${score}`)
      .join(', ');
    lines.push(line('score', `mean ${number(summary.scores.mean)} of ${summary.scores.count} judged (${spread})`));
  }
  if (evaluations.failed > 0)
    lines.push(line('judge', `gave no valid answer for ${evaluations.failed}; they are not scored`));
  if (hat.length > 1) {
    const list = (values: readonly number[]): string => values.map((value) => value.toFixed(3)).join('  ');
    const over = `(k = 1..${hat.length}, over ${summary.pass_k_scenarios.join(', ')} scenarios)`;
    lines.push(line('pass^k', `${list(hat)}   ${over}`));
    lines.push(line('pass@k', list(summary.pass_at_k)));
    lines.push(line('flaky', `${summary.flaky_scenarios} of ${summary.repeated_scenarios} repeated scenarios`));
  }
  if (summary.turns.count === 0) return lines;
  const { turns, duration_seconds: time } = summary;
  lines.push(line('turns', `mean ${number(turns.mean)}, ${number(turns.min)} to ${number(turns.max)}`));
  lines.push(line('time', `median ${number(time.median)} s, 95 % below ${number(time.p95)} s`));
  return lines;
}

/** What each role has cost; together they are the cost of the run. */
function costLines(summary: RunSummary): string[] {
  const roles = Object.entries(summary.per_role).map(
    ([role, { cost_usd: usd }]) => `${role} ${usd === null ? 'price unknown' : money(Math.round(usd * 1_000_000))}`,
  );
  return [
    line('tokens', tokens(summary)),
    line('cost', `${dollars(summary.cost_usd)}${roles.length > 1 ? ` (${roles.join(', ')})` : ''}`),
  ];
}

/** A run's numbers for a person: its tests, its conversations, and what they took together. */
export function summaryText(summary: RunSummary, efficiency?: RunEfficiency | undefined): string {
  const { evals, conversations } = summary;
  return [
    ...(evals === undefined ? [] : evalLines(evals)),
    ...(evals === undefined || conversations === undefined ? [] : ['']),
    ...(conversations === undefined ? [] : conversationLines(summary, conversations)),
    ...(evals === undefined || conversations === undefined ? [] : ['']),
    ...(efficiency === undefined ? [] : [line('limits', efficiencyWords(efficiency))]),
    ...costLines(summary),
  ].join('\n');
}
