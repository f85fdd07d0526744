/** One run's part of a SQL store. */
import { type Kysely, sql } from 'kysely';
import type { Case, Column } from '../domain/case.ts';
import { type CaseIndex, caseIndex, type RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row, RowStatus } from '../domain/row.ts';
import { forgetting, written } from './forget-answers.ts';
import type { GroupCommit, Write } from './group-commit.ts';
import { changedRecord, recordCells, recordOf } from './run-body.ts';
import type { RowsTable, Schema } from './schema.ts';
import { readSpent, readSpentByRole } from './spent-reader.ts';
import type { Statements } from './statements.ts';
import { readSteps } from './step-reader.ts';
import type {
  Answer,
  CaseQuery,
  CaseWrites,
  Intent,
  PlacedCase,
  RoleSpent,
  RowCounts,
  RunChange,
  RunOwner,
  RunRecord,
  RunStore,
  Spent,
  StepHistory,
  StepRecord,
  StoredEvent,
  StoredRow,
} from './store.ts';
import { answerCells, answerOf } from './stored-answer.ts';
import { StoredPlan } from './stored-plan.ts';

/** What the store and its runs share. */
export interface SqlParts {
  readonly db: Kysely<Schema>;
  readonly group: GroupCommit;
  readonly statements: Statements;
  /** Gives back the room of what was deleted, and overwrites it; does nothing while somebody else is at work. */
  readonly compact?: () => Promise<void>;
}

const statuses: readonly RowStatus[] = ['passed', 'failed', 'error', 'skipped', 'aborted'];

export class SqlRunStore implements RunStore {
  readonly id: RunId;
  readonly #run: number;
  readonly #parts: SqlParts;
  readonly #plan: StoredPlan;
  /** Ordinal of the next event; events are written in chunks, each named by its first. */
  #nextEvent: number;
  #changing: Promise<void> = Promise.resolve();

  constructor(id: RunId, run: number, nextEvent: number, parts: SqlParts) {
    this.id = id;
    this.#run = run;
    this.#nextEvent = nextEvent;
    this.#parts = parts;
    this.#plan = new StoredPlan(id, run, parts);
  }

