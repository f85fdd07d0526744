/** The store over any SQL database that Kysely speaks to; SQLite opens it in `open-store.ts`. */
import { caseIndex, type LaneKey, type RunId, runId } from '../domain/ids.ts';
import type { LearnedLimit } from '../domain/lane.ts';
import { canonicalJson, contentHash } from './checksum.ts';
import { deletions } from './delete-run.ts';
import { newRunRecord, recordCells, recordOf } from './run-body.ts';
import { type SqlParts, SqlRunStore } from './sql-run-store.ts';
import type { Answer, ForkRecord, Length, NewRun, RunRecord, RunStore, Store } from './store.ts';
import { answerCells } from './stored-answer.ts';

export class SqlStore implements Store {
  readonly location: string;
  readonly #parts: SqlParts;
  readonly #close: () => Promise<void>;

  constructor(location: string, parts: SqlParts, close: () => Promise<void>) {
    this.location = location;
    this.#parts = parts;
    this.#close = close;
  }

  async createRun(run: NewRun): Promise<RunStore> {
    const { group, statements } = this.#parts;
    const body = canonicalJson(run.snapshot);
    const hash = contentHash(body);
    const record = newRunRecord(run, hash);
    await group.add([statements.put('blobs', { hash, body }), statements.put('runs', recordCells(record))], true);
    const created = await this.openRun(run.id);
    if (created === undefined) throw new Error(`run ${run.id} vanished after it was created`);
    return created;
  }

  async openRun(id: RunId): Promise<RunStore | undefined> {
    const { db, statements } = this.#parts;
    const run = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
    if (run === undefined) return undefined;
    statements.sound('runs', run);
    const last = await db
      .selectFrom('events')
      .selectAll()
      .where('run', '=', run.number)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const nextEvent = last === undefined ? 0 : last.seq + statements.sound('events', last).body.split('\n').length;
    return new SqlRunStore(id, run.number, nextEvent, this.#parts);
  }

  async runs(): Promise<readonly RunRecord[]> {
    const found = await this.#parts.db
      .selectFrom('runs')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('number', 'desc')
      .execute();
    return found.map((cells) => recordOf(this.#parts.statements.sound('runs', cells)));
  }

  async deleteRun(id: RunId): Promise<void> {
    const others = (await this.runs()).filter((run) => run.id !== id);
    await this.#parts.group.add(deletions(await this.#number(id), others), true);
    await this.#parts.compact?.();
  }

  async saveLimits(lane: LaneKey, limits: readonly LearnedLimit[]): Promise<void> {
    const writes = limits.map((limit) =>
      this.#parts.statements.put('lane_limits', { lane, resource: limit.resource, body: JSON.stringify(limit) }),
    );
    await this.#parts.group.add(writes, true);
  }

  async limits(lane: LaneKey): Promise<readonly LearnedLimit[]> {
    const found = await this.#parts.db
      .selectFrom('lane_limits')
      .selectAll()
      .where('lane', '=', lane)
      .orderBy('resource')
      .execute();
    return found.map((cells) => JSON.parse(this.#parts.statements.sound('lane_limits', cells).body) as LearnedLimit);
  }

  async saveLengths(lengths: readonly Length[]): Promise<void> {
    const writes = lengths.map((length) =>
      this.#parts.statements.put('lengths', { family: length.family, name: length.name, body: JSON.stringify(length) }),
    );
    await this.#parts.group.add(writes, false);
  }

  async lengths(family: string): Promise<readonly Length[]> {
    const found = await this.#parts.db
      .selectFrom('lengths')
      .selectAll()
      .where('family', '=', family)
      .orderBy('name')
      .execute();
    return found.map((cells) => JSON.parse(this.#parts.statements.sound('lengths', cells).body) as Length);
  }

  async saveFork(fork: ForkRecord, kept: readonly Answer[]): Promise<void> {
    const { group, statements } = this.#parts;
    const [run, parent] = [await this.#number(fork.run), await this.#number(fork.parent)];
    await group.add(
      [
        statements.put('forks', { run, parent, idx: fork.index, keep: fork.keep }),
        ...kept.map((answer) => statements.put('answers', answerCells(run, { ...answer, pinned: true }))),
      ],
      true,
    );
  }

  async #number(id: RunId): Promise<number> {
    const run = await this.#parts.db.selectFrom('runs').select('number').where('id', '=', id).executeTakeFirstOrThrow();
    return run.number;
  }

  async forks(): Promise<readonly ForkRecord[]> {
    const { db, statements } = this.#parts;
    const ids = new Map(
      (await db.selectFrom('runs').select(['number', 'id']).execute()).map((run) => [run.number, runId(run.id)]),
    );
    const found = await db.selectFrom('forks').selectAll().orderBy('run').execute();
    return found.flatMap((cells) => {
      const { run, parent, idx, keep } = statements.sound('forks', cells);
      const [from, to] = [ids.get(parent), ids.get(run)];
      return from === undefined || to === undefined ? [] : [{ run: to, parent: from, index: caseIndex(idx), keep }];
    });
  }

  flush(): Promise<void> {
    return this.#parts.group.drain();
  }

  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#close();
  }
}
