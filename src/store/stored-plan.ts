/** The plan of a run as a SQL store keeps it: its cases, which of them are open, and what can be said of them together. */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseIndex, type RunId } from '../domain/ids.ts';
import type { SqlParts } from './sql-run-store.ts';
import type { CaseQuery, PlacedCase } from './store.ts';

export class StoredPlan {
  readonly #id: RunId;
  readonly #run: number;
  readonly #parts: SqlParts;

  constructor(id: RunId, run: number, parts: SqlParts) {
    this.#id = id;
    this.#run = run;
    this.#parts = parts;
  }

  async add(cases: readonly PlacedCase[]): Promise<void> {
    const writes = cases.map(({ position, case: one }) =>
      this.#parts.statements.put('cases', {
        run: this.#run,
        idx: one.index,
        position,
        key: one.key,
        col: one.column.position,
        provider: one.column.provider,
        kind: one.kind,
        serial: one.serial === true ? 1 : 0,
        stateful: one.kind === 'prompt' && (one.storeAs !== undefined || one.conversationKey !== undefined) ? 1 : 0,
        body: JSON.stringify(one),
      }),
    );
    await this.#refuseKnown(cases);
    await this.#parts.group.add(writes, false);
  }

  async #refuseKnown(cases: readonly PlacedCase[]): Promise<void> {
    const keys = new Set(cases.map(({ case: one }) => one.key as string));
    const indices = new Set(cases.map(({ case: one }) => one.index as number));
    const known = await this.#parts.db
      .selectFrom('cases')
      .select(['idx', 'key'])
      .where('run', '=', this.#run)
      .where((either) => either.or([either('key', 'in', [...keys]), either('idx', 'in', [...indices])]))
      .executeTakeFirst();
    if (known === undefined && keys.size === cases.length && indices.size === cases.length) return;
    throw new ParlaneError(
      'plan/not-unique',
      `Two cases of the plan have the same key or index${known === undefined ? '' : ` (#${known.idx}, ${known.key})`}.`,
      'Give equal cases keys that end in #1, #2, and every case its own index.',
      { run: this.#id },
    );
  }

  async open(query: CaseQuery): Promise<readonly PlacedCase[]> {
    const order = query.byIndex === true ? 'cases.idx' : 'cases.position';
    let select = this.#open().selectAll('cases').where(order, '>', query.after);
    if (query.serial !== undefined) select = select.where('cases.serial', '=', query.serial ? 1 : 0);
    if (query.kind !== undefined) select = select.where('cases.kind', '=', query.kind);
    if (query.provider !== undefined) select = select.where('cases.provider', '=', query.provider);
    const found = await select.orderBy(order).limit(query.limit).execute();
    return found.map((cells) => ({
      position: cells.position,
      case: JSON.parse(this.#parts.statements.sound('cases', cells).body) as Case,
    }));
  }

  async openCounts(): Promise<ReadonlyMap<string, number>> {
    const found = await this.#open()
      .select(({ fn }) => ['cases.provider', fn.countAll().as('count')])
      .groupBy('cases.provider')
      .execute();
    return new Map(found.map(({ provider, count }) => [provider, Number(count)]));
  }

  async case(index: CaseIndex): Promise<Case | undefined> {
    const cells = await this.#parts.db
      .selectFrom('cases')
      .selectAll()
      .where('run', '=', this.#run)
      .where('idx', '=', index)
      .executeTakeFirst();
    return cells && (JSON.parse(this.#parts.statements.sound('cases', cells).body) as Case);
  }

  async count(): Promise<{ cases: number; nextPosition: number }> {
    const { cases, last } = await this.#parts.db
      .selectFrom('cases')
      .select(({ fn }) => [fn.countAll().as('cases'), fn.max('position').as('last')])
      .where('run', '=', this.#run)
      .executeTakeFirstOrThrow();
    return { cases: Number(cases), nextPosition: last === null ? 0 : Number(last) + 1 };
  }

  async traits(): Promise<{ serial: boolean; stateful: boolean }> {
    const { serial, stateful } = await this.#parts.db
      .selectFrom('cases')
      .select(({ fn }) => [fn.max('serial').as('serial'), fn.max('stateful').as('stateful')])
      .where('run', '=', this.#run)
      .executeTakeFirstOrThrow();
    return { serial: Number(serial) === 1, stateful: Number(stateful) === 1 };
  }

  async columnCases(): Promise<readonly Case[]> {
    const firsts = await this.#parts.db
      .selectFrom('cases')
      .select(({ fn }) => fn.min('idx').as('idx'))
      .where('run', '=', this.#run)
      .groupBy('col')
      .orderBy('col')
      .execute();
    const cases = await Promise.all(firsts.map(({ idx }) => this.case(caseIndex(idx))));
    return cases.filter((one) => one !== undefined);
  }

  async providers(): Promise<readonly string[]> {
    const found = await this.#parts.db
      .selectFrom('cases')
      .select('provider')
      .distinct()
      .where('run', '=', this.#run)
      .orderBy('provider')
      .execute();
    return found.map(({ provider }) => provider);
  }

  /** The cases that have no row, or one that will be replaced. */
  #open() {
    return this.#parts.db
      .selectFrom('cases')
      .leftJoin('rows', (join) => join.onRef('rows.run', '=', 'cases.run').onRef('rows.idx', '=', 'cases.idx'))
      .where('cases.run', '=', this.#run)
      .where((either) => either.or([either('rows.provisional', 'is', null), either('rows.provisional', '=', 1)]));
  }
}
