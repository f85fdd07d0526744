import { type Command, Option } from 'commander';
import type { Column } from '../../domain/case.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { evalDetail } from '../../domain/eval-case.ts';
import { duration } from '../../domain/measures.ts';
import { writeCsv } from '../../reporters/csv/csv-rows.ts';
import { writeHtmlReport } from '../../reporters/html/html-report.ts';
import { writeJsonRows } from '../../reporters/json/json-rows.ts';
import { writeJunit } from '../../reporters/junit/junit-xml.ts';
import type { TextSink } from '../../reporters/observer.ts';
import { isPromptName, redactColumns } from '../../reporters/redact/redact-columns.ts';
import { redactComparison } from '../../reporters/redact/redact-comparison.ts';
import { type RedactOptions, redactText, rowRedactor } from '../../reporters/redact/redact-row.ts';
import type { RunReader } from '../../reporters/run-reader.ts';
import { readRun } from '../../run/read-run.ts';
import { findRun } from '../../run/run-plan.ts';
import type { RunRecord, RunStore, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { choosePair, compareStoredRuns } from '../compare-stored-runs.ts';
import { secretsOf } from '../known-secrets.ts';
import { chooseRun, chooseShownRun, storeOption, withStore } from '../open-project-store.ts';
import { type OutputFile, outputPath, writeOutput } from '../output-file.ts';

type Format = 'html' | 'csv' | 'jsonl' | 'junit';

interface ExportOptions {
  readonly store?: string;
  readonly format?: Format;
  readonly output?: string;
  readonly redact?: boolean;
  readonly against?: string;
  readonly json?: boolean;
}

const endings: Readonly<Record<string, Format>> = {
  html: 'html',
  htm: 'html',
  csv: 'csv',
  jsonl: 'jsonl',
  xml: 'junit',
};

const byEnding = (output: string): Format | undefined => endings[/\.(\w+)$/.exec(output)?.[1]?.toLowerCase() ?? ''];

/** Whether the file's ending names a format in which any run can be written. */
export const isReport = (output: string): boolean => byEnding(output) !== undefined;

/** Told, else by the file's ending, else html. */
const formatOf = ({ format, output }: Pick<ExportOptions, 'format' | 'output'>): Format =>
  format ?? byEnding(output ?? '') ?? 'html';

/** The columns as a report may name them that leaves out what people wrote. */
async function redactedColumns(run: RunStore): Promise<readonly Column[]> {
  const firsts = await run.columnCases();
  const named = firsts.filter(
    (one) => one.kind === 'conversation' || isPromptName(one.column.prompt, evalDetail(one).prompt.template),
  );
  const positions = new Set(named.map(({ column }) => column.position));
  return redactColumns(
    firsts.map(({ column }) => column),
    ({ position }) => positions.has(position),
  );
}

/** The run as the export tells it: with what it was made from, and the name somebody gave it. */
function readerOf(run: RunStore, record: RunRecord, { secrets, contents }: RedactOptions): RunReader {
  const base = readRun(run);
  const clean = redactText(secrets);
  return {
    ...base,
    async info() {
      const info = await base.info();
      const facts = {
        ...(record.label === undefined ? {} : { name: clean(record.label) }),
        status: record.stopReason === undefined ? record.status : `${record.status} (${record.stopReason})`,
        ...(info.durationMs === undefined ? {} : { 'working time': duration(info.durationMs) }),
        snapshot: record.snapshot.slice(0, 12),
      };
      const columns = contents === true ? await redactedColumns(run) : info.columns;
      const cleaned = columns.map((one) => ({ ...one, provider: clean(one.provider), prompt: clean(one.prompt) }));
      return { ...info, title: clean(info.title), facts, columns: cleaned };
    },
  };
}

interface Writing {
  readonly reader: RunReader;
  readonly redaction: RedactOptions;
  readonly store: Store;
  readonly record: RunRecord;
  readonly against: string | undefined;
}

async function writeFormat(format: Format, sink: TextSink, writing: Writing): Promise<void> {
  const { reader, redaction, store, record, against } = writing;
  const redact = rowRedactor(redaction);
  switch (format) {
    case 'csv':
      return writeCsv(reader, sink, { redact });
    case 'jsonl':
      return writeJsonRows(reader, sink, { redact });
    case 'junit':
      return writeJunit(reader, sink, { redact });
    case 'html': {
      if (against === undefined) return writeHtmlReport(reader, sink, { redact });
      const { before, after } = await choosePair(store, against, record.id);
      const comparison = redactComparison(await compareStoredRuns(store, before, after), redaction);
      return writeHtmlReport(reader, sink, { redact, comparison });
    }
  }
}

/** Writes a run as a file, its format by the ending unless told; undefined when it went to standard output. */
export async function writeRunFile(
  store: Store,
  record: RunRecord,
  options: Pick<ExportOptions, 'format' | 'output' | 'redact' | 'against'>,
  context: CliContext,
): Promise<OutputFile | undefined> {
  const format = formatOf(options);
  const redaction = { secrets: secretsOf(context.env), ...(options.redact === true ? { contents: true } : {}) };
  const reader = readerOf(await findRun(store, record.id), record, redaction);
  const writing = { reader, redaction, store, record, against: options.against };
  return writeOutput(options.output, context, (sink) => writeFormat(format, sink, writing));
}

/** Refuses a file that cannot be written or whose ending names no format, before anything is run. */
export function checkOutput(output: string, cwd: string): void {
  outputPath(output, cwd);
  if (isReport(output)) return;
  throw new ParlaneError(
    'cli/output-format',
    `A run cannot be written as "${output}".`,
    'End the name in .html, .csv, .jsonl or .xml (JUnit).',
    { output },
  );
}

async function exportRun(name: string | undefined, options: ExportOptions, context: CliContext): Promise<void> {
  const named = options.output !== undefined && options.output !== '-';
  if (named && options.format === undefined) checkOutput(options.output, context.cwd);
  const format = formatOf(options);
  const output =
    options.output ?? (format === 'html' ? 'report.html' : options.json === true ? `run.${format}` : undefined);
  await withStore(context, options.store, async (store) => {
    const record = await chooseShownRun(store, name);
    if (options.against !== undefined) await chooseRun(store, options.against);
    const file = await writeRunFile(
      store,
      record,
      { ...options, format, ...(output === undefined ? {} : { output }) },
      context,
    );
    if (file === undefined) return;
    if (options.json === true) context.print(JSON.stringify({ run: record.id, format, ...file }));
    else context.complain(`Written: ${file.path} (${Math.max(1, Math.round(file.bytes / 1024))} kB)`);
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[run]', 'the newest unless told')
    .addOption(
      new Option('--format <format>', 'what to write (default: by the file, else html)').choices([
        'html',
        'csv',
        'jsonl',
        'junit',
      ]),
    )
    .option('-o, --output <file>', 'where to (html: report.html unless named; others: standard output)')
    .option('--redact', 'leave out what people and models wrote; keep names, verdicts and numbers')
    .option('--against <run>', 'html: with the comparison against this run')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane export\n  parlane export baseline --format csv -o baseline.csv\n  parlane export --against baseline --redact -o public/report.html\n',
    )
    .action((name: string | undefined, options: ExportOptions) => exportRun(name, options, context));
}
