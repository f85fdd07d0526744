import type { Command } from 'commander';
import { rescoreRun } from '../../run/again.ts';
import { findRun } from '../../run/run-plan.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { chooseShownRun, storeOption, withStore } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { hostOn, listenForStop, playWatched, showFor } from '../play-watched.ts';
import { revive } from '../revivers.ts';
import { outcomeJson, tellRun } from '../tell-run.ts';

interface RescoreOptions {
  readonly judgeModel?: string;
  readonly store?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

async function rescore(name: string | undefined, options: RescoreOptions, context: CliContext): Promise<void> {
  await withStore(context, options.store, async (store) => {
    const record = await chooseShownRun(store, name);
    const snapshot = await (await findRun(store, record.id)).snapshot();
    using interrupt = listenForStop(context);
    const revived = await revive(record, snapshot, context, store);
    try {
      const judge = options.judgeModel;
      if (judge !== undefined) await revived.provider(judge);
      const scoring = judge === undefined ? {} : { judge: { provider: judge } };
      const watched = {
        title: `${record.name}, scored again`,
        store,
        folder: storeFolder(context, options.store),
        show: showFor(options),
      };
      const { result, watch } = await playWatched(context, watched, interrupt, (stage) =>
        rescoreRun(record.id, scoring, hostOn(stage, store, revived)),
      );
      const code = exitCodeOf(result);
      // A retry of what was only scored would score it again, too.
      const again = `rescore ${record.id}${judge === undefined ? '' : ` --judge-model ${judge}`}`;
      context.exit(code);
      if (options.json === true) context.print(JSON.stringify({ ...outcomeJson(result), of: record.id }));
      else await tellRun(result, { watch, code, store, folder: storeFolder(context, options.store), again }, context);
    } finally {
      await revived.close();
    }
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[run]', 'the newest unless told')
    .option('--judge-model <id>', 'who judges now (default: as before)')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane rescore\n  parlane rescore baseline --judge-model openai:gpt-4.1\n  parlane rescore 20261115-2031 --json\n',
    )
    .action((name: string | undefined, options: RescoreOptions) => rescore(name, options, context));
}
