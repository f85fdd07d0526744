/** The run's own proof that every planned case has exactly one row, before it says that it is done. */
import { ParlaneError } from '../domain/errors.ts';
import type { RunTotals } from '../domain/run-event.ts';
import type { RowCounts } from '../store/store.ts';

/** A row that a resume replaces counts as open, whatever it says meanwhile. */
export const totalsOf = (
  planned: number,
  { final, provisional }: Pick<RowCounts, 'final' | 'provisional'>,
): RunTotals => ({
  planned,
  passed: final.passed,
  failed: final.failed,
  errors: final.error,
  skipped: final.skipped,
  aborted: final.aborted + provisional,
  open: provisional,
});

/** `reported`: cases whose end was told to observers, in this and in earlier processes of the run. */
export function checkTally(planned: number, counts: RowCounts, reported: number): RunTotals {
  const totals = totalsOf(planned, counts);
  const sum = totals.passed + totals.failed + totals.errors + totals.skipped + totals.aborted;
  if (sum === planned && counts.total === planned && reported === planned) return totals;
  throw new ParlaneError(
    'bug/rows',
    `${planned} cases were planned, but ${counts.total} rows are stored, ${sum} are counted and ${reported} were reported.`,
    'This is a bug in Parlane; the store keeps every answer.',
    { planned, stored: counts.total, counted: sum, reported },
  );
}
