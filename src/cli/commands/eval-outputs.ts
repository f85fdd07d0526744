/** Result files of an eval, by the ending of their names. All of them are written row by row. */
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { parse, stringify } from 'yaml';
import { ParlaneError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';
import type { Suite } from '../../domain/suite.ts';
import { canonical } from '../../plan/case-key.ts';
import { writeCsv } from '../../reporters/csv/csv-rows.ts';
import { writeHtmlReport } from '../../reporters/html/html-report.ts';
import { writeJunit } from '../../reporters/junit/junit-xml.ts';
import type { TextSink } from '../../reporters/observer.ts';
import { type OutputFacts, writePromptfooJson, writePromptfooLines } from '../../reporters/promptfoo/output-file.ts';
import type { RunReader } from '../../reporters/run-reader.ts';
import type { EvalOutcome } from '../../run/evaluate.ts';
import { evalTable } from './eval-table.ts';

function factsOf(
  { outcome, columns }: EvalOutcome,
  suite: Suite,
  times: { startedAt: number; now: number },
): OutputFacts {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return {
    evalId: outcome.run,
    version,
    startedAt: new Date(times.startedAt).toISOString(),
    exportedAt: new Date(times.now).toISOString(),
    durationMs: times.now - times.startedAt,
    platform: { nodeVersion: process.version, platform: process.platform, arch: process.arch },
    config: canonical({
      ...(suite.description === undefined ? {} : { description: suite.description }),
      providers: suite.providers as unknown as JsonObject[],
      prompts: suite.prompts.map(({ raw, label }) => ({ raw, label })),
    }) as JsonObject,
    columns: columns.map(({ column, promptId, prompt, provider }) => ({
      column,
      promptId,
      raw: prompt.raw,
      label: prompt.label,
      provider: provider.label ?? provider.id,
    })),
  };
}

/** The eval as reports read it. */
function readerOf(result: EvalOutcome, title: string, times: { startedAt: number; now: number }): RunReader {
  return {
    info: async () => ({
      id: result.outcome.run,
      title,
      startedAt: times.startedAt,
      durationMs: times.now - times.startedAt,
      totals: result.totals,
      complete: result.outcome.complete,
      columns: result.columns.map(({ column }) => column),
    }),
    async *rows(): AsyncGenerator<Row> {
      for await (const { row } of result.rows()) yield row;
    },
    async *events() {
      // The report of an eval's table needs none.
    },
  };
}

/** Writes one result file. */
export async function writeOutputs(
  path: string,
  result: EvalOutcome,
  suite: Suite,
  times: { readonly startedAt: number; readonly now: number },
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const file = createWriteStream(path);
  const sink: TextSink = {
    write: (text) =>
      file.write(text) ? undefined : new Promise<void>((resolve) => file.once('drain', () => resolve())),
  };
  const facts = factsOf(result, suite, times);
  const reader = readerOf(result, suite.description ?? '', times);
  await writeAs(path, result, facts, reader, sink);
  file.end();
  await finished(file);
}

async function writeAs(
  path: string,
  result: EvalOutcome,
  facts: OutputFacts,
  reader: RunReader,
  sink: TextSink,
): Promise<void> {
  const rows = () => result.rows();
  if (/\.(?:junit\.)?xml$/.test(path)) return writeJunit(reader, sink);
  if (path.endsWith('.jsonl')) return writePromptfooLines(rows(), sink);
  if (path.endsWith('.json')) return writePromptfooJson(rows, facts, sink);
  if (path.endsWith('.csv')) return writeCsv(reader, sink);
  if (path.endsWith('.html')) return writeHtmlReport(reader, sink);
  if (path.endsWith('.txt')) return void sink.write(`${(await evalTable(result)).join('\n')}\n`);
  if (/\.ya?ml$/.test(path)) {
    const parts: string[] = [];
    await writePromptfooJson(rows, facts, { write: (text) => void parts.push(text) });
    return void sink.write(stringify(parse(parts.join(''))));
  }
  throw new ParlaneError(
    'cli/output-format',
    `Results cannot be written to ${path}.`,
    'Known endings: .json .jsonl .csv .html .xml .junit.xml .yaml .txt',
  );
}
