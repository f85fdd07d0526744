/** The table of an eval for a terminal: one line a row, failures with their reason. */

import { caseNumber } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { type ShownStatus, shownStatus } from '../../domain/row.ts';
import { cut, singleLine, wrap } from '../../reporters/terminal/text-width.ts';
import type { EvalOutcome } from '../../run/evaluate.ts';

const most = 50;
const shortener =
  (widest: number) =>
  (text: string): string => {
    // Output may hold terminal escapes, which must not reach one.
    return cut(singleLine(text).trim(), widest);
  };
const words: Readonly<Record<ShownStatus, string>> = {
  passed: 'PASS',
  failed: 'FAIL',
  error: 'ERROR',
  skipped: 'SKIP',
  cancelled: 'CANCELLED',
  open: 'OPEN',
};

export interface TableSize {
  /** Most characters of a cell. */
  readonly cell: number;
  /** Of the whole line. */
  readonly width: number;
}

const unlimited: TableSize = { cell: Number.POSITIVE_INFINITY, width: Number.POSITIVE_INFINITY };

/** A row's line: name and column take a third each at most, so that the answer is seen too. */
function tableLine(head: string, name: string, column: string, text: string, width: number): string {
  const third = Math.floor((width - head.length) / 3);
  const left = `${head} ${cut(name, third)} [${cut(column, third - 3)}]  `;
  return cut(`${left}${text}`, width);
}

/** One line a row, with the number that `show` takes. */
export async function evalTable(result: EvalOutcome, { cell, width }: TableSize = unlimited): Promise<string[]> {
  const short = shortener(cell);
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
    const head = `${words[shownStatus(row)].padEnd(5)}  #${caseNumber(row.index)}`;
    lines.push(tableLine(head, short(planned.name), column, short(why ?? output), width));
  }
  if (count > most) lines.push(`... and ${count - most} more rows`);
  return lines;
}

/** The named and derived metrics of each column, where there are any. */
export const metricLines = (prompts: readonly JsonObject[], { cell, width }: TableSize): string[] =>
  prompts.flatMap(({ provider, label, metrics }) => {
    const short = shortener(cell);
    const { namedScores } = metrics as { namedScores: Readonly<Record<string, number>> };
    const shown = Object.entries(namedScores).map(([name, score]) => `${short(name)} ${Number(score.toFixed(4))}`);
    if (shown.length === 0) return [];
    return wrap(`METRIC ${short(String(label))} [${short(String(provider))}]  ${shown.join(', ')}`, width);
  });
