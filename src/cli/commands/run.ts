import { type Command, Option } from 'commander';
import { comparisonText } from '../../compare/render-comparison.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { Forecast } from '../../domain/forecast.ts';
import { counted, money } from '../../domain/measures.ts';
import { bundledPrices } from '../../providers/prices.ts';
import { forecastTable } from '../../reporters/terminal/forecast-table.ts';
import { forecastProject } from '../../run/forecast-project.ts';
import { findRun, type RunOutcome } from '../../run/run-plan.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { compareStoredRuns } from '../compare-stored-runs.ts';
import { chosenConfig } from '../config-argument.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { forecastWork } from '../expected-work.ts';
import { chooseRun, storeOption } from '../open-project-store.ts';
import { openRunProject, type RunProject } from '../open-run-project.ts';
import { playProject } from '../play-project.ts';
import { listenForStop, playWatched } from '../play-watched.ts';
import { addProjectFlags, type ProjectFlags, share } from '../run-options.ts';
import { type ReporterFlags, reporterNames, reportingOf } from '../run-reporters.ts';
import type { ScenarioFlags } from '../scenario-suite.ts';
import { tellRun } from '../tell-run.ts';
import { isWorse } from './compare.ts';
import { checkOutput, writeRunFile } from './export.ts';

interface RunOptions extends ProjectFlags, ScenarioFlags, ReporterFlags {
  readonly store?: string;
  readonly yes?: boolean;
  readonly coalesce?: boolean;
  readonly forecast?: boolean;
  readonly failUnder?: string;
  readonly failOnWorse?: string;
  readonly exitZero?: boolean;
  readonly output?: readonly string[];
}

/** A run expected to cost more than this is asked about first. */
const askAboveUsdMicros = 5_000_000;

async function run(file: string | undefined, options: RunOptions, context: CliContext): Promise<void> {
  const failUnder = share('--fail-under', options.failUnder);
  for (const output of options.output ?? []) checkOutput(output, context.cwd);
  using interrupt = listenForStop(context);
  const opened = await openRunProject(chosenConfig(file, options.config), options, context, interrupt.signal);
  const { project, store, folder } = opened;
  try {
    const before = options.failOnWorse === undefined ? undefined : await chooseRun(store, options.failOnWorse);
    const { show, reporters } = reportingOf(options, context, opened.configs[0]);
    const forecast =
      options.forecast === false
        ? undefined
        : await forecastProject(project, { store, pricesFrom: bundledPrices.date });
    if (show !== 'events') announce(opened, forecast, context);
    await askAboutCost(forecast, options, context);
    const watched = {
      title: project.name,
      store,
      folder,
      show,
      reporters,
      ...(forecast === undefined ? {} : { forecast, expected: forecastWork(forecast, project) }),
    };
    const { result, watch } = await playWatched(context, watched, interrupt, (stage) =>
      playProject(opened, project.cases(), stage, options),
    );
    const code = codeOf(result, failUnder);
    const worse = before !== undefined && (await tellWorse(store, before, result, show === 'events', context));
    const ends = options.exitZero === true ? exitCodes.passed : worse && code === 0 ? exitCodes.failed : code;
    context.exit(ends);
    if (show !== 'events') await tellRun(result, { watch, code: ends, store, forecast, folder }, context);
    await writeFiles(store, result, options, context);
  } finally {
    await opened.close();
  }
}

function announce({ project, configs }: RunProject, forecast: Forecast | undefined, context: CliContext): void {
  const { planned, conversations } = project;
  const parts = [
    ...(planned === conversations ? [] : [counted(planned - conversations, 'test case')]),
    ...(conversations === 0 ? [] : [counted(conversations, 'conversation')]),
  ];
  context.complain(`${configs[0] ?? 'config'}  ok  (${parts.join(' + ')})`);
  if (forecast === undefined) return;
  context.complain(
    `\n${forecastTable(forecast, { width: context.screen?.columns() ?? Number.POSITIVE_INFINITY }).join('\n')}\n`,
  );
}

/** Money is asked about before it is spent; without anybody to ask, `--yes` or a budget must have said it. */
async function askAboutCost(forecast: Forecast | undefined, options: RunOptions, context: CliContext): Promise<void> {
  const likely = forecast?.costUsdMicros?.likely ?? 0;
  if (likely <= askAboveUsdMicros || options.yes === true || options.budget !== undefined) return;
  const what = `This run is expected to cost about ${money(likely)}.`;
  if (context.confirm === undefined || options.json === true)
    throw new ParlaneError('run/expensive', what, 'Run it with --yes, or set a cap with --budget.', { likely });
  if (await context.confirm(`${what} Start it?`)) return;
  throw new ParlaneError('run/declined', 'Nothing was run, nothing was spent.', 'Set a cap with --budget.', { likely });
}

function codeOf(outcome: RunOutcome, failUnder: number | undefined): number {
  const code = exitCodeOf(outcome);
  if (failUnder === undefined || code !== exitCodes.failed) return code;
  const { passed, failed } = outcome.totals;
  return passed / Math.max(1, passed + failed) >= failUnder ? exitCodes.passed : code;
}

/** Whether this run is worse than the one it was measured against, and not by chance; told to people. */
async function tellWorse(
  store: Store,
  before: RunRecord,
  { run: id }: RunOutcome,
  quiet: boolean,
  context: CliContext,
): Promise<boolean> {
  const comparison = await compareStoredRuns(store, before, await (await findRun(store, id)).record());
  if (!quiet) context.print(`${comparisonText(comparison, { worseOnly: true }).trimEnd()}\n`);
  return isWorse(comparison);
}

async function writeFiles(store: Store, { run: id }: RunOutcome, options: RunOptions, context: CliContext) {
  if (options.output === undefined) return;
  const record = await (await findRun(store, id)).record();
  for (const output of options.output) {
    const against = options.failOnWorse === undefined ? {} : { against: options.failOnWorse };
    const file = await writeRunFile(store, record, { output, ...against }, context);
    if (file !== undefined) context.complain(`Written: ${file.path}`);
  }
}

export function define(command: Command, context: CliContext): void {
  addProjectFlags(command)
    .option('--budget <usd>', 'a spend cap, in dollars; the run stops there and can be resumed')
    .option('--max-time <time>', 'the run stops after this long and can be resumed: 90s, 15m')
    .option('--fail-under <share>', 'exit with 0 when at least this share passed: 95%')
    .option('--fail-on-worse <run>', 'exit with 100 when it is worse than this run and not by chance')
    .option('--exit-zero', 'exit with 0 whatever the checks say')
    .option('-o, --output <files...>', 'write the run: .html, .csv, .jsonl, .xml (JUnit)')
    .addOption(new Option('--reporter <name>', 'who else is told').choices(reporterNames))
    .option('--coalesce', 'identical calls in flight are made once; repeats never share an answer')
    .option('--yes', 'do not ask about the expected cost')
    .option('--no-forecast', 'start at once')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane run\n  parlane run --failed --repeat 5\n  parlane run promptfooconfig.yaml --budget 2 --fail-under 95% -o report.html\n  parlane run scenarios.yaml --spec order_desk\n',
    )
    .action((file: string | undefined, options: RunOptions) => run(file, options, context));
}
