/**
 * Every cell of the matrix, run as the product runs it: an adapter in its lane against the real server. The server's own
 * books say how many requests came and when; the outcome says the rest. Time is virtual and stands still while a request
 * is on the wire, so that every wait is sat out, exactly and at once.
 */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WireClock } from '../../test/support/wire-clock.ts';
import { caseIndex } from '../domain/ids.ts';
import type { ModelRequest } from '../domain/message.ts';
import type { Provider } from '../domain/provider.ts';
import type { Outcome } from '../domain/reply.ts';
import { type AdapterUnderTest, adapters } from '../providers/fixtures/adapters.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import { Lanes } from '../run/lanes.ts';
import { faultKinds } from './fault-kinds.ts';
import {
  cellOf,
  faultMatrix,
  type HttpRow,
  type MatrixAdapter,
  matrixAdapters,
  type WireReaction,
} from './fault-matrix.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

const columnOf: Readonly<Record<string, MatrixAdapter>> = {
  'openai chat': 'openai-chat',
  'openai responses': 'openai-responses',
  'openai completion': 'openai-completion',
  'openai embedding': 'openai-embedding',
  'openai moderation': 'openai-moderation',
  'groq (a vendor of the table)': 'openai-compatible',
  'azure chat': 'azure',
  anthropic: 'anthropic',
  bedrock: 'bedrock',
  google: 'google',
  'ollama chat': 'ollama-chat',
  'ollama completion': 'ollama-completion',
  'ollama embeddings': 'ollama-embeddings',
  http: 'http',
};

const limits = { maxRetries: 2, maxRateLimited: 2 };
const key = 'k-0123456789abcdef';
const dripMs = 5_000;
const deadlineMs = 60_000;

const requestOf = ({ kind }: AdapterUnderTest): ModelRequest =>
  kind === 'chat' ? { kind, prompt: 'hello there' } : { kind, input: 'hello there' };

interface Rig {
  readonly lanes: Lanes;
  /** Attempts of the last call. */
  attempts: number;
  call(): Promise<Outcome>;
}

function rigOf(provider: Provider, adapter: AdapterUnderTest, clock: WireClock): Rig {
  const lanes = new Lanes({ clock, seed: 1, limits: () => limits });
  lanes.open(provider);
  let index = 0;
  const call = async (): Promise<Outcome> => {
    index += 1;
    const request = requestOf(adapter);
    const { outcome, times } = await lanes.submit({
      lane: provider.laneKey,
      index: caseIndex(index),
      path: 'call',
      estimate: { input: 10, output: 10 },
      expectedCalls: 1,
      made: 0,
      perform: (signal, onHead) => clock.onWire(() => provider.call(request, { signal, onHead })),
    });
    rig.attempts = times.attempts;
    return outcome;
  };
  const rig: Rig = { lanes, attempts: 0, call };
  return rig;
}

/** An address that refuses connections: that of a server which is gone. */
async function refusedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function startFor(row: HttpRow, clock: WireClock): Promise<{ server: FaultServer; url: string }> {
  const reached = row.kind < 29 || row.kind > 31;
  const server = await startFaultServer({
    clock,
    dripMs,
    ...(reached ? { faults: { always: `${row.kind}/${row.variant}` } } : { tls: row.kind === 31 }),
  });
  if (row.kind === 29) return { server, url: 'http://no-such-host.invalid' };
  return { server, url: row.kind === 30 ? await refusedAddress() : server.url };
}

const hangs = ({ kind }: HttpRow): boolean => kind >= 34 && kind <= 36;

/** How many wire requests a reaction makes of one call. */
function requestsOf(row: HttpRow, { reaction }: WireReaction): number {
  if (row.kind >= 29 && row.kind <= 31) return 0;
  switch (reaction) {
    case 'park':
      return limits.maxRateLimited + 1;
    case 'retry':
      return limits.maxRetries + 1;
    case 'retry-once':
      return 2;
    default:
      return 1;
  }
}

function judgeOutcome(outcome: Outcome, cell: WireReaction, where: string): void {
  const code = outcome.kind === 'reply' ? 'reply' : outcome.code;
  expect.soft(cell.outcome === 'reply' ? ['reply'] : cell.outcome, where).toContain(code);
  const { retryAfterMs } = outcome.hints ?? {};
  if (cell.retryAfterMs === null) expect.soft(retryAfterMs, `${where}: wait`).toBeUndefined();
  if (cell.retryAfterMs) {
    expect.soft(retryAfterMs, `${where}: wait`).toBeGreaterThanOrEqual(cell.retryAfterMs[0]);
    expect.soft(retryAfterMs, `${where}: wait`).toBeLessThanOrEqual(cell.retryAfterMs[1]);
  }
  if (cell.remaining !== undefined) {
    const reading = outcome.hints?.readings.find(({ resource }) => resource === 'requests');
    expect.soft(reading?.remaining, `${where}: remaining`).toBe(cell.remaining);
  }
  if (outcome.kind === 'failure') {
    if (cell.billed) expect.soft(outcome.billed, `${where}: billed`).toBe(cell.billed);
    expect.soft(JSON.stringify(outcome), `${where}: key`).not.toContain(key);
    return;
  }
  if (cell.finish) expect.soft(cell.finish, `${where}: finish`).toContain(outcome.finishReason);
  if (cell.flags) expect.soft(outcome.flags, `${where}: flags`).toEqual(expect.arrayContaining([...cell.flags]));
  if (cell.costUnknown) expect.soft(outcome.costUsdMicros, `${where}: cost`).toBeUndefined();
}

