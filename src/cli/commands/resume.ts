import type { Command } from 'commander';
import { ParlaneError } from '../../domain/errors.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { realClock } from '../../platform/clock.ts';
import { listenForInterrupt } from '../../platform/interrupt.ts';
import { isAlive, thisProcess } from '../../platform/process-identity.ts';
import { findRun, type RunOutcome, resumeRun } from '../../run/run-plan.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { chooseRun, openExistingStore, storeOption } from '../open-project-store.ts';
import { revive } from '../revivers.ts';

interface ResumeOptions {
  readonly store?: string;
  readonly budget?: string;
  readonly json?: boolean;
}

const parseBudget = (text: string | undefined): { budgetUsdMicros?: number } => {
  if (text === undefined) return {};
  const dollars = Number(text);
  if (Number.isFinite(dollars) && dollars > 0) return { budgetUsdMicros: Math.round(dollars * 1e6) };
  throw new ParlaneError('cli/bad-budget', `"${text}" is not a budget.`, 'Write dollars, for example --budget 5.');
};

const summary = ({ run, totals, complete, stopReason }: RunOutcome): string => {
  const { planned, passed, failed, errors, skipped, aborted } = totals;
  const counts = `${planned} cases: ${passed} passed, ${failed} failed, ${errors} errors, ${skipped} skipped, ${aborted} open`;
  return complete ? counts : `${counts}\nStopped (${stopReason}). Go on with: parlane resume ${run}`;
};

/** A line for every twentieth of the plan. */
const progressLines = (context: CliContext) => {
  let told = -1;
  return (event: RunEvent): void => {
    if (event.type === 'warning') context.complain(event.message);
    if (event.type !== 'case-end' || event.row.provisional === true) return;
    const part = Math.floor((event.completed / event.total) * 20);
    if (part === told) return;
    told = part;
    context.complain(`${event.completed} of ${event.total}`);
  };
};

async function resume(
  store: Store,
  name: string | undefined,
  options: ResumeOptions,
  context: CliContext,
): Promise<RunOutcome> {
  const record = await chooseRun(store, name, ({ status }) => status !== 'complete');
  const changes = parseBudget(options.budget);
  const revived = await revive(record, await (await findRun(store, record.id)).snapshot(), context);
  using interrupt = listenForInterrupt(() => context.complain('Stopping; once more to end at once.'));
  try {
    const host = {
      ...revived,
      store,
      clock: realClock,
      signal: interrupt.signal,
      observers: options.json === true ? [] : [progressLines(context)],
      owner: thisProcess(),
      ownerAlive: (owner: Parameters<typeof isAlive>[0]) => isAlive(owner, realClock.now()),
    };
    return await resumeRun(record.id, host, revived.cases, changes);
  } finally {
    await revived.close();
  }
}

async function run(name: string | undefined, options: ResumeOptions, context: CliContext): Promise<void> {
  const store = await openExistingStore(context, options.store);
  if (store === undefined) {
    await chooseRun(undefined, name);
    return;
  }
  try {
    const outcome = await resume(store, name, options, context);
    const { error, ...rest } = outcome;
    if (options.json === true)
      context.print(JSON.stringify({ ...rest, ...(error === undefined ? {} : { error: error.message }) }));
    else context.print(summary(outcome));
    context.exit(exitCodeOf(outcome));
  } finally {
    await store.close();
  }
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[run]', 'its name, or the beginning or end of it; the newest unfinished one unless told')
    .option(...storeOption)
    .option('--budget <usd>', 'another spend cap for the whole run, in dollars')
    .addHelpText('before', 'Examples:\n  parlane resume\n  parlane resume 20261115-2031 --budget 5\n')
    .action((name: string | undefined, options: ResumeOptions) => run(name, options, context));
}
