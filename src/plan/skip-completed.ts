import type { Case } from '../domain/case.ts';
import type { CaseKey } from '../domain/ids.ts';

/** Leaves out what an earlier execution of the same plan finished. Keys decide, so the order may differ. */
export function* skipCompleted<T extends Case>(cases: Iterable<T>, completed: ReadonlySet<CaseKey>): Generator<T> {
  for (const planned of cases) if (!completed.has(planned.key)) yield planned;
}
