/**
 * Job: one SQLite file as a store has it: opened only when it is ours, sound and not newer than we are; transactions
 * with or without a sync to disk.
 * Not its job: what the tables mean.
 */
import { chmodSync, closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import type { CommitHooks, GroupTarget, Write } from './group-commit.ts';
import { migrate } from './migrations.ts';
import { type Schema, schemaVersion } from './schema.ts';
import { checkSeal, type Seal, SealWriter } from './seal.ts';
import { damaged, isBusy, StoreError, storeError } from './store-errors.ts';

/** "Parl" in the header of every store: tells it from any other SQLite file. */
const applicationId = 0x5061726c;

const foreign = (file: string): StoreError =>
  new StoreError(
    'store/foreign',
    `${file} is not a Parlane store.`,
    'Name another file or folder with --store; this one was left as it is.',
    { file },
  );

function refuseForeign(file: string): void {
  if (!statSync(file).isFile()) throw foreign(file);
  if (existsSync(`${file}-wal`)) return;
  const head = Buffer.alloc(100);
  const handle = openSync(file, 'r');
  const read = readSync(handle, head, 0, 100, 0);
  closeSync(handle);
  if (read === 0) return;
  if (read < 100 && existsSync(`${file}-seal`)) throw damaged(file, 'it is cut off');
  if (read < 100 || head.toString('latin1', 0, 15) !== 'SQLite format 3') throw foreign(file);
  const id = head.readUInt32BE(68);
  if (id !== applicationId && id !== 0) throw foreign(file);
}

export class SqliteFile implements GroupTarget {
  readonly file: string;
  readonly db: Kysely<Schema>;
  readonly #raw: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #seal: SealWriter | undefined;
  readonly #hooks: CommitHooks;
  #sync: 'full' | 'normal' = 'normal';
  #seq = 0;
  #commits = 0;

  private constructor(file: string, raw: DatabaseSync, seal: SealWriter | undefined, hooks: CommitHooks) {
    this.file = file;
    this.#raw = raw;
    this.#seal = seal;
    this.#hooks = hooks;
    this.db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: this.#forKysely() }) });
  }

  /** Opens or creates; every refusal is a `StoreError` and leaves the file as it was. */
  static async open(file: string, patienceMs: number, hooks: CommitHooks = {}): Promise<SqliteFile> {
    let raw: DatabaseSync | undefined;
    try {
      const onDisk = file !== ':memory:';
      const existed = onDisk && existsSync(file);
      if (existed) refuseForeign(file);
      const seal = existed ? checkSeal(file) : undefined;
      raw = new DatabaseSync(file, { timeout: patienceMs });
      const sound = existed ? SqliteFile.#inspect(raw, file, seal) : 0;
      raw.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 2000');
      if (onDisk) chmodSync(file, 0o600);
      const opened = new SqliteFile(file, raw, onDisk ? new SealWriter(file) : undefined, hooks);
      if (sound < schemaVersion) await opened.#migrate(sound);
      opened.#begin(seal);
      // From here on waiting for a lock must not stop the program: the group commit tries again by itself.
      raw.exec('pragma busy_timeout = 100');
      return opened;
    } catch (cause) {
      raw?.close();
      throw storeError(cause, file);
    }
  }

  /** The schema version of an existing file, after its soundness was looked at. */
  static #inspect(raw: DatabaseSync, file: string, seal: Seal | undefined): number {
    const read = (name: string): number => Number(Object.values(raw.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0);
    const version = read('user_version');
    if (read('application_id') !== applicationId) {
      const { things } = raw.prepare('select count(*) as things from sqlite_master').get() as { things: number };
      if (version === 0 && things === 0) return 0;
      throw foreign(file);
    }
    if (version > schemaVersion) {
      throw new StoreError(
        'store/newer',
        `The store ${file} was written by a newer Parlane (schema ${version}, this one knows ${schemaVersion}).`,
        'Update Parlane, or name another store with --store.',
        { file, version, known: schemaVersion },
      );
    }
    if (seal?.file === undefined) {
      const verdict = raw.prepare('pragma integrity_check(1)').get();
      const words = String(Object.values(verdict ?? {})[0]);
      if (words !== 'ok') throw damaged(file, words);
    }
    return version;
  }

  async #migrate(version: number): Promise<void> {
    this.#raw.exec('begin immediate');
    try {
      const now = this.#raw.prepare('pragma user_version').get() as { user_version: number };
      if (now.user_version > version) {
        this.#rollback();
        return;
      }
      await migrate(this.db, version);
      this.#raw.exec(`pragma user_version = ${schemaVersion}; pragma application_id = ${applicationId}; commit`);
      this.#raw.exec('pragma wal_checkpoint(truncate)');
    } catch (cause) {
      this.#rollback();
      throw cause;
    }
  }

  #begin(seal: Seal | undefined): void {
    this.#seq = Number(
      (this.#prepare('select seq from commits where id = 1').get() as { seq: number } | undefined)?.seq,
    );
    if (!Number.isSafeInteger(this.#seq)) throw damaged(this.file, 'its commit counter is missing');
    if (seal !== undefined && seal.seq > this.#seq) {
      throw damaged(this.file, `${seal.seq - this.#seq} commits that were on disk are gone`);
    }
    this.#seal?.note(this.#seq);
  }

  now(): number {
    return performance.now();
  }

  asError(cause: unknown): StoreError {
    return storeError(cause, this.file);
  }

  commit(writes: readonly Write[], durable: boolean): boolean {
    this.#syncMode(durable ? 'full' : 'normal');
    try {
      this.#prepare('begin immediate').run();
    } catch (cause) {
      if (isBusy(cause)) return false;
      throw cause;
    }
    try {
      for (const { sql, values } of writes) this.#prepare(sql).run(...values);
      const next = this.#prepare('update commits set seq = seq + 1 where id = 1 returning seq').get();
      this.#commits++;
      this.#hooks.before?.(this.#commits);
      this.#prepare('commit').run();
      this.#seq = Number((next as { seq: number }).seq);
    } catch (cause) {
      this.#rollback();
      throw cause;
    }
    this.#hooks.after?.(this.#commits);
    if (durable) this.#seal?.note(this.#seq);
    return true;
  }

  /** Rewrites the file without what was deleted; left for another time when somebody else has it in use. */
  compact(): void {
    try {
      this.#raw.exec('vacuum; pragma wal_checkpoint(truncate)');
    } catch (cause) {
      if (!isBusy(cause)) throw cause;
    }
  }

  /** Closes in order: the log is folded into the file and the file is sealed. */
  close(): void {
    this.#statements.clear();
    if (!this.#raw.isOpen) return;
    try {
      this.#raw.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // Somebody else is reading or the disk is full: the log stays and the next opening folds it in.
    }
    this.#raw.close();
    this.#seal?.close(this.#seq);
  }

  #rollback(): void {
    try {
      this.#raw.exec('rollback');
    } catch {
      // SQLite has already rolled back by itself, as it does when the disk is full.
    }
  }

  #syncMode(mode: 'full' | 'normal'): void {
    if (mode === this.#sync) return;
    this.#raw.exec(`pragma synchronous = ${mode}`);
    this.#sync = mode;
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#raw.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #forKysely(): ConstructorParameters<typeof SqliteDialect>[0]['database'] {
    return {
      close: () => {},
      prepare: (sql: string) => {
        const statement = this.#prepare(sql);
        const cells = (parameters: readonly unknown[]): (string | number | null)[] =>
          parameters as (string | number | null)[];
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...cells(parameters)),
          run: (parameters) => statement.run(...cells(parameters)),
          iterate: (parameters) => statement.iterate(...cells(parameters)),
        };
      },
    };
  }
}
