import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { counted } from '../../domain/measures.ts';
import { realClock } from '../../platform/clock.ts';
import { retryRun } from '../../run/retry-run.ts';
import { findRun, type RunOutcome, resumeRun } from '../../run/run-plan.ts';
import { settingsOf } from '../../run/run-settings.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { countWords } from '../count-words.ts';
import { exitCodeOf } from '../exit-code.ts';
import { openWork } from '../expected-work.ts';
import { chooseRun, openExistingStore, storeOption } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { hostOn, listenForStop, playWatched, showFor } from '../play-watched.ts';
import { type Revived, type RunFiles, reviveToPlay } from '../revivers.ts';
import { closeness, outcomeJson, stopCause, tellEnd } from '../tell-run.ts';
import { checkOutput, writeRunFile } from './export.ts';

interface ResumeOptions {
  readonly store?: string;
  readonly budget?: string;
  readonly output?: readonly string[];
  readonly errorsToo?: boolean;
  readonly json?: boolean;
  readonly plain?: boolean;
}

const parseBudget = (text: string | undefined): { budgetUsdMicros?: number } => {
  if (text === undefined) return {};
  const dollars = Number(text);
  if (Number.isFinite(dollars) && dollars > 0) return { budgetUsdMicros: Math.round(dollars * 1e6) };
  throw new ParlaneError('cli/bad-budget', `"${text}" is not a budget.`, 'Write dollars, for example --budget 5.');
};

const summary = (outcome: RunOutcome): string => {
  const { totals, complete } = outcome;
  const counts = `${counted(totals.planned, 'case')}: ${countWords(totals)}`;
  return complete ? [counts, ...closeness(outcome)].join('\n') : `${counts}\nStopped (${stopCause(outcome)}).`;
};

async function resume(
  store: Store,
  name: string | undefined,
  options: ResumeOptions,
  context: CliContext,
): Promise<RunOutcome> {
  const again = options.errorsToo === true;
  const record = await chooseRun(store, name, ({ status }) => again || status !== 'complete');
  const changes = parseBudget(options.budget);
  using interrupt = listenForStop(context);
  const revived = await reviveToPlay(record, await (await findRun(store, record.id)).snapshot(), context, store);
  const files = revived.outputs ?? runFiles(store, record.id, context);
  const outputs = options.output ?? settingsOf(record.options).outputs ?? [];
  const startedAt = realClock.now();
  const watched = { title: record.name, store, folder: storeFolder(context, options.store), show: showFor(options) };
  try {
    for (const path of outputs) files.check(path);
    await makeProviders(store, record.id, revived);
    const { cases } = revived;
    const left = again ? {} : { expected: await openWork(await findRun(store, record.id), revived.provider) };
    const { result } = await playWatched(context, { ...watched, ...left }, interrupt, (stage) =>
      again
        ? retryRun(record.id, hostOn(stage, store, revived), { cases, changes })
        : resumeRun(record.id, hostOn(stage, store, revived), cases, changes),
    );
    const problem = await revived.finished?.(await findRun(store, record.id), realClock.now() - startedAt);
    if (problem !== undefined) context.complain(problem);
    for (const path of outputs) await files.write(path, result, startedAt);
    if (options.json !== true) for (const path of outputs) context.complain(`Written: ${path}`);
    return result;
  } finally {
    await revived.close();
  }
}

/** A provider that cannot be made is told while no case of it has become an error. */
async function makeProviders(store: Store, id: RunId, { provider }: Revived): Promise<void> {
  for (const name of await (await findRun(store, id)).providers()) {
    try {
      await provider(name);
    } catch (error) {
      if (!(error instanceof ParlaneError) || error.code !== 'provider/missing-key') throw error;
      const { what, code, fields } = error;
      const cure = `${error.cure} A key that stands in a config is not kept with its runs; parlane eval --resume ${id} reads the config again.`;
      throw new ParlaneError(code, what, cure, fields);
    }
  }
}

/** The files that `run` writes. */
const runFiles = (store: Store, id: RunId, context: CliContext): RunFiles => ({
  check: (output) => checkOutput(output, context.cwd),
  async write(output) {
    await writeRunFile(store, await (await findRun(store, id)).record(), { output }, context);
  },
});

async function run(name: string | undefined, options: ResumeOptions, context: CliContext): Promise<void> {
  const store = await openExistingStore(context, options.store);
  if (store === undefined) {
    await chooseRun(undefined, name);
    return;
  }
  try {
    const outcome = await resume(store, name, options, context);
    const code = exitCodeOf(outcome);
    context.exit(code);
    if (options.json === true) context.print(JSON.stringify(outcomeJson(outcome)));
    else {
      context.print(summary(outcome));
      await tellEnd(outcome, { code, store, folder: storeFolder(context, options.store) }, context);
    }
  } finally {
    await store.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[run]', 'its name, or the beginning or end of it; the newest unfinished one unless told')
    .option(...storeOption)
    .option('--errors-too', 'ask again what ended in an error, also of a complete run')
    .option('-o, --output <files...>', 'write the results to these files (default: those the run was started with)')
    .option('--budget <usd>', 'another spend cap for the whole run, in dollars')
    .addHelpText(
      'before',
      'Examples:\n  parlane resume\n  parlane resume 20261115-2031 --budget 5 -o report.html\n  parlane resume --errors-too\n',
    )
    .action((name: string | undefined, options: ResumeOptions) => run(name, options, context));
}
