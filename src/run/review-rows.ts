/** Rows looked at together, once every case has its own: some checks compare the answers of a test's columns. */
import type { Row } from '../domain/row.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { RunStore } from '../store/store.ts';
import type { ModelLanes } from './model-lanes.ts';

/** Gives back the rows whose verdict changes when they are looked at together. */
export type Review = (run: RunStore, lanes: ModelLanes, signal: AbortSignal) => AsyncIterable<Row>;

/** Makes the review and keeps it; false when it was stopped, and then nothing of it is kept. */
export async function reviewRows(
  review: Review,
  run: RunStore,
  lanes: ModelLanes,
  { signal, now, emit }: { signal: AbortSignal; now: () => number; emit: (event: RunEvent) => void },
): Promise<boolean> {
  const revised: Row[] = [];
  for await (const row of review(run, lanes, signal)) revised.push(row);
  if (signal.aborted) return false;
  for (const row of revised) {
    const [before] = await run.rows({ after: row.index - 1, limit: 1 });
    if (before?.row.index !== row.index) continue;
    await run.reviseRow(row);
    const { index, name, status } = row;
    const reason = row.error?.message ?? row.verdict?.reason ?? '';
    if (status !== before.row.status)
      emit({ type: 'case-revise', index, name, at: now(), was: before.row.status, status, reason });
  }
  return true;
}
