import type { Command } from 'commander';
import type { Case } from '../../domain/case.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import { counted } from '../../domain/measures.ts';
import type { Row } from '../../domain/row.ts';
import { casesOf, didNotPass } from '../../run/again.ts';
import { findRun, runPlan } from '../../run/run-plan.ts';
import { inheritedSettings } from '../../run/run-settings.ts';
import type { RunStore, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-code.ts';
import { findCase } from '../find-case.ts';
import { chooseShownRun, storeOption, withStore } from '../open-project-store.ts';
import { storeFolder } from '../open-run-project.ts';
import { hostOn, listenForStop, playWatched, showFor } from '../play-watched.ts';
import { reviveToPlay } from '../revivers.ts';
import { outcomeJson, tellRun } from '../tell-run.ts';

interface RetryOptions {
  readonly run?: string;
  readonly errors?: boolean;
  readonly store?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

interface Wanted {
  readonly run: RunStore;
  readonly cases: readonly Case[];
}

async function named(store: Store, names: readonly string[], options: RetryOptions): Promise<Wanted> {
  const found = await Promise.all(names.map((name) => findCase(store, name, options.run)));
  const [first] = found;
  if (first === undefined || found.some(({ run }) => run.id !== first.run.id))
    throw new ParlaneError('retry/two-runs', 'These cases are of different runs.', 'Retry those of one run at a time.');
  const indexes = new Set(found.map(({ row }) => row.index));
  return { run: first.run, cases: await casesOf(first.run, ({ index }) => indexes.has(index)) };
}

/** How many cases of a run have not ended; theirs is `resume`, which pays nothing twice. */
async function openCount(run: RunStore): Promise<number> {
  const [{ status, planned }, counts] = [await run.record(), await run.rowCounts()];
  if (status === 'complete') return 0;
  const known = planned ?? (await run.caseCount()).cases;
  return Math.max(counts.provisional, known - (counts.total - counts.provisional));
}

const goOnWith = (run: RunId): string => `go on with parlane resume ${run}`;

async function failed(store: Store, options: RetryOptions, context: CliContext): Promise<Wanted> {
  const run = await findRun(store, (await chooseShownRun(store, options.run)).id);
  const broke = ({ status }: Row): boolean => status === 'error';
  const wanted = options.errors === true ? broke : didNotPass;
  const cases = await casesOf(run, (row) => row.provisional !== true && wanted(row));
  const open = await openCount(run);
  if (cases.length > 0) {
    if (open > 0) context.complain(`${counted(open, 'case stays', 'cases stay')} open: ${goOnWith(run.id)}.`);
    return { run, cases };
  }
  throw nothingToRetry(run.id, options.errors === true ? 'No case ended in an error' : undefined, open);
}

function nothingToRetry(run: RunId, noErrors: string | undefined, open: number): ParlaneError {
  if (open === 0) {
    const what = `${noErrors ?? 'Every case passed'} in ${run}.`;
    return new ParlaneError('retry/nothing', what, 'Name cases to run them again: parlane retry 7.', { run });
  }
  const what = `${noErrors ?? 'No case has failed'} in ${run}, and ${counted(open, 'case is', 'cases are')} open.`;
  return new ParlaneError('retry/open', what, `They are not lost: ${goOnWith(run)}.`, { run, open });
}

async function retry(names: readonly string[], options: RetryOptions, context: CliContext): Promise<void> {
  await withStore(context, options.store, async (store) => {
    const { run, cases } =
      names.length > 0 ? await named(store, names, options) : await failed(store, options, context);
    const record = await run.record();
    const snapshot = await run.snapshot();
    const { maxDurationMs: _, ...inherited } = inheritedSettings(record.options);
    const settings = { ...inherited, from: run.id, again: 'retry' as const };
    using interrupt = listenForStop(context);
    const revived = await reviveToPlay(record, snapshot, context, store);
    try {
      const watched = {
        title: record.name,
        store,
        folder: storeFolder(context, options.store),
        show: showFor(options),
      };
      // Numbers and keys stay, so that the new rows can be looked up and compared like the old ones.
      const { result, watch } = await playWatched(context, watched, interrupt, (stage) =>
        runPlan({ name: record.name, snapshot, cases, settings }, hostOn(stage, store, revived)),
      );
      const code = exitCodeOf(result);
      context.exit(code);
      if (options.json === true) context.print(JSON.stringify({ ...outcomeJson(result), of: run.id }));
      else await tellRun(result, { watch, code, store, folder: storeFolder(context, options.store) }, context);
    } finally {
      await revived.close();
    }
  });
}

export function define(command: Command, context: CliContext): void {
  command
    .argument('[case...]', 'numbers or names; all that ended and did not pass unless told')
    .option('--run <run>', 'of this run instead of the newest')
    .option('--errors', 'only cases that ended in an error')
    .option(...storeOption)
    .addHelpText(
      'before',
      'Examples:\n  parlane retry\n  parlane retry 7 18\n  parlane retry --errors --run baseline\n',
    )
    .action((names: readonly string[], options: RetryOptions) => retry(names, options, context));
}
