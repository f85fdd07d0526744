import type { Row } from '../../domain/row.ts';
import { chunkedWriter } from '../chunked-writer.ts';
import type { TextSink } from '../observer.ts';
import type { RunReader } from '../run-reader.ts';

/** A stored run's rows as JSON, one a line, in plan order. */
export async function writeJsonRows(
  reader: RunReader,
  sink: TextSink,
  options: { readonly redact?: (row: Row) => Row } = {},
): Promise<void> {
  const writer = chunkedWriter(sink);
  for await (const row of reader.rows()) await writer.write(`${JSON.stringify(options.redact?.(row) ?? row)}\n`);
  await writer.flush();
}
