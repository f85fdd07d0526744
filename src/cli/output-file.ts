/** Where a command's data goes: a file that is whole or not there, or standard output. */
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import type { TextSink } from '../reporters/observer.ts';
import type { CliContext } from './cli-context.ts';

export interface OutputFile {
  readonly path: string;
  readonly bytes: number;
}

async function writeWhole(path: string, fill: (sink: TextSink) => Promise<void>): Promise<OutputFile> {
  await mkdir(dirname(path), { recursive: true });
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
    if (cause instanceof ParlaneError) throw cause;
    throw new ParlaneError(
      'cli/cannot-write',
      `${path} cannot be written: ${(cause as Error).message}.`,
      'Name another file with -o.',
      { path },
    );
  }
}

/** Fills the file, or standard output when there is no name or it is `-`; gives back what was written where. */
export async function writeOutput(
  name: string | undefined,
  context: CliContext,
  fill: (sink: TextSink) => Promise<void>,
): Promise<OutputFile | undefined> {
  if (name === undefined || name === '-') {
    await fill(context);
    return undefined;
  }
  const path = resolve(context.cwd, name);
  if (existsSync(path) && statSync(path).isDirectory())
    throw new ParlaneError('cli/cannot-write', `${path} is a folder.`, 'Name a file with -o.', { path });
  return writeWhole(path, fill);
}
