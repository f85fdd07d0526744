/** The table of an eval for a terminal: one line a row, failures with their reason. */

import { caseNumber } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { cut, singleLine } from '../../reporters/terminal/text-width.ts';
import type { EvalOutcome } from '../../run/evaluate.ts';

const most = 50;
const shortener =
  (widest: number) =>
  (text: string): string => {
    // Output may hold terminal escapes, which must not reach one.
    return cut(singleLine(text).trim(), widest);
  };
const words = { passed: 'PASS', failed: 'FAIL', error: 'ERROR', skipped: 'SKIP', aborted: 'OPEN' } as const;

/** One line a row, with the number that `show` takes; a cell takes at most `widest` characters. */
export async function evalTable(result: EvalOutcome, widest = Number.POSITIVE_INFINITY): Promise<string[]> {
  const short = shortener(widest);
  const severalPrompts = new Set(result.columns.map(({ column }) => column.prompt)).size > 1;
  const lines: string[] = [];
  let count = 0;
  for await (const { case: planned, row } of result.rows()) {
    count += 1;
    if (count > most) continue;
    const output = typeof row.output === 'string' ? row.output : JSON.stringify(row.output ?? '');
    const why = row.error?.message ?? (row.status === 'failed' ? row.verdict?.reason : undefined);
    const { provider, prompt } = planned.column;
    const column = [provider, ...(severalPrompts ? [prompt] : [])].map(short).join(', ');
    const name = `#${caseNumber(row.index)} ${short(planned.name)} [${column}]`;
    lines.push(`${words[row.status].padEnd(5)}  ${name}  ${short(why ?? output)}`);
  }
  if (count > most) lines.push(`... and ${count - most} more rows`);
  return lines;
}

/** The named and derived metrics of each column, where there are any. */
export const metricLines = (prompts: readonly JsonObject[], widest: number): string[] =>
  prompts.flatMap(({ provider, label, metrics }) => {
    const short = shortener(widest);
    const { namedScores } = metrics as { namedScores: Readonly<Record<string, number>> };
    const shown = Object.entries(namedScores).map(([name, score]) => `${short(name)} ${Number(score.toFixed(4))}`);
    if (shown.length === 0) return [];
    return [`METRIC ${short(String(label))} [${short(String(provider))}]  ${shown.join(', ')}`];
  });
