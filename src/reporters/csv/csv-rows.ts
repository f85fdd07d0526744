import type { Column } from '../../domain/case.ts';
import { caseNumber } from '../../domain/ids.ts';
import type { Json } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';
import { chunkedWriter } from '../chunked-writer.ts';
import { conversationOf } from '../conversation-view.ts';
import { failureReason } from '../failure-reason.ts';
import type { TextSink } from '../observer.ts';
import type { RunReader } from '../run-reader.ts';

type Cell = string | number | null | undefined;

/** A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers. */
export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const textOf = (value: Json): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

const columns: readonly [string, (row: Row, column: Column | undefined) => Cell][] = [
  ['case', (row) => caseNumber(row.index)],
  ['name', (row) => row.name],
  ['kind', (row) => row.kind],
  ['provider', (_, column) => column?.provider],
  ['prompt', (_, column) => column?.prompt],
  ['repeat', (row) => row.repeat],
  ['status', (row) => row.status],
  ['score', (row) => row.score],
  ['reason', (row) => failureReason(row)],
  ['output', (row) => textOf(row.output)],
  ['turns', (row) => conversationOf(row)?.turns],
  ['error_code', (row) => row.error?.code],
  ['latency_ms', (row) => row.latencyMs],
  ['queue_ms', (row) => row.queueMs],
  ['backoff_ms', (row) => row.backoffMs],
  ['attempts', (row) => row.attempts],
  ['input_tokens', (row) => row.usage?.inputTokens],
  ['output_tokens', (row) => row.usage?.outputTokens],
  ['cost_usd', (row) => (row.costUsdMicros === null ? undefined : row.costUsdMicros / 1_000_000)],
];

/** A stored run as CSV, one row a case, in plan order. */
export async function writeCsv(
  reader: RunReader,
  sink: TextSink,
  options: { readonly redact?: (row: Row) => Row } = {},
): Promise<void> {
  const writer = chunkedWriter(sink);
  const byPosition = new Map((await reader.info()).columns.map((column) => [column.position, column]));
  await writer.write(`${columns.map(([name]) => name).join(',')}\r\n`);
  for await (const each of reader.rows()) {
    const row = options.redact?.(each) ?? each;
    const column = byPosition.get(row.column);
    await writer.write(`${columns.map(([, cell]) => csvCell(cell(row, column))).join(',')}\r\n`);
  }
  await writer.flush();
}
