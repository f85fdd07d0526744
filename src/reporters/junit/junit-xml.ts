import type { Column } from '../../domain/case.ts';
import { caseNumber } from '../../domain/ids.ts';
import { type Row, shownStatus } from '../../domain/row.ts';
import { chunkedWriter } from '../chunked-writer.ts';
import { checkName, checksOf } from '../conversation-view.ts';
import { failureReason } from '../failure-reason.ts';
import type { TextSink } from '../observer.ts';
import type { RunReader } from '../run-reader.ts';

/** Characters that no XML document may hold, not even escaped; lone surrogates among them. */
const forbidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const xml = (text: string): string =>
  text.replace(forbidden, '\ufffd').replace(/[&<>"']/g, (character) => entities[character] ?? character);
const attribute = (text: string): string =>
  xml(text).replaceAll('\n', '&#10;').replaceAll('\r', '&#13;').replaceAll('\t', '&#9;');

function outcome(row: Row): string {
  const reason = failureReason(row);
  switch (row.status) {
    case 'passed':
      return '';
    case 'failed': {
      const failed = checksOf(row.verdict).filter((check) => !check.pass);
      const type = failed[0] === undefined ? 'check' : checkName(failed[0]);
      const body = failed.map((check) => `${checkName(check)}: ${check.reason}`).join('\n');
      return `<failure type="${attribute(type)}" message="${attribute(reason)}">${xml(body)}</failure>`;
    }
    case 'error':
      return `<error type="${attribute(row.error?.code ?? 'error')}" message="${attribute(reason)}"/>`;
    case 'skipped':
    case 'aborted':
      return `<skipped message="${attribute(shownStatus(row))}"/>`;
  }
}

function testCase(row: Row, column: Column | undefined): string {
  const place = column === undefined ? row.kind : `${column.provider} / ${column.prompt}`;
  const repeat = row.repeat > 0 ? ` (repeat ${row.repeat + 1})` : '';
  const head = `<testcase classname="${attribute(place)}" name="${attribute(`#${caseNumber(row.index)} ${row.name}${repeat}`)}" time="${(row.latencyMs / 1000).toFixed(3)}"`;
  const body = outcome(row);
  return body === '' ? `    ${head}/>\n` : `    ${head}>${body}</testcase>\n`;
}

/** A stored run as JUnit XML, which every CI reads: a wrong answer is a failure, a broken provider is an error. */
export async function writeJunit(
  reader: RunReader,
  sink: TextSink,
  options: { readonly redact?: (row: Row) => Row } = {},
): Promise<void> {
  const writer = chunkedWriter(sink);
  const info = await reader.info();
  const byPosition = new Map(info.columns.map((column) => [column.position, column]));
  const { totals } = info;
  const counts =
    `tests="${totals.planned}" failures="${totals.failed}" errors="${totals.errors}" ` +
    `skipped="${totals.skipped + totals.aborted}" time="${((info.durationMs ?? 0) / 1000).toFixed(3)}"`;
  const name = attribute(info.title === '' ? `run ${info.id}` : info.title);
  const stamp = new Date(info.startedAt).toISOString().slice(0, 19);
  await writer.write(`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="parlane" ${counts}>\n`);
  await writer.write(`  <testsuite name="${name}" timestamp="${stamp}" ${counts}>\n`);
  for await (const row of reader.rows()) {
    await writer.write(testCase(options.redact?.(row) ?? row, byPosition.get(row.column)));
  }
  await writer.write('  </testsuite>\n</testsuites>\n');
  await writer.flush();
}
