/** Where a command's data goes: a file that is whole or not there, or standard output. */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import { makeFolder } from '../platform/make-folder.ts';
import type { TextSink } from '../reporters/observer.ts';
import type { CliContext } from './cli-context.ts';

export interface OutputFile {
  readonly path: string;
  readonly bytes: number;
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/**
 * Where a named file shall be, before anything is run for it. Folders are made inside the project only: elsewhere a
 * missing one is a mistyped path more often than a wish.
 */
export function outputPath(name: string, cwd: string): string {
  const path = resolve(cwd, name);
  const folder = dirname(path);
  const refuse = (what: string, cure: string): never => {
    throw new ParlaneError('cli/cannot-write', what, cure, { path });
  };
  if (isFolder(path)) refuse(`${path} is a folder.`, 'Name a file with -o.');
  if (existsSync(folder) && !isFolder(folder)) refuse(`${folder} is not a folder.`, 'Name another file with -o.');
  const way = relative(cwd, folder);
  const inside = !isAbsolute(way) && way.split(/[\\/]/)[0] !== '..';
  if (!inside && !existsSync(folder))
    refuse(
      `There is no folder ${folder}.`,
      'Folders outside the project are not made: make it first, or check the path.',
    );
  return path;
}

async function writeWhole(path: string, fill: (sink: TextSink) => Promise<void>): Promise<OutputFile> {
  const draft = `${path}.part`;
  const stream = createWriteStream(draft, { mode: 0o600 });
  const ended = new Promise<void>((done, failed) => stream.once('finish', done).once('error', failed));
  const drained = (): Promise<void> => new Promise((done, failed) => stream.once('drain', done).once('error', failed));
  let bytes = 0;
  try {
    await fill({
      write: (text) => {
        bytes += Buffer.byteLength(text);
        return stream.write(text) ? undefined : drained();
      },
    });
    stream.end();
    await ended;
    await rename(draft, path);
    return { path, bytes };
  } catch (cause) {
    ended.catch(() => {});
    stream.destroy();
    await rm(draft, { force: true });
    throw cannotWrite(path, cause);
  }
}

/** Makes the folder of an output, which `outputPath` has let through. */
export function makeOutputFolder(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw cannotWrite(path, cause);
  }
}

function cannotWrite(path: string, cause: unknown): ParlaneError {
  if (cause instanceof ParlaneError) return cause;
  const what = `${path} cannot be written: ${(cause as Error).message}.`;
  return new ParlaneError('cli/cannot-write', what, 'Name another file with -o.', { path });
}

class Unread extends Error {}

/** Ends quietly when nobody reads any more, as after `| head -1`. */
async function fillPipe({ unread, write }: CliContext, fill: (sink: TextSink) => Promise<void>): Promise<void> {
  const sink: TextSink = {
    async write(text) {
      if (unread?.aborted === true) throw new Unread();
      await write(text);
    },
  };
  await fill(sink).catch((cause: unknown) => {
    if (!(cause instanceof Unread)) throw cause;
  });
}

/** Fills the file, or standard output when there is no name or it is `-`; gives back what was written where. */
export async function writeOutput(
  name: string | undefined,
  context: CliContext,
  fill: (sink: TextSink) => Promise<void>,
): Promise<OutputFile | undefined> {
  if (name === undefined || name === '-') {
    await fillPipe(context, fill);
    return undefined;
  }
  const path = outputPath(name, context.cwd);
  makeOutputFolder(path);
  return writeWhole(path, fill);
}
