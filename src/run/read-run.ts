/** A stored run as reports and comparisons read it: as streams, never as a whole. */
import type { Case, Column } from '../domain/case.ts';
import type { CaseIndex, EpochMillis, Millis } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import type { RunEvent, RunTotals } from '../domain/run-event.ts';
import type { RunStore, StoredEvent, StoredRow } from '../store/store.ts';
import type { CasedRow } from './case-runner.ts';
import { totalsOf } from './tally.ts';

export interface StoredRunInfo {
  readonly id: string;
  readonly title: string;
  readonly startedAt: EpochMillis;
  readonly durationMs: Millis | undefined;
  readonly totals: RunTotals;
  readonly complete: boolean;
  readonly efficiency?: RunEfficiency;
  readonly columns: readonly Column[];
}

const page = 500;

/** All rows in plan order, with what their cases left to later ones. */
export async function* storedRows(run: RunStore): AsyncGenerator<StoredRow> {
  for (let after = -1; ; ) {
    const rows = await run.rows({ after, limit: page });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.row.index;
  }
}

/** All rows in plan order. */
export async function* rowsOf(run: RunStore): AsyncGenerator<Row> {
  for await (const { row } of storedRows(run)) yield row;
}

/** The prompt cases' rows with their cases, in plan order. */
export async function* casedRows(run: RunStore): AsyncGenerator<CasedRow> {
  for await (const row of rowsOf(run)) {
    const planned = await run.case(row.index);
    if (planned?.kind === 'prompt') yield { case: planned, row };
  }
}

/** The cases that have no final row, in plan order, page by page. */
export async function* openCasePages(run: RunStore): AsyncGenerator<readonly Case[]> {
  for (let after = -1; ; ) {
    const open = await run.openCases({ byIndex: true, after, limit: page });
    const last = open.at(-1);
    if (last === undefined) return;
    yield open.map(({ case: one }) => one);
    after = last.case.index;
  }
}

/** The row of one case; undefined while it has none. */
export async function storedRow(run: RunStore, index: CaseIndex): Promise<StoredRow | undefined> {
  const [found] = await run.rows({ after: index - 1, limit: 1 });
  return found?.row.index === index ? found : undefined;
}

async function whole(
  run: RunStore,
  event: StoredEvent,
  columns: ReadonlyMap<number, Column>,
): Promise<RunEvent | undefined> {
  if (event.type === 'case-start') {
    const { column: position, ...rest } = event;
    const column = position === undefined ? undefined : columns.get(position);
    return column === undefined ? rest : { ...rest, column };
  }
  if (event.type !== 'case-end') return event;
  const found = await storedRow(run, event.index);
  return found === undefined ? undefined : { ...event, row: found.row };
}

/** All events in the order in which they happened. */
export async function* eventsOf(run: RunStore): AsyncGenerator<RunEvent> {
  const columns = new Map((await run.columns()).map((column) => [column.position, column]));
  for (let after = 0; ; ) {
    const { events, next } = await run.events({ after, limit: 50 });
    for (const event of events) {
      const told = await whole(run, event, columns);
      if (told !== undefined) yield told;
    }
    if (events.length === 0) return;
    after = next;
  }
}

/** The run as a whole and as streams; both streams start anew with every call. */
export const readRun = (run: RunStore) => ({
  async info(): Promise<StoredRunInfo> {
    const record = await run.record();
    const counts = await run.rowCounts();
    return {
      id: run.id,
      title: record.name,
      startedAt: record.createdAt,
      durationMs: record.workedMs,
      totals: totalsOf(record.planned ?? counts.total, counts),
      complete: record.status === 'complete',
      ...(record.efficiency === undefined ? {} : { efficiency: record.efficiency }),
      columns: await run.columns(),
    };
  },
  rows: () => rowsOf(run),
  events: () => eventsOf(run),
});