  async record(): Promise<RunRecord> {
    const cells = await this.#parts.db
      .selectFrom('runs')
      .selectAll()
      .where('number', '=', this.#run)
      .executeTakeFirstOrThrow();
    return recordOf(this.#parts.statements.sound('runs', cells));
  }

  change(change: RunChange): Promise<void> {
    const write = async (): Promise<void> => {
      const next = changedRecord(await this.record(), change);
      await this.#write([this.#parts.statements.put('runs', recordCells(next))], true);
    };
    // One after another: each change is made to what the last one left.
    const done = this.#changing.then(write);
    this.#changing = done.catch(() => {});
    return done;
  }

  async claim(owner: RunOwner, mayTake: (other: RunOwner) => boolean): Promise<RunOwner | undefined> {
    for (;;) {
      const old = await this.record();
      if (old.owner !== undefined && !mayTake(old.owner)) return old.owner;
      const next = recordCells(changedRecord(old, { owner, status: 'running', stopReason: null }));
      const crc = this.#parts.statements.put('runs', next).values.at(-1) as number;
      const done = await this.#parts.db
        .updateTable('runs')
        .set({ body: next.body, crc })
        .where('number', '=', this.#run)
        .where('body', '=', recordCells(old).body)
        .executeTakeFirst();
      if (done.numUpdatedRows === 1n) return undefined;
    }
  }

  async snapshot(): Promise<Json> {
    const { snapshot } = await this.record();
    const blob = await this.#parts.db
      .selectFrom('blobs')
      .selectAll()
      .where('hash', '=', snapshot)
      .executeTakeFirstOrThrow();
    return JSON.parse(this.#parts.statements.sound('blobs', blob).body) as Json;
  }

  addCases(cases: readonly PlacedCase[]): Promise<void> {
    return this.#plan.add(cases);
  }

  openCases(query: CaseQuery): Promise<readonly PlacedCase[]> {
    return this.#plan.open(query);
  }

  openCounts(): Promise<ReadonlyMap<string, number>> {
    return this.#plan.openCounts();
  }

  case(index: CaseIndex): Promise<Case | undefined> {
    return this.#plan.case(index);
  }

  caseCount(): Promise<{ cases: number; nextPosition: number }> {
    return this.#plan.count();
  }

  traits(): Promise<{ serial: boolean; stateful: boolean }> {
    return this.#plan.traits();
  }

  async columns(): Promise<readonly Column[]> {
    return (await this.columnCases()).map(({ column }) => column);
  }

  columnCases(): Promise<readonly Case[]> {
    return this.#plan.columnCases();
  }

  providers(): Promise<readonly string[]> {
    return this.#plan.providers();
  }

  intend(intent: Intent): Promise<void> {
    const { statements } = this.#parts;
    const writes: Write[] = [];
    for (const node of intent.request.unwritten) {
      writes.push(statements.put('messages', { hash: node.hash, parent: node.parent, body: node.body }));
      node.written = true;
      node.body = '';
    }
    writes.push(
      statements.put('intents', {
        run: this.#run,
        idx: intent.index,
        path: intent.path,
        send: intent.send,
        kind: intent.kind,
        request_hash: intent.request.hash,
        request: intent.request.rest,
        history: intent.request.history,
        sent_at: intent.sentAt,
        reserved: intent.reservedUsdMicros,
      }),
    );
    return this.#write(writes, false);
  }

  answer(answer: Answer): Promise<void> {
    return this.#write([this.#parts.statements.put('answers', answerCells(this.#run, answer))], true);
  }

  note(answer: Answer): void {
    // A failure reaches everybody who waits for a later write, so nothing is used that was not kept.
    this.#write([this.#parts.statements.put('answers', answerCells(this.#run, answer))], false).catch(() => {});
  }

  async history(index: CaseIndex): Promise<StepHistory> {
    const { db, statements } = this.#parts;
    const found = await db
      .selectFrom('answers')
      .selectAll()
      .where('run', '=', this.#run)
      .where('idx', '=', index)
      .orderBy('send')
      .execute();
    const sent = await db
      .selectFrom('intents')
      .select(['path', 'send'])
      .where('run', '=', this.#run)
      .where('idx', '=', index)
      .orderBy('send')
      .execute();
    return {
      answers: new Map(found.map((cells) => [cells.path, answerOf(statements.sound('answers', cells))])),
      sends: new Map(sent.map(({ path, send }) => [path, send])),
    };
  }

  async begun(): Promise<ReadonlySet<CaseIndex>> {
    const found = await sql<{ idx: number }>`
      select idx from intents where run = ${this.#run} union select idx from answers where run = ${this.#run}
      except select idx from rows where run = ${this.#run} and provisional = 0`.execute(this.#parts.db);
    return new Set(found.rows.map(({ idx }) => caseIndex(idx)));
  }

  steps(index: CaseIndex): Promise<readonly StepRecord[]> {
    return readSteps(this.#parts, this.#run, index);
  }

  spent(): Promise<Spent> {
    return readSpent(this.#parts.db, this.#run);
  }

  spentByRole(): Promise<readonly RoleSpent[]> {
    return readSpentByRole(this.#parts.db, this.#run);
  }

  saveRow(row: Row, writes?: CaseWrites): Promise<void> {
    return this.#write([this.#parts.statements.put('rows', this.#rowCells(row, writes))], true);
  }

  saveRows(rows: readonly StoredRow[]): Promise<void> {
    const { statements } = this.#parts;
    return this.#write(
      rows.map(({ row, writes }) => statements.put('rows', this.#rowCells(row, writes))),
      true,
    );
  }

  #rowCells(row: Row, writes?: CaseWrites): Omit<RowsTable, 'crc'> {
    return {
      run: this.#run,
      idx: row.index,
      status: row.status,
      provisional: row.provisional === true ? 1 : 0,
      body: JSON.stringify(row),
      writes: writes === undefined ? null : JSON.stringify(writes),
    };
  }

  async reopen(index: CaseIndex, keep: (answer: Answer) => boolean): Promise<void> {
    const { db, statements } = this.#parts;
    const [stored] = await this.rows({ after: index - 1, limit: 1 });
    if (stored === undefined || stored.row.index !== index) return;
    const forgotten = [...(await this.history(index)).answers.values()].filter((answer) => !keep(answer));
    const removeRow = db.deleteFrom('rows').where('run', '=', this.#run).where('idx', '=', index);
    const row: Row = { ...stored.row, provisional: true };
    await this.#write(
      [
        ...(await forgetting(this.#parts, this.#run, forgotten)),
        written(removeRow),
        statements.put('rows', this.#rowCells(row)),
      ],
      true,
    );
  }

  async rows({ after, limit }: { after: number; limit: number }): Promise<readonly StoredRow[]> {
    const found = await this.#parts.db
      .selectFrom('rows')
      .selectAll()
      .where('run', '=', this.#run)
      .where('idx', '>', after)
      .orderBy('idx')
      .limit(limit)
      .execute();
    return found.map((cells) => {
      const { body, writes } = this.#parts.statements.sound('rows', cells);
      return { row: JSON.parse(body) as Row, ...(writes === null ? {} : { writes: JSON.parse(writes) as CaseWrites }) };
    });
  }

  async rowCounts(): Promise<RowCounts> {
    const found = await this.#parts.db
      .selectFrom('rows')
      .select(({ fn }) => ['status', 'provisional', fn.countAll().as('rows')])
      .where('run', '=', this.#run)
      .groupBy(['status', 'provisional'])
      .execute();
    const of = (test: (one: (typeof found)[number]) => boolean): number =>
      found.filter(test).reduce((sum, { rows }) => sum + Number(rows), 0);
    const byStatus = (rows: typeof of): Record<RowStatus, number> =>
      Object.fromEntries(statuses.map((status) => [status, rows((one) => one.status === status)])) as Record<
        RowStatus,
        number
      >;
    return {
      ...byStatus(of),
      final: byStatus((test) => of((one) => one.provisional === 0 && test(one))),
      total: of(() => true),
      provisional: of(({ provisional }) => provisional === 1),
    };
  }

  log(events: readonly StoredEvent[]): void {
    if (events.length === 0) return;
    const body = events.map((event) => JSON.stringify(event)).join('\n');
    const seq = this.#nextEvent;
    this.#nextEvent += events.length;
    this.#write([this.#parts.statements.put('events', { run: this.#run, seq, body })], false).catch(() => {});
  }

  async events({ after, limit }: { after: number; limit: number }): Promise<{ events: StoredEvent[]; next: number }> {
    const found = await this.#parts.db
      .selectFrom('events')
      .selectAll()
      .where('run', '=', this.#run)
      .where('seq', '>=', after)
      .orderBy('seq')
      .limit(limit)
      .execute();
    const events = found.flatMap((cells) =>
      this.#parts.statements
        .sound('events', cells)
        .body.split('\n')
        .map((line) => JSON.parse(line) as StoredEvent),
    );
    return { events, next: (found[0]?.seq ?? after) + events.length };
  }

  #write(writes: readonly Write[], durable: boolean): Promise<void> {
    return this.#parts.group.add(writes, durable);
  }
}
