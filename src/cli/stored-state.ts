/** A run as its rows tell it, earlier sittings included, in the shape in which a run that is watched tells itself. */
import { type LiveState, liveState, reduceLive } from '../reporters/terminal/live-state.ts';
import { rowsOf } from '../run/read-run.ts';
import { findRun, type RunOutcome } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';

export type RunEnd = Pick<RunOutcome, 'run' | 'totals' | 'complete' | 'need'>;

export async function storedState(store: Store, { run: id, totals, complete }: RunEnd): Promise<LiveState> {
  const state = liveState();
  const run = await findRun(store, id);
  const { createdAt: at } = await run.record();
  const { planned } = totals;
  reduceLive(state, { type: 'run-start', run: id, at, planned, resumed: false });
  for await (const row of rowsOf(run)) {
    const { index, status, provisional } = row;
    if (provisional !== true)
      reduceLive(state, { type: 'case-end', index, at, status, row, completed: state.completed + 1, total: planned });
  }
  reduceLive(state, { type: 'run-end', run: id, at, totals, complete });
  return state;
}
