/** The report of a run that is going on: everything that has ended so far, as one file, shown to the person. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../domain/ids.ts';
import { findRun } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { writeRunFile } from './commands/export.ts';
import { reportPath } from './report-path.ts';

const placeFor = (store: Store, run: RunId): string =>
  store.location === ':memory:' ? join(mkdtempSync(join(tmpdir(), 'parlane-')), 'report.html') : reportPath(store, run);

/** Writes it, opens it where there is a browser, and says where it is. */
export async function openReport(store: Store, run: RunId, context: CliContext): Promise<string> {
  const output = placeFor(store, run);
  const record = await (await findRun(store, run)).record();
  await writeRunFile(store, record, { format: 'html', output }, context);
  const opened = (await context.openFile?.(output)) ?? false;
  return `Report so far${opened ? ', opened in the browser' : ''}: ${output}`;
}