function judgeServer(server: FaultServer, row: HttpRow, cell: WireReaction, where: string): void {
  const { requests, redirectsFollowed, credentialsForwarded } = server.statistics;
  expect.soft(requests, `${where}: requests`).toBe(requestsOf(row, cell));
  expect.soft(redirectsFollowed + credentialsForwarded, `${where}: redirects`).toBe(0);
  const times = server.ledger.map(({ at }) => at);
  if (cell.reaction !== 'park' || !cell.retryAfterMs) return;
  for (const [at, time] of times.slice(1).entries()) {
    expect.soft(time - (times[at] ?? 0), `${where}: too early`).toBeGreaterThanOrEqual(cell.retryAfterMs[0]);
  }
}

async function runCell(row: HttpRow, adapter: AdapterUnderTest): Promise<void> {
  const cell = cellOf(row, columnOf[adapter.name] ?? 'http');
  if ('na' in cell) return;
  const where = `${row.kind}/${row.variant} ${adapter.name}`;
  const clock = new WireClock();
  const http = createHttpClient({ clock });
  const { server, url } = await startFor(row, clock);
  const { id, config } = adapter.options(url, key);
  const context = { clock, env: {}, basePath: '/', http };
  const provider = resolveProvider({ id, config: { ...config, timeoutMs: deadlineMs } }, context);
  const rig = rigOf(provider, adapter, clock);
  // Only a server that has the request and does not answer lets time pass.
  const silent = (): boolean => hangs(row) && server.ledger.some(({ endedAt }) => endedAt === undefined);
  const outcome = await clock.until(rig.call(), silent);
  judgeOutcome(outcome, cell, where);
  judgeServer(server, row, cell, where);
  if (row.kind > 31) expect.soft(rig.attempts, `${where}: attempts`).toBe(requestsOf(row, cell));
  if (cell.reaction === 'close-lane') {
    expect.soft(await rig.call(), `${where}: the next call`).toMatchObject({ kind: 'failure' });
    expect.soft(server.statistics.requests, `${where}: after the lane closed`).toBe(1);
  }
  rig.lanes.shutdown();
  await http.close();
  await server.close();
}

/** At most so many at a time. */
async function inTurns<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

const huge = new Set([39, 40]);

describe('the fault matrix', () => {
  it('has every form of every kind, and every cell has a reaction or a reason', () => {
    const known = faultKinds.flatMap(({ kind, variants }) => Object.keys(variants).map((name) => `${kind}/${name}`));
    expect(faultMatrix.http.map(({ kind, variant }) => `${kind}/${variant}`).toSorted()).toEqual(known.toSorted());
    for (const row of faultMatrix.http) {
      for (const adapter of matrixAdapters) {
        const cell = cellOf(row, adapter);
        expect('na' in cell ? cell.na.length : cell.reaction.length).toBeGreaterThan(3);
      }
    }
    expect(faultMatrix.tools.map(({ id }) => id)).toEqual(faultMatrix.tools.map((_, at) => `T${at + 1}`));
    expect(faultMatrix.webhooks.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, at) => `W${at + 1}`));
    expect(adapters.map(({ name }) => columnOf[name])).toEqual(matrixAdapters.slice(0, adapters.length));
  });

  it.each(adapters)('$name reacts to every kind as it must', async (adapter) => {
    await inTurns(
      faultMatrix.http.filter(({ kind }) => !huge.has(kind)),
      12,
      (row) => runCell(row, adapter),
    );
    for (const row of faultMatrix.http.filter(({ kind }) => huge.has(kind))) await runCell(row, adapter);
  });

  it('200 with nothing remaining is kept, and the lane waits for the refill', async () => {
    const adapter = adapters[0];
    if (adapter === undefined) throw new Error('no adapter');
    const clock = new WireClock();
    await using server = await startFaultServer({ clock, faults: { script: { 1: '16/empty' } } });
    const http = createHttpClient({ clock });
    const context = { clock, env: {}, basePath: '/', http };
    const rig = rigOf(resolveProvider(adapter.options(server.url, key), context), adapter, clock);
    expect(await clock.until(rig.call())).toMatchObject({ kind: 'reply' });
    await clock.until(Promise.all(Array.from({ length: 5 }, () => rig.call())));
    const times = server.ledger.map(({ at }) => at);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(4000);
    rig.lanes.shutdown();
    await http.close();
  });
});
