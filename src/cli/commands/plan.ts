import type { Command } from 'commander';
import type { Forecast } from '../../domain/forecast.ts';
import { duration } from '../../domain/measures.ts';
import { bundledPrices } from '../../providers/prices.ts';
import { forecastTable } from '../../reporters/terminal/forecast-table.ts';
import { forecastProject } from '../../run/forecast-project.ts';
import type { CliContext } from '../cli-context.ts';
import { storeOption } from '../open-project-store.ts';
import { openRunProject } from '../open-run-project.ts';
import type { ProjectFlags } from '../run-options.ts';
import { styleOf } from '../watch-run.ts';

interface PlanOptions extends ProjectFlags {
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

async function plan(file: string | undefined, options: PlanOptions, context: CliContext): Promise<void> {
  const { signal } = new AbortController();
  const opened = await openRunProject(file, options, context, signal);
  try {
    const basis = { store: opened.store, pricesFrom: bundledPrices.date };
    const forecast = await forecastProject(opened.project, basis);
    const changed =
      options.whatIf === undefined
        ? undefined
        : await forecastProject(opened.project, { ...basis, whatIf: options.whatIf });
    if (options.json === true) {
      context.print(
        JSON.stringify({ ...(changed ?? forecast), ...(changed === undefined ? {} : { without: forecast }) }),
      );
      return;
    }
    const table = forecastTable(changed ?? forecast, { width: context.terminal.columns, style: styleOf(context) });
    context.print(
      [...table, ...(changed === undefined ? [] : [sooner(forecast, changed)]), 'Nothing was sent.'].join('\n'),
    );
  } finally {
    await opened.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[config]', 'a config file or folder (default: the one in this folder)')
    .option('--what-if <change...>', 'with another limit: openai.rpm=1000')
    .option('--only <pattern>', 'cases by number or by a part of their name')
    .option('--tag <tags...>', 'cases with one of these tags')
    .option('--repeat <n>', 'each case so often')
    .option('-j, --max-concurrency <n>', 'most calls in flight over all lanes')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane plan\n  parlane plan --what-if openai.rpm=1000\n  parlane plan evals/parlane.yaml --json\n',
    )
    .action((file: string | undefined, options: PlanOptions) => plan(file, options, context));
}
