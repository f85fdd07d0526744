import { counted } from '../domain/measures.ts';
import { cancelledOf, type RunTotals } from '../domain/run-event.ts';

/** What came of the cases of a run, in the same words wherever they are counted. */
export function countWords(totals: Omit<RunTotals, 'planned'>): string {
  const cancelled = cancelledOf(totals);
  return [
    `${totals.passed} passed`,
    `${totals.failed} failed`,
    counted(totals.errors, 'error'),
    `${totals.skipped} skipped`,
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
    `${totals.open ?? 0} open`,
  ].join(', ');
}
