import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { Forecast } from '../../domain/forecast.ts';
import { counted, duration, money } from '../../domain/measures.ts';
import { bundledPrices } from '../../providers/prices.ts';
import { forecastTable } from '../../reporters/terminal/forecast-table.ts';
import { styleFor } from '../../reporters/terminal/style.ts';
import { forecastProject } from '../../run/forecast-project.ts';
import { findRun } from '../../run/run-plan.ts';
import type { RunRecord } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { chosenConfig } from '../config-argument.ts';
import { wholeNumber } from '../number-option.ts';
import { storeOption } from '../open-project-store.ts';
import { openRunProject, type RunProject } from '../open-run-project.ts';
import { pilotCases, playProject } from '../play-project.ts';
import { listenForStop, playWatched, showFor } from '../play-watched.ts';
import { addProjectFlags, type ProjectFlags } from '../run-options.ts';
import type { ScenarioFlags } from '../scenario-suite.ts';

interface Pilot {
  readonly run: RunRecord;
  readonly cases: number;
  readonly usdMicros: number | null;
}

interface PlanOptions extends ProjectFlags, ScenarioFlags {
  readonly pilot?: string;
  readonly plain?: boolean;
  readonly store?: string;
  readonly whatIf?: readonly string[];
  readonly json?: boolean;
}

const sooner = (before: Forecast, after: Forecast): string => {
  const by = before.timeMs.likely - after.timeMs.likely;
  const words =
    Math.abs(by) < 500 ? 'as long as without it' : `${duration(Math.abs(by))} ${by > 0 ? 'sooner' : 'later'}`;
  const decides = after.decidedBy === undefined ? '' : `; ${after.decidedBy} then decides`;
  return `With that: ${duration(after.timeMs.likely)} instead of ${duration(before.timeMs.likely)}, ${words}${decides}.`;
};

/** Plays a few cases for real, so that the forecast knows how long they are; what they cost is told. */
async function playPilot(opened: RunProject, count: number, options: PlanOptions, context: CliContext): Promise<Pilot> {
  using interrupt = listenForStop(context);
  const cases = await pilotCases(opened, count);
  if (options.json !== true) context.complain(`Pilot: ${counted(cases.length, 'case')} for real.`);
  const { project, store, folder } = opened;
  const watched = { title: `${project.name}, pilot`, store, folder, show: showFor(options) };
  const { result } = await playWatched(context, watched, interrupt, (stage) => playProject(opened, cases, stage));
  if (!result.complete)
    throw new ParlaneError('plan/pilot-stopped', 'The pilot was stopped.', `Go on: parlane resume ${result.run}.`);
  const run = await findRun(opened.store, result.run);
  const { usdMicros, unknown } = await run.spent();
  return { run: await run.record(), cases: cases.length, usdMicros: unknown > 0 ? null : usdMicros };
}

async function plan(file: string | undefined, options: PlanOptions, context: CliContext): Promise<void> {
  const count = wholeNumber('--pilot', options.pilot);
  const { signal } = new AbortController();
  const opened = await openRunProject(chosenConfig(file, options.config), options, context, signal);
  try {
    const pilot = count === undefined ? undefined : await playPilot(opened, count, options, context);
    const basis = { store: opened.store, pricesFrom: bundledPrices.date, ...(pilot === undefined ? {} : { pilot }) };
    const forecast = await forecastProject(opened.project, basis);
    const changed =
      options.whatIf === undefined
        ? undefined
        : await forecastProject(opened.project, { ...basis, whatIf: options.whatIf });
    const sent =
      pilot === undefined ? {} : { pilot: { run: pilot.run.id, cases: pilot.cases, usdMicros: pilot.usdMicros } };
    if (options.json === true) {
      const without = changed === undefined ? {} : { without: forecast };
      context.print(JSON.stringify({ ...(changed ?? forecast), ...without, ...sent }));
      return;
    }
    const table = forecastTable(changed ?? forecast, {
      width: context.terminal.columns,
      style: styleFor({ isTTY: context.terminal.isTTY, env: context.env }),
    });
    context.print(
      [...table, ...(changed === undefined ? [] : [sooner(forecast, changed)]), sentWords(pilot)].join('\n'),
    );
  } finally {
    await opened.close();
  }
}

const sentWords = (pilot: Pilot | undefined): string =>
  pilot === undefined
    ? 'Nothing was sent.'
    : `Sent: the pilot of ${counted(pilot.cases, 'case')}, ${money(pilot.usdMicros)}. It is run ${pilot.run.id}.`;

export function define(command: Command, context: CliContext): void {
  addProjectFlags(command)
    .option('--what-if <change...>', 'with another limit: openai.rpm=1000')
    .option('--pilot <n>', 'run so many cases of the plan for real first, over all columns, and forecast from them')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane plan\n  parlane plan --what-if openai.rpm=1000\n  parlane plan --set "providers[0]=openai:gpt-5-mini" --json\n  parlane plan --pilot 5\n',
    )
    .action((file: string | undefined, options: PlanOptions) => plan(file, options, context));
}
