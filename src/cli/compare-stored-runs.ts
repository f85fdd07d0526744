/** Two stored runs -> their comparison; rows stream by, so that memory grows with cases and not with their texts. */

import { type Comparison, compareRuns } from '../compare/compare-runs.ts';
import { type RunSide, runSide } from '../compare/run-side.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { singleLine } from '../reporters/terminal/text-width.ts';
import { readRun } from '../run/read-run.ts';
import { findRun } from '../run/run-plan.ts';
import type { RunRecord, Store } from '../store/store.ts';
import { chooseRun, chooseShownRun, ownRuns } from './open-project-store.ts';

/** What a run is called in comparisons: the name somebody gave it, else its id. */
const runTitle = ({ id, label }: RunRecord): string =>
  label === undefined ? `run ${id}` : `run "${singleLine(label)}"`;

async function sideOf(store: Store, record: RunRecord): Promise<RunSide> {
  const reader = readRun(await findRun(store, record.id));
  const side = runSide(runTitle(record), record.workedMs);
  for await (const row of reader.rows()) side.add(row);
  return side.build();
}

/** What a run is measured against unless told: the baseline, else the run before it; of the same suite where there is one. */
async function findPartner(store: Store, after: RunRecord): Promise<RunRecord | undefined> {
  const others = (await ownRuns(store)).filter(({ id }) => id !== after.id);
  const baseline = others.find((run) => run.baseline === true);
  if (baseline !== undefined) return baseline;
  const earlier = others.filter(
    ({ createdAt, id }) => createdAt < after.createdAt || (createdAt === after.createdAt && id < after.id),
  );
  return earlier.find(({ name }) => name === after.name) ?? earlier[0];
}

/** Whether `parlane compare` has something of the same suite, or a baseline, to compare this run with. */
export async function isComparable(store: Store, id: RunId): Promise<boolean> {
  const after = (await ownRuns(store)).find((run) => run.id === id);
  const before = after === undefined ? undefined : await findPartner(store, after);
  return before !== undefined && (before.baseline === true || before.name === after?.name);
}

async function partnerOf(store: Store, after: RunRecord): Promise<RunRecord> {
  const before = await findPartner(store, after);
  if (before !== undefined) return before;
  throw new ParlaneError(
    'compare/one-run',
    `There is no run before ${after.id} to compare it with.`,
    'Run once more, or name two runs: parlane compare <a> <b>.',
  );
}

/** The two runs that are meant. One name: that run against its partner. Two names: the second against the first. */
export async function choosePair(
  store: Store,
  first: string | undefined,
  second: string | undefined,
): Promise<{ readonly before: RunRecord; readonly after: RunRecord }> {
  if (first !== undefined && second !== undefined) {
    const [before, after] = [await chooseRun(store, first), await chooseRun(store, second)];
    if (before.id !== after.id) return { before, after };
    throw new ParlaneError('compare/same-run', `"${first}" and "${second}" are the same run.`, 'Name two runs.');
  }
  const after = await chooseShownRun(store, first);
  return { before: await partnerOf(store, after), after };
}

export async function compareStoredRuns(store: Store, before: RunRecord, after: RunRecord): Promise<Comparison> {
  return compareRuns(await sideOf(store, before), await sideOf(store, after));
}
