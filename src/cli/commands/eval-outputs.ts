/** Result files of an eval, by the ending of their names. All of them are written row by row. */
import { createWriteStream, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
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
import { writePromptfooYaml } from '../../reporters/promptfoo/yaml-file.ts';
import type { RunReader } from '../../reporters/run-reader.ts';
import { columnFacts } from '../../run/eval-results.ts';
import type { EvalOutcome } from '../../run/evaluate.ts';
import { makeOutputFolder, outputPath } from '../output-file.ts';
import { evalTable } from './eval-table.ts';

function factsOf(
  { outcome, columns, derive }: EvalOutcome,
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
    columns: columnFacts(columns),
    derive,
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
  makeOutputFolder(path);
  const file = createWriteStream(path);
  const sink: TextSink = {
    write: (text) =>
      file.write(text) ? undefined : new Promise<void>((resolve) => file.once('drain', () => resolve())),
  };
  const facts = factsOf(result, suite, times);
  const reader = readerOf(result, suite.description ?? '', times);
  await formatOf(path)?.({ result, facts, reader }, sink);
  file.end();
  await finished(file);
}

interface Contents {
  readonly result: EvalOutcome;
  readonly facts: OutputFacts;
  readonly reader: RunReader;
}
type Format = (contents: Contents, sink: TextSink) => Promise<void>;

/** By ending; the first that fits counts. */
const formats: readonly (readonly [RegExp, Format])[] = [
  [/\.xml$/, ({ reader }, sink) => writeJunit(reader, sink)],
  [/\.jsonl$/, ({ result }, sink) => writePromptfooLines(result.rows(), sink)],
  [/\.json$/, ({ result, facts }, sink) => writePromptfooJson(() => result.rows(), facts, sink)],
  [/\.csv$/, ({ reader }, sink) => writeCsv(reader, sink)],
  [/\.html$/, ({ reader }, sink) => writeHtmlReport(reader, sink)],
  [/\.txt$/, async ({ result }, sink) => void (await sink.write(`${(await evalTable(result)).join('\n')}\n`))],
  [/\.ya?ml$/, ({ result, facts }, sink) => writePromptfooYaml(() => result.rows(), facts, sink)],
];

const formatOf = (path: string): Format | undefined => formats.find(([ending]) => ending.test(path))?.[1];

/** Before anything is paid for. */
export function checkOutputs(paths: readonly string[], cwd: string): void {
  for (const path of paths) outputPath(path, cwd);
  const path = paths.find((one) => formatOf(one) === undefined);
  if (path === undefined) return;
  const cure = 'Known endings: .json .jsonl .csv .html .xml .junit.xml .yaml .txt';
  throw new ParlaneError('cli/output-format', `Results cannot be written to ${path}.`, cure, { path });
}
