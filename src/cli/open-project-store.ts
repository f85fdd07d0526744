/** The store that a command works on: the project's own, or the one that `--store` names. */
import { join, resolve } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import { defaultStoreFolder, openStore, storeExists } from '../store/open-store.ts';
import type { RunRecord, Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { nearestTo } from './nearest-word.ts';

export const storeOption = ['--store <folder>', `where runs are kept (default: ${defaultStoreFolder})`] as const;

/** The existing store; undefined when the project has none yet. A store that was named must be there. */
export async function openExistingStore(context: CliContext, named: string | undefined): Promise<Store | undefined> {
  const at = named === undefined ? join(context.cwd, defaultStoreFolder) : resolve(context.cwd, named);
  if (storeExists(at)) return openStore({ at });
  if (named === undefined) return undefined;
  throw new ParlaneError('store/missing', `There is no store at ${at}.`, 'Check the path after --store.', { at });
}

const noRuns = (): ParlaneError =>
  new ParlaneError('run/none', 'There are no runs here yet.', 'Start one first, or name the folder with --store.');

/** Words that stand for a run, beside its id and the name somebody gave it. A fork is never the latest. */
const pointers: Readonly<Record<string, (run: RunRecord, forks: ReadonlySet<string>) => boolean>> = {
  latest: ({ id }, forks) => !forks.has(id),
  baseline: ({ baseline }) => baseline === true,
};

/** Beginnings of the ids that runs have: `2026`, `20261115-2031`. */
const idBeginning = /^20\d{2}\d{0,4}(?:-\d{0,6}(?:-[0-9a-f]{0,4})?)?$/;

/** Refuses to call a run what already means another thing, or will when there are more runs. */
export function refuseUnclearName(name: string, runs: readonly RunRecord[]): void {
  const refuse = (code: string, what: string): never => {
    throw new ParlaneError(code, what, 'Choose another name, for example before-the-rewrite.', { name });
  };
  if (Object.hasOwn(pointers, name)) refuse('run/name-reserved', `"${name}" is a word for a run already.`);
  const isPart = name.length >= 4 && runs.some(({ id }) => id.startsWith(name) || id.endsWith(name));
  if (isPart || idBeginning.test(name)) refuse('run/name-reserved', `"${name}" is a part of run ids.`);
}

/** Everything a text may mean, best reading first; the first reading that finds something counts. */
function readings(runs: readonly RunRecord[], name: string, forks: ReadonlySet<string>): RunRecord[] {
  const pointer = Object.hasOwn(pointers, name) ? pointers[name] : undefined;
  const all: RunRecord[][] = [
    runs.filter(({ id }) => id === name),
    runs.filter(({ label }) => label === name),
    pointer === undefined ? [] : runs.filter((run) => pointer(run, forks)).slice(0, 1),
    name.length < 4 ? [] : runs.filter(({ id }) => id.startsWith(name) || id.endsWith(name)),
  ];
  return all.find((found) => found.length > 0) ?? [];
}

function unknownRun(runs: readonly RunRecord[], found: readonly RunRecord[], name: string): ParlaneError {
  if (name === 'baseline')
    return new ParlaneError('run/no-baseline', 'No run is the baseline.', 'Make one: parlane runs baseline <run>.');
  const what = found.length === 0 ? `There is no run "${name}".` : `"${name}" could be ${found.length} runs.`;
  const names = runs.flatMap(({ id, label }) => (label === undefined ? [id] : [id, label]));
  const near = found.length === 0 ? nearestTo(name, names) : undefined;
  const known = (found.length === 0 ? runs : found).slice(0, 5).map(({ id }) => id);
  const cure = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}? Known: ${known.join(', ')}.`;
  return new ParlaneError('run/unknown', what, cure, { name, known, nearest: near ?? null });
}

/** The run that a person means: by id, beginning or end of it, label, `latest`, `baseline`; else the newest that fits. */
export async function chooseRun(
  store: Store | undefined,
  name: string | undefined,
  fits: (run: RunRecord) => boolean = () => true,
): Promise<RunRecord> {
  const runs = (await store?.runs()) ?? [];
  if (runs.length === 0) throw noRuns();
  if (name === undefined) {
    const newest = runs.find(fits);
    if (newest !== undefined) return newest;
    throw new ParlaneError(
      'run/nothing-to-do',
      'No run is waiting to be resumed: all are complete.',
      'See "parlane runs".',
    );
  }
  const found = readings(runs, name, new Set((await store?.forks())?.map(({ run }) => run)));
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only;
  throw unknownRun(runs, found, name);
}

/** The runs of the project itself, newest first: forks belong to the run they come from. */
export async function ownRuns(store: Store | undefined): Promise<readonly RunRecord[]> {
  if (store === undefined) return [];
  const forks = new Set((await store.forks()).map(({ run }) => run));
  return (await store.runs()).filter(({ id }) => !forks.has(id));
}

/** A run to look at: the one that is named, else the newest that is not a fork. */
export async function chooseShownRun(store: Store | undefined, name: string | undefined): Promise<RunRecord> {
  if (name !== undefined && name !== 'latest') return chooseRun(store, name);
  const [newest] = await ownRuns(store);
  if (newest === undefined) throw noRuns();
  return newest;
}

/** Opens the project's store for one piece of work and closes it whatever happens; refuses when there is none. */
export async function withStore<T>(
  context: CliContext,
  named: string | undefined,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openExistingStore(context, named);
  if (store === undefined) throw noRuns();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
