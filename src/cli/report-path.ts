import { dirname, join } from 'node:path';
import type { RunId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';

/** Where the live view writes a run's report: beside the store, so that it stays private and goes with its run. */
export const reportPath = (store: Store, run: RunId): string =>
  join(dirname(store.location), `report-${run.replaceAll(/[^\w.-]/g, '_')}.html`);
