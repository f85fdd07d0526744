/** What can go wrong with the file underneath, in words a person can act on. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';

/** The store's own failures, so that a run can tell them from everything else. */
export class StoreError extends ParlaneError {}

const busy = new Set([5, 6]);

const errorCode = (cause: unknown): { readonly sqlite: number; readonly system: string; readonly text: string } => {
  const fields = cause as { errcode?: unknown; code?: unknown; message?: unknown } | null;
  return {
    sqlite: typeof fields?.errcode === 'number' ? fields.errcode & 0xff : 0,
    system: typeof fields?.code === 'string' ? fields.code : '',
    text: typeof fields?.message === 'string' ? fields.message : String(cause),
  };
};

/** True when another process holds the store for the moment: worth another try. */
export const isBusy = (cause: unknown): boolean => busy.has(errorCode(cause).sqlite);

/** SQLite calls some writes to a full disk plain I/O errors (its shared memory, for one). */
function isDiskFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < 64 * 1024;
  } catch {
    return false;
  }
}

/** A typed error for whatever SQLite or the file system threw. */
export function storeError(cause: unknown, file: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const { sqlite, system, text } = errorCode(cause);
  const make = (code: string, what: string, cure: string): StoreError =>
    new StoreError(code, what, cure, { file, text });
  if (busy.has(sqlite)) {
    return make(
      'store/locked',
      `The store ${file} is locked by another process.`,
      'Let it finish or stop it, then try again.',
    );
  }
  if (sqlite === 13 || system === 'ENOSPC' || system === 'EDQUOT' || (sqlite === 10 && isDiskFull(file))) {
    return make(
      'store/full',
      `No space is left for the store ${file}.`,
      'Free some disk space, then resume the run: everything committed is kept.',
    );
  }
  if (sqlite === 8 || sqlite === 14 || ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT'].includes(system)) {
    return make(
      'store/not-writable',
      `The store ${file} cannot be written (${text}).`,
      'Make the folder writable, or choose another one with --store.',
    );
  }
  if (sqlite === 11 || sqlite === 26) return damaged(file, text);
  return make(
    'store/failed',
    `Writing the store ${file} failed (${text}).`,
    'Check the disk, then resume the run: everything committed is kept.',
  );
}

/** The file is a store, but not the one that was written. */
export const damaged = (file: string, what: string): StoreError =>
  new StoreError(
    'store/damaged',
    `The store ${file} is damaged: ${what}.`,
    'Nothing was read from it. Restore the file from a copy, or move it away to begin a new store.',
    { file },
  );
