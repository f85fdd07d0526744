/** Rows for the cases that a stopped run leaves open: shown in every output, replaced when the run is resumed. */
import type { Case } from '../domain/case.ts';
import { assertNever } from '../domain/errors.ts';
import { type Row, rowIdentity } from '../domain/row.ts';
import type { StopReason } from '../domain/run-event.ts';
import type { RunStore } from '../store/store.ts';
import type { Measures } from './case-sums.ts';
import { openCasePages, storedRow } from './read-run.ts';
import { measures } from './row-so-far.ts';
import type { RunSettings } from './run-settings.ts';

function explain(reason: StopReason, settings: RunSettings): string {
  switch (reason) {
    case 'max-duration':
      return settings.wording === 'promptfoo'
        ? `Evaluation exceeded max duration of ${settings.maxDurationMs}ms`
        : 'The time of the run was up before this case was done.';
    case 'budget':
      return 'The budget left no room for the next call of this case.';
    case 'interrupted':
      return 'The run was interrupted before this case was done.';
    case 'parked':
      return 'The run stopped because its remaining lanes are parked.';
    case 'storage':
      return 'The run stopped because its store failed.';
    default:
      return assertNever(reason);
  }
}

const nothing: Measures = { latencyMs: 0, queueMs: 0, backoffMs: 0, attempts: 0, costUsdMicros: 0 };

const rowFor = (one: Case, measured: Measures, reason: StopReason, settings: RunSettings): Row => ({
  ...rowIdentity(one),
  status: 'aborted',
  error: { code: reason, message: explain(reason, settings) },
  score: null,
  output: null,
  ...measured,
  provisional: true,
});

/** Writes them page by page, each with what its case took so far, and tells each one. Rows that wait for a comparison are shown as they are. */
export async function leaveProvisionalRows(
  run: RunStore,
  reason: StopReason,
  settings: RunSettings,
  tell: (row: Row) => void,
  waits: (index: Row['index']) => boolean = () => false,
): Promise<void> {
  const begun = await run.begun();
  for await (const open of openCasePages(run)) {
    const rows = await Promise.all(
      open.map(async (one) => {
        const held = waits(one.index) ? (await storedRow(run, one.index))?.row : undefined;
        if (held !== undefined) return held;
        const measured = begun.has(one.index) ? measures(await run.steps(one.index)) : nothing;
        const row = rowFor(one, measured, reason, settings);
        await run.saveRow(row);
        return row;
      }),
    );
    rows.forEach(tell);
  }
}
