/** How an empty database becomes the newest schema: one list of steps, never edited once released, only added to. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';

type Migration = (db: Kysely<Schema>) => Promise<void>;

const first: Migration = async (db) => {
  const text = 'text' as const;
  const integer = 'integer' as const;
  const whole = 'bigint' as const;
  await db.schema
    .createTable('runs')
    .addColumn('number', integer, (column) => column.primaryKey())
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('created_at', whole, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('blobs')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('messages')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('parent', text, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('cases')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('idx', integer, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('key', text, (column) => column.notNull())
    .addColumn('col', integer, (column) => column.notNull())
    .addColumn('provider', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('serial', integer, (column) => column.notNull())
    .addColumn('stateful', integer, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('cases_pk', ['run', 'idx'])
    .execute();
  await db.schema
    .createIndex('cases_in_order')
    .on('cases')
    .columns(['run', 'serial', 'provider', 'position'])
    .execute();
  await db.schema.createIndex('cases_by_key').unique().on('cases').columns(['run', 'key']).execute();
  await db.schema
    .createTable('intents')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('idx', integer, (column) => column.notNull())
    .addColumn('path', text, (column) => column.notNull())
    .addColumn('send', integer, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('request_hash', text, (column) => column.notNull())
    .addColumn('request', text, (column) => column.notNull())
    .addColumn('history', text, (column) => column.notNull())
    .addColumn('sent_at', whole, (column) => column.notNull())
    .addColumn('reserved', 'double precision', (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('intents_pk', ['run', 'idx', 'path', 'send'])
    .execute();
  await db.schema
    .createTable('answers')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('idx', integer, (column) => column.notNull())
    .addColumn('path', text, (column) => column.notNull())
    .addColumn('send', integer, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('request_hash', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addColumn('raw', text)
    .addColumn('provider', text)
    .addColumn('role', text)
    .addColumn('input_tokens', whole)
    .addColumn('output_tokens', whole)
    .addColumn('cost', 'double precision')
    .addColumn('started_at', 'double precision', (column) => column.notNull())
    .addColumn('ended_at', 'double precision', (column) => column.notNull())
    .addColumn('queue_ms', 'double precision', (column) => column.notNull())
    .addColumn('backoff_ms', 'double precision', (column) => column.notNull())
    .addColumn('latency_ms', 'double precision', (column) => column.notNull())
    .addColumn('attempts', integer, (column) => column.notNull())
    .addColumn('billing', text, (column) => column.notNull())
    .addColumn('pinned', integer, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('answers_pk', ['run', 'idx', 'path', 'send'])
    .execute();
  await db.schema
    .createTable('rows')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('idx', integer, (column) => column.notNull())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('provisional', integer, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('writes', text)
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('rows_pk', ['run', 'idx'])
    .execute();
  await db.schema
    .createTable('events')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('seq', integer, (column) => column.notNull())
    .addColumn('body', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('events_pk', ['run', 'seq'])
    .execute();
  for (const [table, keys] of [
    ['lane_limits', ['lane', 'resource']],
    ['lengths', ['family', 'name']],
  ] as const) {
    await db.schema
      .createTable(table)
      .addColumn(keys[0], text, (column) => column.notNull())
      .addColumn(keys[1], text, (column) => column.notNull())
      .addColumn('body', text, (column) => column.notNull())
      .addColumn('crc', whole, (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_pk`, [...keys])
      .execute();
  }
  await db.schema
    .createTable('forks')
    .addColumn('run', integer, (column) => column.notNull())
    .addColumn('parent', integer, (column) => column.notNull())
    .addColumn('idx', integer, (column) => column.notNull())
    .addColumn('keep', text, (column) => column.notNull())
    .addColumn('crc', whole, (column) => column.notNull())
    .addPrimaryKeyConstraint('forks_pk', ['run'])
    .execute();
  await db.schema
    .createTable('commits')
    .addColumn('id', integer, (column) => column.primaryKey())
    .addColumn('seq', whole, (column) => column.notNull())
    .execute();
  await sql`insert into commits (id, seq) values (1, 0)`.execute(db);
};

const migrations: readonly Migration[] = [first];

/** Brings a database from `version` to the newest schema; the caller wraps it in one transaction. */
export async function migrate(db: Kysely<Schema>, version: number): Promise<void> {
  for (const step of migrations.slice(version)) await step(db);
}
