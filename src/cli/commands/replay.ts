import type { Command } from 'commander';
import { counted } from '../../domain/measures.ts';
import { realClock } from '../../platform/clock.ts';
import { cut, singleLine } from '../../reporters/terminal/text-width.ts';
import type { Difference } from '../../run/differences.ts';
import { type ReplayOutcome, replayCase } from '../../run/replay-case.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodes } from '../exit-code.ts';
import { type FoundCase, findCase } from '../find-case.ts';
import { storeOption, withStore } from '../open-project-store.ts';
import { revive } from '../revivers.ts';

interface ReplayOptions {
  readonly run?: string;
  readonly store?: string;
  readonly json?: boolean;
}

const word = (value: unknown): string => (value === undefined ? 'nothing' : singleLine(JSON.stringify(value)));

const differenceLines = ({ at, recorded, actual }: Difference, width: number): string[] => [
  `  ${at === '' ? 'request' : at}`,
  cut(`    recorded  ${word(recorded)}`, width),
  cut(`    now       ${word(actual)}`, width),
];

function lines(outcome: ReplayOutcome, found: FoundCase, steps: number, width: number): string[] {
  if (outcome.kind === 'differs') {
    const missing = outcome.recorded === undefined ? ' was never made when it was recorded' : ' differs';
    return [
      `#${found.shown} ${singleLine(found.row.name)}   differs. Nothing was sent.`,
      `The request ${outcome.path}${missing}:`,
      ...outcome.differences.flatMap((one) => differenceLines(one, width)),
    ];
  }
  const same = `#${found.shown} ${singleLine(found.row.name)}   identical: ${counted(steps, 'recorded request')} made again in the same words. Nothing was sent.`;
  if (outcome.row.status === found.row.status) return [same];
  return [same, `Its checks say ${outcome.row.status} now; they said ${found.row.status}.`];
}

async function replay(name: string, options: ReplayOptions, context: CliContext): Promise<void> {
  await withStore(context, options.store, async (store) => {
    const found = await findCase(store, name, options.run);
    const { run, row, shown } = found;
    const revived = await revive(await run.record(), await run.snapshot(), context, store);
    try {
      const outcome = await replayCase(run, row.index, revived.runners, realClock);
      const { answers } = await run.history(row.index);
      const steps = [...answers.values()].filter(({ kind }) => kind !== 'clock' && kind !== 'random').length;
      if (options.json === true) context.print(JSON.stringify({ run: run.id, case: shown, steps, ...outcome }));
      else context.print(lines(outcome, found, steps, context.terminal.columns).join('\n'));
      const differs = outcome.kind === 'differs' || outcome.row.status !== row.status;
      context.exit(differs ? exitCodes.failed : exitCodes.passed);
    } finally {
      await revived.close();
    }
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('<case>', 'its number (7 or #7), its name, or a fork of it (18f1)')
    .option('--run <run>', 'of this run instead of the newest')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane replay 18\n  parlane replay scenario/angry-client --run baseline\n  parlane replay 18f1 --json\n',
    )
    .action((name: string, options: ReplayOptions) => replay(name, options, context));
}
