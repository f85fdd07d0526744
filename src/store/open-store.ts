/** Opens the store of a project: a folder of its own, readable by its owner alone, with one SQLite file in it. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../platform/make-folder.ts';
import { type CommitHooks, GroupCommit } from './group-commit.ts';
import { SqlStore } from './sql-store.ts';
import { SqliteFile } from './sqlite-file.ts';
import { Statements } from './statements.ts';
import type { Store } from './store.ts';
import { storeError } from './store-errors.ts';

/** Where a project's store is unless `--store` says otherwise. */
export const defaultStoreFolder = '.parlane';
const fileName = 'parlane.db';

export interface OpenStoreOptions {
  /** A folder (created when missing), an existing store file, or `:memory:`. */
  readonly at: string;
  /** How long to wait for another process that has the store locked, at opening and while writing. */
  readonly patienceMs?: number;
  readonly hooks?: CommitHooks;
}

const isFile = (path: string): boolean => existsSync(path) && !statSync(path).isDirectory();

function makeStoreFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(folder, 0o700);
  writeFileSync(join(folder, '.gitignore'), '*\n');
}

function locate(at: string): string {
  if (at === ':memory:') return at;
  const path = resolve(at);
  try {
    if (isFile(path)) return path;
    makeStoreFolder(path);
  } catch (cause) {
    throw storeError(cause, path);
  }
  return join(path, fileName);
}

/** True when there is a store at this place, without making one. */
export const storeExists = (at: string): boolean => isFile(at) || existsSync(join(at, fileName));

export async function openStore({ at, hooks, patienceMs = 5_000 }: OpenStoreOptions): Promise<Store> {
  const file = await SqliteFile.open(locate(at), patienceMs, hooks);
  const parts = {
    db: file.db,
    group: new GroupCommit(file, patienceMs),
    statements: new Statements(file.db, file.file),
    compact: async () => file.compact(),
  };
  return new SqlStore(file.file, parts, async () => file.close());
}
