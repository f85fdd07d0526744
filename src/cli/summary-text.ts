import { amount, counted, money, moneyAlike, percent } from '../domain/measures.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from '../reporters/efficiency-words.ts';
import { cut, singleLine, textWidth, wrap } from '../reporters/terminal/text-width.ts';
import type { ColumnSummary, EvalSummary, PartSummary, RunSummary } from '../run/summarize-run.ts';
import { countWords } from './count-words.ts';

const rate = (value: number | null): string => (value === null ? 'unknown' : percent(value));
const number = (value: number | null): string => (value === null ? '-' : String(Math.round(value * 100) / 100));
const micros = (usd: number | null): number | null => (usd === null ? null : usd * 1_000_000);
const margin = 11;
const line = (name: string, words: string): string => `${name.padEnd(margin - 1)} ${words}`;

const rangeOf = (interval: RunSummary['success_interval']): string =>
  interval === null ? '' : ` (95 % interval ${percent(interval.low)} to ${percent(interval.high)})`;

const success = (part: PartSummary, interval: RunSummary['success_interval']): string =>
  line('success', `${part.successes} of ${part.scored} scored, ${rate(part.success_rate)}${rangeOf(interval)}`);

const tokens = (part: { readonly input_tokens: number; readonly output_tokens: number }): string =>
  `${amount(part.input_tokens)} tokens in, ${amount(part.output_tokens)} out`;

/** Least room of a column's name: below it the numbers go to a line of their own. */
const leastName = 24;

/** A column's name and numbers, on one line where there is room. */
function columnLines(column: ColumnSummary, cost: string, width: number): string[] {
  const name = `${singleLine(column.provider)} | ${singleLine(column.prompt)}`;
  const numbers = `${column.successes} of ${column.scored}, ${rate(column.success_rate)}; ${tokens(column)}; ${cost}`;
  const room = width - 4 - textWidth(numbers);
  if (room >= Math.min(leastName, textWidth(name))) return [`  ${cut(name, room)}: ${numbers}`];
  return [`  ${cut(name, width - 3)}:`, ...wrap(numbers, width - 4).map((part) => `    ${part}`)];
}

/** The tests of a run, each column of the table with its own numbers where there are several. */
function evalLines(evals: EvalSummary, width: number): string[] {
  const costs = moneyAlike(evals.columns.map(({ cost_usd }) => micros(cost_usd)));
  const columns = evals.columns.flatMap((column, at) => columnLines(column, costs[at] ?? '', width));
  return [
    `${counted(evals.planned, 'test case')}: ${countWords(evals.counts)}`,
    success(evals, evals.success_interval),
    ...(evals.columns.length > 1 ? columns : []),
  ];
}

/** The conversations of a run, each number with what it stands on. */
function conversationLines(summary: RunSummary, part: PartSummary): string[] {
  const { evaluations, pass_hat_k: hat } = summary;
  const lines = [
    `${counted(part.planned, 'conversation')}: ${countWords(part.counts)}`,
    success(part, part.scored === summary.scored ? summary.success_interval : null),
  ];
  if (summary.scores.count > 0) {
    const spread = Object.entries(summary.score_distribution)
      .map(([score, count]) => `${count} x ${score}`)
      .join(', ');
    const judged = counted(summary.scores.count, 'judged conversation');
    lines.push(line('score', `mean ${number(summary.scores.mean)} over ${judged} (${spread})`));
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
  const roles = Object.entries(summary.per_role);
  const total = micros(summary.cost_usd);
  const [whole, ...parts] = moneyAlike([total, ...roles.map(([, { cost_usd }]) => micros(cost_usd))]);
  const split = roles.map(([role], at) => `${role} ${parts[at]}`).join(', ');
  return [line('tokens', tokens(summary)), line('cost', roles.length > 1 ? `${whole} (${split})` : money(total))];
}

/** A long line goes on below its words. */
function fitted(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const [first = '', ...rest] = wrap(text, width);
  const below = ' '.repeat(margin);
  return [first, ...wrap(rest.join(' '), width - margin).map((part) => below + part)];
}

export interface SummaryTextOptions {
  /** How close to the least possible time it came, where that is to be told. */
  readonly efficiency?: RunEfficiency | undefined;
  /** Of the terminal; without one nothing is cut or broken. */
  readonly width: number;
}

/** A run's numbers for a person: its tests, its conversations, and what they took together. */
export function summaryText(summary: RunSummary, { efficiency, width }: SummaryTextOptions): string {
  const { evals, conversations } = summary;
  const lines = [
    ...(evals === undefined ? [] : evalLines(evals, width)),
    ...(evals === undefined || conversations === undefined ? [] : ['']),
    ...(conversations === undefined ? [] : conversationLines(summary, conversations)),
    ...(evals === undefined || conversations === undefined ? [] : ['']),
    ...(efficiency === undefined ? [] : [line('limits', efficiencyWords(efficiency))]),
    ...costLines(summary),
  ];
  return lines.flatMap((text) => fitted(text, width)).join('\n');
}
