import type { BatchSummary } from '../conversation/summarize-batch.ts';
import { percent } from '../domain/measures.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from '../reporters/efficiency-words.ts';

const rate = (value: number | null): string => (value === null ? 'unknown' : percent(value));
const number = (value: number | null): string => (value === null ? '-' : String(Math.round(value * 100) / 100));

/** A batch's numbers for a person, each with what it stands on. */
export function summaryText(summary: BatchSummary, efficiency?: RunEfficiency | undefined): string {
  const { counts, evaluations } = summary;
  const interval = summary.success_interval;
  const range = interval === null ? '' : ` (95 % interval ${percent(interval.low)} to ${percent(interval.high)})`;
  const lines = [
    `${summary.planned} conversations: ${counts.passed} passed, ${counts.failed} failed, ${counts.errors} errors, ${counts.skipped} skipped, ${counts.aborted} open`,
    `success    ${summary.successes} of ${summary.scored} scored, ${rate(summary.success_rate)}${range}`,
  ];
  if (summary.scores.count > 0) {
    const spread = Object.entries(summary.score_distribution)
      .map(([score, count]) => `${count} x ${score}`)
      .join(', ');
    lines.push(`score      mean ${number(summary.scores.mean)} of ${summary.scores.count} judged (${spread})`);
  }
  if (evaluations.failed > 0)
    lines.push(`judge      gave no valid answer for ${evaluations.failed}; they are not scored`);
  if (summary.pass_hat_k.length > 1) {
    const list = (values: readonly number[]): string => values.map((value) => value.toFixed(3)).join('  ');
    lines.push(
      `pass^k     ${list(summary.pass_hat_k)}   (k = 1..${summary.pass_hat_k.length}, over ${summary.pass_k_scenarios.join(', ')} scenarios)`,
    );
    lines.push(`pass@k     ${list(summary.pass_at_k)}`);
    lines.push(`flaky      ${summary.flaky_scenarios} of ${summary.repeated_scenarios} repeated scenarios`);
  }
  lines.push(
    `turns      mean ${number(summary.turns.mean)}, ${number(summary.turns.min)} to ${number(summary.turns.max)}`,
  );
  lines.push(
    `time       median ${number(summary.duration_seconds.median)} s, 95 % below ${number(summary.duration_seconds.p95)} s`,
  );
  if (efficiency !== undefined) lines.push(`limits     ${efficiencyWords(efficiency)}`);
  lines.push(`cost       ${summary.cost_usd === null ? 'price unknown' : `$${summary.cost_usd.toFixed(4)}`}`);
  return lines.join('\n');
}
