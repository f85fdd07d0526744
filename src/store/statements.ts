/** The store's writes: compiled once, filled with values many times. */
import type { Insertable, Kysely } from 'kysely';
import { rowChecksum } from './checksum.ts';
import type { Write } from './group-commit.ts';
import type { Schema } from './schema.ts';
import { damaged } from './store-errors.ts';

type Cell = string | number | null;
type TableName = Exclude<keyof Schema, 'commits'>;
export type Cells<T extends TableName> = Omit<Schema[T], 'crc' | 'number'>;

/** Columns of each table in the order in which their checksum is taken. */
const columns: { readonly [T in TableName]: readonly (keyof Cells<T> & string)[] } = {
  runs: ['id', 'created_at', 'body'],
  blobs: ['hash', 'body'],
  messages: ['hash', 'parent', 'body'],
  cases: ['run', 'idx', 'position', 'key', 'col', 'provider', 'kind', 'serial', 'stateful', 'body'],
  intents: ['run', 'idx', 'path', 'send', 'kind', 'request_hash', 'request', 'history', 'sent_at', 'reserved'],
  answers: [
    'run',
    'idx',
    'path',
    'send',
    'kind',
    'request_hash',
    'value',
    'raw',
    'provider',
    'role',
    'input_tokens',
    'output_tokens',
    'cost',
    'started_at',
    'ended_at',
    'queue_ms',
    'backoff_ms',
    'latency_ms',
    'attempts',
    'billing',
    'pinned',
  ],
  rows: ['run', 'idx', 'status', 'provisional', 'body', 'writes'],
  events: ['run', 'seq', 'body'],
  lane_limits: ['lane', 'resource', 'body'],
  lengths: ['family', 'name', 'body'],
  forks: ['run', 'parent', 'idx', 'keep'],
};

/** What happens when the row is already there. */
const conflicts: { readonly [T in TableName]?: { keys: readonly string[]; update: boolean; unlessFinal?: true } } = {
  runs: { keys: ['id'], update: true },
  blobs: { keys: ['hash'], update: false },
  messages: { keys: ['hash'], update: false },
  rows: { keys: ['run', 'idx'], update: true, unlessFinal: true },
  lane_limits: { keys: ['lane', 'resource'], update: true },
  lengths: { keys: ['family', 'name'], update: true },
};

function compile(db: Kysely<Schema>, table: TableName): string {
  const names = [...columns[table], 'crc'];
  const placeholders = Object.fromEntries(names.map((name) => [name, 0])) as unknown as Insertable<Schema['blobs']>;
  const insert = db.insertInto(table as 'blobs').values(placeholders);
  const conflict = conflicts[table];
  if (conflict === undefined) return insert.compile().sql;
  const keys = conflict.keys as readonly 'hash'[];
  if (!conflict.update) return insert.onConflict((on) => on.columns(keys).doNothing()).compile().sql;
  return insert
    .onConflict((on) => {
      const update = on.columns(keys).doUpdateSet((build) => {
        const rest = names.filter((name) => !conflict.keys.includes(name));
        return Object.fromEntries(rest.map((name) => [name, build.ref(`excluded.${name}` as 'excluded.body')]));
      });
      return conflict.unlessFinal ? update.where('rows.provisional' as 'blobs.crc', '=', 1) : update;
    })
    .compile().sql;
}

export class Statements {
  readonly #sql = new Map<TableName, { sql: string; trailing: readonly Cell[] }>();
  readonly #db: Kysely<Schema>;
  readonly #file: string;

  constructor(db: Kysely<Schema>, file: string) {
    this.#db = db;
    this.#file = file;
  }

  put<T extends TableName>(table: T, cells: Cells<T>): Write {
    let compiled = this.#sql.get(table);
    if (compiled === undefined) {
      compiled = { sql: compile(this.#db, table), trailing: conflicts[table]?.unlessFinal ? [1] : [] };
      this.#sql.set(table, compiled);
    }
    const values = this.#cells(table, cells);
    values.push(rowChecksum(values), ...compiled.trailing);
    return { sql: compiled.sql, values };
  }

  /** Gives the row back when its checksum holds. */
  sound<T extends TableName>(table: T, row: Schema[T]): Schema[T] {
    if (rowChecksum(this.#cells(table, row)) !== row.crc) {
      throw damaged(this.#file, `a row of "${table}" is not what was written`);
    }
    return row;
  }

  #cells<T extends TableName>(table: T, row: Cells<T> | Schema[T]): Cell[] {
    const cells = row as unknown as Record<string, Cell>;
    return columns[table].map((name) => cells[name] ?? null);
  }
}
