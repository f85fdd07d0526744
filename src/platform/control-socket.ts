/**
 * A line of JSON in, a line of JSON out, over a socket that only this user can reach: no TCP. It stands in the store's
 * folder; where that path is too long for a socket, in a folder of its own under the system's temporary one, and a small
 * file in the store's folder tells where.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Longest path that every system takes for a socket. */
const longestPath = 100;
const answerWithinMs = 2_000;

export interface ControlServer {
  close(): void;
}

const pointerOf = (folder: string): string => join(folder, 'ctl');

/** Answers requests until it is closed. A request that fails is answered with its message. */
export async function serveControl(folder: string, answer: (request: unknown) => unknown): Promise<ControlServer> {
  const near = join(folder, `ctl-${process.pid}.sock`);
  const path = near.length <= longestPath ? near : join(mkdtempSync(join(tmpdir(), 'parlane-ctl-')), 'ctl.sock');
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    createInterface({ input: socket }).on('line', async (line) => {
      const said = JSON.stringify(await reply(line, answer));
      if (!socket.destroyed) socket.write(`${said}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve);
  });
  chmodSync(path, 0o600);
  writeFileSync(pointerOf(folder), path, { mode: 0o600 });
  server.unref();
  return {
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(path, { force: true });
      if (existsSync(pointerOf(folder)) && readFileSync(pointerOf(folder), 'utf8') === path) rmSync(pointerOf(folder));
    },
  };
}

async function reply(line: string, answer: (request: unknown) => unknown): Promise<unknown> {
  try {
    return { ok: await answer(JSON.parse(line)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Asks the run that has this store open; undefined when none has. */
export async function askControl(
  folder: string,
  request: unknown,
): Promise<{ ok?: unknown; error?: string } | undefined> {
  if (!existsSync(pointerOf(folder))) return undefined;
  const socket = createConnection(readFileSync(pointerOf(folder), 'utf8'));
  return new Promise((resolve) => {
    const end = (value: { ok?: unknown; error?: string } | undefined): void => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(answerWithinMs, () => end({ error: 'The run did not answer in time.' }));
    socket.on('error', () => end(undefined));
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    createInterface({ input: socket }).on('line', (line) => end(JSON.parse(line)));
  });
}
