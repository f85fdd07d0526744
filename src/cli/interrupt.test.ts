import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import { hostOf, promptCase } from '../../test/support/run-harness.ts';
import { runId } from '../domain/ids.ts';
import { runPlan } from '../run/run-plan.ts';
import { openStore } from '../store/open-store.ts';

let cwd: string;
let server: Server;
let child: ChildProcess | undefined;
/** Requests that nobody has answered. */
let held: ServerResponse[];
let requests: number;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-interrupt-'));
  held = [];
  requests = 0;
  server = createServer((_, response) => {
    requests++;
    held.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  child?.kill('SIGKILL');
  server.closeAllConnections();
  server.close();
  rmSync(cwd, { recursive: true, force: true });
});

/** As many calls as a lane sends before it has heard its first answer. */
const probes = 3;

/** Leaves a run of which nothing is done yet, for the command to go on with. */
async function prepare(): Promise<void> {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const config = { apiBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
  const snapshot = { kind: 'plan', providers: { a: { id: 'localai:chat:m', config } } };
  const cases = Array.from({ length: 200 }, (_, index) => promptCase(index));
  await runPlan({ id: runId('hung'), name: '', snapshot, cases }, hostOf(store, { signal: AbortSignal.abort() }));
  await store.close();
}

describe('Ctrl-C while a server hangs', () => {
  it('stops new requests at once, saves, ends with exit code 3 and leaves a run that can be resumed', async () => {
    await prepare();
    const launcher = join(import.meta.dirname, '../../bin/parlane.js');
    const running = spawn(process.execPath, [launcher, 'resume', '--json'], { cwd });
    child = running;
    const ended = new Promise((resolve) => running.on('close', resolve));
    let out = '';
    let err = '';
    running.stdout.on('data', (piece) => {
      out += String(piece);
    });
    running.stderr.on('data', (piece) => {
      err += String(piece);
    });
    await expect.poll(() => requests, { interval: 5 }).toBe(probes);
    running.kill('SIGINT');
    await expect.poll(() => err, { interval: 5 }).toContain('Stopping');
    // The answer that opens the lane: from now on nobody may use it.
    const choices = [{ message: { content: 'a:b' }, finish_reason: 'stop' }];
    held[0]?.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
    expect(await ended, err).toBe(3);
    expect(requests).toBe(probes);
    const told = JSON.parse(out);
    expect(told).toMatchObject({ complete: false, stopReason: 'interrupted', totals: { planned: 200 } });
    // The one answer is kept when it came within the grace.
    expect(told.totals.aborted + told.totals.passed).toBe(200);
    expect(told.totals.aborted).toBeGreaterThanOrEqual(199);
    const shown = await commandLine({ cwd }, 'show', '2');
    expect(shown.out).toMatch(/^#2 .* open [\s\S]*Go on with it: npx parlane resume hung\n$/);
    expect((await commandLine({ cwd }, 'show', '200')).out).toMatch(/^#200 .* open /);
    const store = await openStore({ at: join(cwd, '.parlane') });
    expect(await (await store.openRun(runId('hung')))?.record()).toMatchObject({
      status: 'suspended',
      stopReason: 'interrupted',
    });
    await store.close();
  });
});
