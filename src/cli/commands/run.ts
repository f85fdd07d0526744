import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { Forecast } from '../../domain/forecast.ts';
import { counted, money } from '../../domain/measures.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { serveControl } from '../../platform/control-socket.ts';
import { type Interrupt, listenForInterrupt } from '../../platform/interrupt.ts';
import { isAlive, thisProcess } from '../../platform/process-identity.ts';
import { bundledPrices } from '../../providers/prices.ts';
import { forecastTable } from '../../reporters/terminal/forecast-table.ts';
import { summaryLines } from '../../reporters/terminal/summary.ts';
import { forecastProject } from '../../run/forecast-project.ts';
import type { Lanes } from '../../run/lanes.ts';
import { RunControl } from '../../run/run-control.ts';
import { type RunOutcome, runPlan } from '../../run/run-plan.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { storeOption } from '../open-project-store.ts';
import { openRunProject, type RunProject } from '../open-run-project.ts';
import { type ProjectFlags, share } from '../run-options.ts';
import { type Watch, watchRun } from '../watch-run.ts';

interface RunOptions extends ProjectFlags {
  readonly store?: string;
  readonly yes?: boolean;
  readonly plain?: boolean;
  readonly forecast?: boolean;
  readonly failUnder?: string;
  readonly exitZero?: boolean;
  readonly json?: boolean;
}

/** A run expected to cost more than this is asked about first. */
const askAboveUsdMicros = 5_000_000;

async function run(file: string | undefined, options: RunOptions, context: CliContext): Promise<void> {
  const failUnder = share('--fail-under', options.failUnder);
  using interrupt = listenForInterrupt(() =>
    context.complain('Stopping: nothing new starts. Once more to end at once.'),
  );
  const opened = await openRunProject(file, options, context, interrupt.signal);
  try {
    const forecast =
      options.forecast === false
        ? undefined
        : await forecastProject(opened.project, { store: opened.store, pricesFrom: bundledPrices.date });
    if (options.json !== true) announce(opened, forecast, context);
    refuseSurprise(forecast, options);
    const { outcome, watch } = await play(opened, options, context, forecast, interrupt);
    const code = options.exitZero === true ? exitCodes.passed : codeOf(outcome, failUnder);
    context.exit(code);
    if (options.json !== true) tell(outcome, watch, forecast, code, context);
  } finally {
    await opened.close();
  }
}

function announce({ project, configs }: RunProject, forecast: Forecast | undefined, context: CliContext): void {
  const conversations = project.planned - (project.evals?.planned ?? 0);
  const parts = [
    ...(project.evals === undefined ? [] : [counted(project.evals.planned, 'test case')]),
    ...(project.batches.length === 0 ? [] : [counted(Math.max(0, conversations), 'conversation')]),
  ];
  context.complain(`${configs[0] ?? 'config'}  ok  (${parts.join(' + ')})`);
  if (forecast === undefined) return;
  context.complain(`\n${forecastTable(forecast, { width: context.screen?.columns() ?? 80 }).join('\n')}\n`);
}

/** Money is asked about before it is spent; without anybody to ask, `--yes` or a budget must have said it. */
function refuseSurprise(forecast: Forecast | undefined, options: RunOptions): void {
  const likely = forecast?.costUsdMicros?.likely ?? 0;
  if (likely <= askAboveUsdMicros || options.yes === true || options.budget !== undefined) return;
  throw new ParlaneError(
    'run/expensive',
    `This run is expected to cost about ${money(likely)}.`,
    'Run it with --yes, or set a cap with --budget.',
    { likely },
  );
}

async function play(
  { project, store, folder, workshop }: RunProject,
  options: RunOptions,
  context: CliContext,
  forecast: Forecast | undefined,
  interrupt: Interrupt,
): Promise<{ outcome: RunOutcome; watch: Watch }> {
  let lanes: Lanes | undefined;
  const watch = watchRun(context, {
    title: project.name,
    ...(options.json === undefined ? {} : { json: options.json }),
    ...(options.plain === undefined ? {} : { plain: options.plain }),
    ...(forecast === undefined ? {} : { forecast }),
    lanes: () => lanes,
    onStop: () => process.kill(process.pid, 'SIGINT'),
  });
  const control = await serveControl(folder, (request) => {
    if (lanes === undefined)
      throw new ParlaneError('ctl/not-yet', 'The run has not begun yet.', 'Ask again in a moment.');
    return new RunControl(lanes, { name: project.name }).answer(request);
  });
  try {
    const outcome = await runPlan(
      {
        name: project.name,
        snapshot: project.snapshot,
        cases: project.cases(),
        planned: project.planned,
        traits: project.traits,
        settings: project.settings,
      },
      {
        store,
        clock: workshop.clock,
        provider: project.provider,
        lanes: ({ onEvent }) => {
          lanes = project.lanes(onEvent);
          return lanes;
        },
        runners: project.runners,
        observers: [(event: RunEvent) => watch.observe(event)],
        signal: interrupt.signal,
        owner: thisProcess(),
        ownerAlive: (owner) => isAlive(owner, workshop.clock.now()),
      },
    );
    return { outcome, watch };
  } finally {
    control.close();
    await watch.finish();
  }
}

function codeOf(outcome: RunOutcome, failUnder: number | undefined): number {
  const code = exitCodeOf(outcome);
  if (failUnder === undefined || code !== exitCodes.failed) return code;
  const { passed, failed } = outcome.totals;
  return passed / Math.max(1, passed + failed) >= failUnder ? exitCodes.passed : code;
}

function tell(
  outcome: RunOutcome,
  watch: Watch,
  forecast: Forecast | undefined,
  code: number,
  context: CliContext,
): void {
  const lines = summaryLines({
    state: watch.state,
    width: watch.width,
    style: watch.style,
    exitCode: code,
    command: 'npx parlane',
    ...(forecast === undefined ? {} : { expectedMs: forecast.timeMs.likely }),
    ...(outcome.complete ? {} : { resumeCommand: `npx parlane resume ${outcome.run}` }),
  });
  context.print(`${lines.join('\n')}\nrun ${outcome.run}`);
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[config]', 'a config file or folder (default: the one in this folder)')
    .option('--only <pattern>', 'cases by number or by a part of their name')
    .option('--tag <tags...>', 'cases with one of these tags')
    .option('--failed', 'cases that did not pass last time')
    .option('--errors', 'cases that ended in an error last time')
    .option('--repeat <n>', 'each case so often')
    .option('--budget <usd>', 'a spend cap, in dollars; the run stops there and can be resumed')
    .option('--max-time <time>', 'the run stops after this long and can be resumed: 90s, 15m')
    .option('-j, --max-concurrency <n>', 'most calls in flight over all lanes (default: each lane has its own limit)')
    .option('--fail-under <share>', 'exit with 0 when at least this share passed: 95%')
    .option('--exit-zero', 'exit with 0 whatever the checks say')
    .option('--yes', 'do not ask about the expected cost')
    .option('--no-forecast', 'start at once')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane run\n  parlane run --failed --repeat 5\n  parlane run promptfooconfig.yaml --budget 2 --fail-under 95%\n',
    )
    .action((file: string | undefined, options: RunOptions) => run(file, options, context));
}
