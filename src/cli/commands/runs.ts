import type { Command } from 'commander';
import type { RunId } from '../../domain/ids.ts';
import type { RowCounts, RunRecord, Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { openExistingStore, storeOption } from '../open-project-store.ts';

interface RunsOptions {
  readonly store?: string;
  readonly limit: string;
  readonly json?: boolean;
}

interface Listed {
  readonly record: RunRecord;
  readonly counts: RowCounts;
}

async function list(store: Store, limit: number): Promise<Listed[]> {
  const records = (await store.runs()).slice(0, limit);
  return Promise.all(records.map(async (record) => ({ record, counts: await countsOf(store, record.id) })));
}

async function countsOf(store: Store, id: RunId): Promise<RowCounts> {
  const run = await store.openRun(id);
  if (run === undefined) throw new Error(`run ${id} vanished`);
  return run.rowCounts();
}

const word = ({ record, counts }: Listed): string => {
  const done = counts.total - counts.provisional;
  const of = record.planned === undefined ? `${done}` : `${done} of ${record.planned}`;
  return record.status === 'complete' ? `${done} done` : `${of} done, ${record.stopReason ?? 'not finished'}`;
};

const line = (one: Listed): string => {
  const { record, counts } = one;
  const when = new Date(record.createdAt).toISOString().slice(0, 16).replace('T', ' ');
  const verdict = `${counts.passed} passed, ${counts.failed} failed, ${counts.error} errors`;
  return `${record.id}  ${when}  ${record.status.padEnd(9)}  ${word(one)}; ${verdict}  ${record.name}`.trimEnd();
};

const asJson = ({ record, counts }: Listed): object => ({
  id: record.id,
  name: record.name,
  createdAt: new Date(record.createdAt).toISOString(),
  status: record.status,
  ...(record.stopReason === undefined ? {} : { stopReason: record.stopReason }),
  planned: record.planned ?? null,
  rows: counts,
});

async function run(options: RunsOptions, context: CliContext): Promise<void> {
  const store = await openExistingStore(context, options.store);
  const runs = store === undefined ? [] : await list(store, Number(options.limit));
  await store?.close();
  if (options.json === true) context.print(JSON.stringify({ runs: runs.map(asJson) }));
  else context.print(runs.length === 0 ? 'No runs yet.' : runs.map(line).join('\n'));
}

export function define(command: Command, context: CliContext): void {
  command
    .option(...storeOption)
    .option('--limit <n>', 'the newest n', '20')
    .addHelpText('before', 'Examples:\n  parlane runs\n  parlane runs --json --limit 5\n')
    .action((options: RunsOptions) => run(options, context));
}
