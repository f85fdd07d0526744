import { type Command, Option } from 'commander';
import type { Comparison } from '../../compare/compare-runs.ts';
import { comparisonJson, comparisonMarkdown, comparisonText } from '../../compare/render-comparison.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { writeHtmlReport } from '../../reporters/html/html-report.ts';
import { redactComparison } from '../../reporters/redact/redact-comparison.ts';
import { redactText, rowRedactor } from '../../reporters/redact/redact-row.ts';
import { readRun } from '../../run/read-run.ts';
import { findRun } from '../../run/run-plan.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { choosePair, compareStoredRuns } from '../compare-stored-runs.ts';
import { exitCodes } from '../exit-code.ts';
import { secretsOf } from '../known-secrets.ts';
import { storeOption, withStore } from '../open-project-store.ts';
import { writeOutput } from '../output-file.ts';

interface CompareOptions {
  readonly store?: string;
  readonly worse?: boolean;
  readonly format: 'text' | 'md' | 'json' | 'html';
  readonly output?: string;
  readonly failOnWorse?: boolean;
  readonly json?: boolean;
}

/** Whether the newer run is worse, as far as the numbers tell; what may be chance does not count. */
export const isWorse = ({ verdict }: Comparison): boolean => verdict === 'worse';

function textOf(comparison: Comparison, format: 'text' | 'md' | 'json', options: CompareOptions): string {
  if (format === 'json') return comparisonJson(comparison);
  if (format === 'md') return comparisonMarkdown(comparison);
  return comparisonText(comparison, options.worse === true ? { worseOnly: true } : {});
}

async function writeHtml(
  store: Store,
  after: RunRecord,
  comparison: Comparison,
  name: string,
  context: CliContext,
): Promise<void> {
  const reader = readRun(await findRun(store, after.id));
  const secrets = secretsOf(context.env);
  const told = { comparison: redactComparison(comparison, { secrets }), redact: rowRedactor({ secrets }) };
  const file = await writeOutput(name, context, (sink) => writeHtmlReport(reader, sink, told));
  if (file !== undefined) context.complain(`Written: ${file.path}`);
}

function checkOptions(options: CompareOptions): void {
  if (options.json === true && options.format !== 'text' && options.format !== 'json')
    throw new ParlaneError(
      'cli/conflict',
      `--json and --format ${options.format} exclude each other.`,
      'Keep one of them.',
    );
  if (options.worse === true && options.format !== 'text')
    throw new ParlaneError(
      'cli/conflict',
      `--worse is for --format text, not ${options.format}.`,
      'Leave one of them out.',
    );
}

async function compare(
  first: string | undefined,
  second: string | undefined,
  options: CompareOptions,
  context: CliContext,
): Promise<void> {
  checkOptions(options);
  const format = options.json === true ? 'json' : options.format;
  await withStore(context, options.store, async (store) => {
    const { before, after } = await choosePair(store, first, second);
    const comparison = await compareStoredRuns(store, before, after);
    if (format === 'html') await writeHtml(store, after, comparison, options.output ?? 'compare.html', context);
    else {
      const text = redactText(secretsOf(context.env))(textOf(comparison, format, options));
      const file = await writeOutput(options.output, context, async (sink) => void (await sink.write(text)));
      if (file !== undefined) context.complain(`Written: ${file.path}`);
    }
    if (options.failOnWorse === true && isWorse(comparison)) context.exit(exitCodes.failed);
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[a]', 'alone: this run against the baseline or the one before it; with [b]: the older run')
    .argument('[b]', 'the newer run')
    .option('--worse', 'only what got worse')
    .addOption(
      new Option('--format <format>', 'how it is told').choices(['text', 'md', 'json', 'html']).default('text'),
    )
    .option('-o, --output <file>', 'into a file (html: compare.html unless named; - is standard output)')
    .option('--fail-on-worse', 'exit code 100 when it is worse and not by chance')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane compare\n  parlane compare baseline latest --fail-on-worse\n  parlane compare --format md > comment.md\n',
    )
    .action((first: string | undefined, second: string | undefined, options: CompareOptions) =>
      compare(first, second, options, context),
    );
}
