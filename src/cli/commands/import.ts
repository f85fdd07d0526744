import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { importOpenAi, importTauBench } from '../../conversation/import-tau-bench.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { realClock } from '../../platform/clock.ts';
import { problemsError } from '../../prompts/specification-manager.ts';
import { importRun } from '../../run/import-run.ts';
import { defaultStoreFolder, openStore } from '../../store/open-store.ts';
import type { CliContext } from '../cli-context.ts';
import { storeOption } from '../open-project-store.ts';
import { readNamedFile } from '../read-scenarios.ts';

interface ImportOptions {
  readonly format?: string;
  readonly name?: string;
  readonly store?: string;
  readonly json?: boolean;
}

const formats = { 'tau-bench': importTauBench, openai: importOpenAi } as const;

function readerOf(format: string | undefined): (typeof formats)[keyof typeof formats] {
  if (format === 'tau-bench' || format === 'openai') return formats[format];
  const known = Object.keys(formats).join(' or ');
  throw new ParlaneError(
    'cli/bad-format',
    format === undefined ? 'Which format?' : `"${format}" is not a format.`,
    `Say --format ${known}.`,
    { format: format ?? null },
  );
}

async function run(file: string, options: ImportOptions, context: CliContext): Promise<void> {
  const read = readerOf(options.format);
  const now = realClock.now();
  const { conversations, problems } = read(file, await readNamedFile(context, file), now);
  if (problems.length > 0) throw problemsError(`Nothing was imported from ${file}:`, problems);
  if (conversations.length === 0)
    throw new ParlaneError('import/empty', `There are no conversations in ${file}.`, '', { file });
  const store = await openStore({
    at: options.store === undefined ? join(context.cwd, defaultStoreFolder) : resolve(context.cwd, options.store),
  });
  try {
    const id = await importRun(store, {
      name: options.name ?? basename(file),
      format: options.format ?? '',
      conversations,
      now,
    });
    if (options.json === true) context.print(JSON.stringify({ run: id, conversations: conversations.length }));
    else context.print(`run ${id}: ${conversations.length} conversations\nIts numbers: parlane summary ${id}`);
  } finally {
    await store.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('<file>', 'recorded conversations')
    .option(
      '--format <format>',
      'tau-bench (a JSON list of trajectories) or openai (messages, one conversation a line)',
    )
    .option('--name <name>', "the run's name (default: the file's)")
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane import trajectories.json --format tau-bench\n  parlane import log.jsonl --format openai --json\n  parlane import log.jsonl --format openai --name last-week\n',
    )
    .action((file: string, options: ImportOptions) => run(file, options, context));
}
