/** The table of an eval for a terminal: one line a row, failures with their reason. */

import type { JsonObject } from '../../domain/json.ts';
import { cut, singleLine } from '../../reporters/terminal/text-width.ts';
import type { EvalOutcome } from '../../run/evaluate.ts';

const most = 50;
const defaultWidth = 60;
const shortener =
  (widest: number) =>
  (text: string): string => {
    // Output may hold terminal escapes, which must not reach one.
    return cut(singleLine(text).trim(), widest);
  };
const words = { passed: 'PASS', failed: 'FAIL', error: 'ERROR', skipped: 'SKIP', aborted: 'OPEN' } as const;

/** One line a row; a cell takes at most `widest` characters. */
export async function evalTable(result: EvalOutcome, widest = defaultWidth): Promise<string[]> {
  const short = shortener(widest);
  const lines: string[] = [];
  let count = 0;
  for await (const { case: planned, row } of result.rows()) {
    count += 1;
    if (count > most) continue;
    const output = typeof row.output === 'string' ? row.output : JSON.stringify(row.output ?? '');
    const why = row.error?.message ?? (row.status === 'failed' ? row.verdict?.reason : undefined);
    const name = `${short(planned.name)} [${short(planned.column.provider)}]`;
    lines.push(`${words[row.status].padEnd(5)}  ${name}  ${short(why ?? output)}`);
  }
  if (count > most) lines.push(`... and ${count - most} more rows`);
  return lines;
}

/** The named and derived metrics of each column, where there are any. */
export const metricLines = (prompts: readonly JsonObject[]): string[] =>
  prompts.flatMap(({ provider, label, metrics }) => {
    const short = shortener(40);
    const { namedScores } = metrics as { namedScores: Readonly<Record<string, number>> };
    const shown = Object.entries(namedScores).map(([name, score]) => `${short(name)} ${Number(score.toFixed(4))}`);
    if (shown.length === 0) return [];
    return [`METRIC ${short(String(label))} [${short(String(provider))}]  ${shown.join(', ')}`];
  });
