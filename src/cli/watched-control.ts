/** What `ctl` can ask of a run that is watched: its lanes, how far it is, and how each of its cases stands. */
import { type CaseIndex, runId } from '../domain/ids.ts';
import type { LiveState } from '../reporters/terminal/live-state.ts';
import type { Lanes } from '../run/lanes.ts';
import { storedRow } from '../run/read-run.ts';
import { type CaseState, RunControl } from '../run/run-control.ts';
import type { Store } from '../store/store.ts';

const progressOf = (name: string, { run, planned, completed, passed, failed, errors }: LiveState) => ({
  name,
  run,
  planned,
  completed,
  passed,
  failed,
  errors,
});

/** Of a plan that is still being made, a case that is not kept yet may come. */
async function caseState(store: Store, { run: id, planned }: LiveState, index: CaseIndex): Promise<CaseState> {
  const run = index < 0 || id === '' ? undefined : await store.openRun(runId(id));
  if (run === undefined) return { known: index >= 0 };
  const row = (await storedRow(run, index))?.row;
  if (row !== undefined && row.provisional !== true) return { known: true, ended: row.status };
  if ((await run.case(index)) !== undefined) return { known: true };
  return { known: index < planned && (await run.caseCount()).cases < planned };
}

export const controlOf = (
  lanes: Lanes,
  { title, store }: { readonly title: string; readonly store: Store },
  state: LiveState,
): RunControl => new RunControl(lanes, progressOf(title, state), (index) => caseState(store, state, index));
