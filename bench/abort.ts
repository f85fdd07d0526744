/**
 * How fast a run ends after Ctrl-C with servers that hang, at random instants, and whether anything was sent afterwards;
 * and how long after an abort a server sees the connection closed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runId } from '../src/domain/ids.ts';
import { realClock } from '../src/platform/clock.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { runPlan } from '../src/run/run-plan.ts';
import { openStore } from '../src/store/open-store.ts';
import { hostOf, promptCase } from '../test/support/run-harness.ts';

const instants = 25;
const aborts = 200;
const launcher = join(import.meta.dirname, '../bin/parlane.js');

/** Answers half of the requests after a while and lets the others hang. */
function startServer(onRequest: () => void) {
  let number = 0;
  const body = JSON.stringify({
    choices: [{ message: { content: 'yes' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  });
  return createServer((_, response) => {
    onRequest();
    if (++number % 2 === 0) return;
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), 20);
  });
}

async function prepare(at: string, url: string): Promise<void> {
  const store = await openStore({ at });
  const config = { apiBaseUrl: `${url}/v1`, apiKey: 'sk-bench' };
  const snapshot = { kind: 'plan', providers: { a: { id: 'openai:chat:gpt-4.1', config } } };
  const cases = Array.from({ length: 500 }, (_, index) => promptCase(index));
  await runPlan({ id: runId('r'), name: '', snapshot, cases }, hostOf(store, { signal: AbortSignal.abort() }));
  await store.close();
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.on('close', resolve));

/** Resolves when the child says that it is stopping. */
const heard = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    let said = '';
    child.stderr?.on('data', (piece) => {
      said += String(piece);
      if (said.includes('Stopping')) resolve();
    });
    child.on('close', () => resolve());
  });

async function once(home: string, number: number) {
  let requests = 0;
  let first = (): void => {};
  const begun = new Promise<void>((resolve) => {
    first = resolve;
  });
  const server = startServer(() => {
    requests++;
    first();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = join(home, String(number));
  await prepare(at, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const child = spawn(process.execPath, [launcher, 'resume', '--store', at], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await begun;
  await new Promise((resolve) => setTimeout(resolve, (number * 37) % 400));
  const from = performance.now();
  child.kill('SIGINT');
  // The process says when it has heard the signal; what it had sent by then gets a moment to arrive.
  await heard(child);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = requests;
  const code = await ended(child);
  const exitMs = performance.now() - from;
  server.closeAllConnections();
  server.close();
  rmSync(at, { recursive: true });
  return { instant: number, exitMs: Math.round(exitMs), code, startsAfterAbort: requests - before };
}

/** From the abort of one call to the close of its socket as the server sees it, in order. */
async function socketCloses(): Promise<number[]> {
  let closed = (): void => {};
  let arrived = (): void => {};
  const server = createServer((_, response) => {
    response.on('close', () => closed());
    arrived();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const client = createHttpClient({ clock: realClock });
  const times: number[] = [];
  for (let number = 0; number < aborts; number++) {
    const controller = new AbortController();
    const begun = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const cut = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const call = client.send({ method: 'GET', url, headers: {} }, { signal: controller.signal });
    await begun;
    const from = performance.now();
    controller.abort();
    await Promise.all([call, cut]);
    times.push(performance.now() - from);
  }
  await client.close();
  server.close();
  return times.sort((a, b) => a - b);
}

const rounded = (ms: number | undefined): number => Math.round((ms ?? Number.NaN) * 100) / 100;

export const bench = {
  name: 'abort',
  async run() {
    const home = mkdtempSync(join(tmpdir(), 'parlane-abort-'));
    try {
      const cases = [];
      for (let number = 0; number < instants; number++) cases.push(await once(home, number));
      const closes = await socketCloses();
      const figures = {
        instants,
        exitMsMax: Math.max(...cases.map(({ exitMs }) => exitMs)),
        startsAfterAbort: cases.reduce((sum, one) => sum + one.startsAfterAbort, 0),
        otherExitCodes: cases.filter(({ code }) => code !== 3).length,
        socketCloseMsMedian: rounded(closes[aborts / 2]),
        socketCloseMsMax: rounded(closes.at(-1)),
      };
      return { name: 'abort', figures, cases };
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};
