/** The store that a command works on: the project's own, or the one that `--store` names. */
import { join, resolve } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import { defaultStoreFolder, openStore, storeExists } from '../store/open-store.ts';
import type { RunRecord, Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';

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

/** The run that a person means: by its whole name, by its beginning, or the newest that fits when none is named. */
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
  const found = runs.filter(
    ({ id }) => id === name || (name.length >= 4 && (id.startsWith(name) || id.endsWith(name))),
  );
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only;
  const what = only === undefined ? `There is no run "${name}".` : `"${name}" could be ${found.length} runs.`;
  const near = (only === undefined ? runs : found).slice(0, 5).map(({ id }) => id);
  throw new ParlaneError('run/unknown', what, `Known: ${near.join(', ')}.`, { name, known: near });
}
