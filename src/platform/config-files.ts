import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { glob } from 'tinyglobby';

const missing = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);
const absent = (error: unknown): undefined => {
  if (error instanceof Error && 'code' in error && missing.has(String(error.code))) return undefined;
  throw error;
};

/** The longest part of a pattern that is a plain folder, and the rest. */
function splitPattern(pattern: string): { folder: string; rest: string } {
  const parts = pattern.split('/');
  const magic = parts.findIndex((part) => /[*?[\]{}]|[!@+]\(/.test(part));
  return { folder: parts.slice(0, magic).join('/') || '/', rest: parts.slice(magic).join('/') };
}

async function matches(pattern: string, folder: string): Promise<string[]> {
  const whole = (isAbsolute(pattern) ? pattern : resolve(folder, pattern)).replaceAll('\\', '/');
  if ((await kindOf(whole)) !== undefined) return [whole];
  if (!/[*?[\]{}]|[!@+]\(/.test(whole)) return [];
  const split = splitPattern(whole);
  const found = await glob(split.rest, { cwd: split.folder, absolute: true, dot: false, expandDirectories: false });
  return found.toSorted();
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'executable' | undefined> {
  const found = await stat(path).catch(absent);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return 'folder';
  return (found.mode & 0o111) === 0 ? 'file' : 'executable';
}

/** The real disk behind the file port of `config/`. */
export const configFiles = {
  read: (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(absent),
  readBytes: (path: string): Promise<Uint8Array | undefined> => readFile(path).catch(absent),
  stream: (path: string): AsyncIterable<string> =>
    createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 }) as AsyncIterable<string>,
  kind: kindOf,
  glob: matches,
};

/** A path as people like to read it: relative to where they are when it is below. */
export function shownPath(path: string, here: string): string {
  const short = relative(here, path);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short;
}
