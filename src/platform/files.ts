import { randomUUID } from 'node:crypto';
import { readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

async function orWhenMissing<T, U>(work: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

/** The real disk behind the file port of `prompts/`. A write is whole or not at all. */
export const realFiles = {
  read: (path: string): Promise<string | undefined> => orWhenMissing(readFile(path, 'utf8'), undefined),
  async list(folder: string): Promise<readonly string[]> {
    const entries = await orWhenMissing(readdir(folder, { withFileTypes: true }), []);
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  },
  async write(path: string, text: string): Promise<void> {
    makeFolder(dirname(path));
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      await writeFile(draft, text);
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  },
  remove: (path: string): Promise<void> => rm(path, { force: true }),
  realPath: (path: string): Promise<string | undefined> => orWhenMissing(realpath(path), undefined),
};
