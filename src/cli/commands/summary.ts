import type { Command } from 'commander';
import { singleLine } from '../../reporters/terminal/text-width.ts';
import { findRun } from '../../run/run-plan.ts';
import { summarizeRun } from '../../run/summarize-run.ts';
import type { CliContext } from '../cli-context.ts';
import { chooseRun, openExistingStore, storeOption } from '../open-project-store.ts';
import { summaryText } from '../summary-text.ts';

interface SummaryOptions {
  readonly store?: string;
  readonly json?: boolean;
}

async function run(name: string | undefined, options: SummaryOptions, context: CliContext): Promise<void> {
  const store = await openExistingStore(context, options.store);
  try {
    const record = await chooseRun(store, name);
    if (store === undefined) return;
    const summary = await summarizeRun(await findRun(store, record.id));
    const { efficiency } = record;
    if (options.json === true)
      context.print(JSON.stringify({ run: record.id, name: record.name, ...summary, efficiency }));
    else {
      // A run that was stopped is not measured by what it would have taken.
      const close = record.status === 'complete' ? efficiency : undefined;
      const text = summaryText(summary, { efficiency: close, width: context.terminal.columns });
      context.print(`run ${record.id}  ${singleLine(record.name)}\n${text}`);
    }
  } finally {
    await store?.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[run]', 'its name, or the beginning or end of it; the newest unless told')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane summary\n  parlane summary baseline\n  parlane summary 20261115-2031 --json\n',
    )
    .action((name: string | undefined, options: SummaryOptions) => run(name, options, context));
}
