import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultKinds } from './fault-kinds.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer({ dripMs: 1 });
});
afterAll(() => server.close());

const wires: readonly (readonly [string, string])[] = [
  ['openai', '/v1/chat/completions'],
  ['responses', '/v1/responses'],
  ['azure', '/openai/deployments/d/chat/completions'],
  ['anthropic', '/v1/messages'],
  ['gemini', '/v1beta/models/g:generateContent'],
  ['bedrock', '/model/b/converse'],
  ['ollama', '/api/chat'],
];

/** What a client sees that takes everything: the head and body, or how the exchange broke. */
interface Seen {
  readonly status?: number;
  readonly headers: Headers;
  readonly body: string;
  readonly broken: boolean;
}

const hanging = new Set([34, 35, 36, 46]);
const huge = new Set([39, 40]);

/** Whoever meets silence hangs up once the server has met the request and had its time to answer. */
async function hangUp(key: string, gone: AbortController): Promise<void> {
  const before = server.key(key).requests;
  await expect.poll(() => server.key(key).requests, { interval: 2 }).toBeGreaterThan(before);
  await new Promise((resolve) => setTimeout(resolve, 20));
  gone.abort();
}

async function meet(fault: string, path: string, body: object = {}): Promise<Seen> {
  const key = `${fault} ${path}`;
  server.behave({ key, faults: { always: fault } });
  const headers = { authorization: `Bearer ${key}` };
  const gone = new AbortController();
  const init = {
    method: 'POST',
    redirect: 'manual' as const,
    headers,
    body: JSON.stringify(body),
    signal: gone.signal,
  };
  try {
    const answer = fetch(`${server.url}${path}`, init);
    if (hanging.has(Number.parseInt(fault, 10))) void hangUp(key, gone);
    const response = await answer;
    try {
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text, broken: false };
    } catch {
      return { status: response.status, headers: response.headers, body: '', broken: true };
    }
  } catch {
    return { headers: new Headers(), body: '', broken: true };
  }
}

const reachable = faultKinds.filter(
  ({ group, kind }) => group !== 'stream' && (kind < 29 || kind > 31) && !huge.has(kind),
);
const breaking = new Set([32, 33, 34, 35, 36]);

describe('the kinds of faults', () => {
  it('are numbered from 1 to 64 without a gap', () => {
    expect(faultKinds.map(({ kind }) => kind)).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
  });

  it.each(wires)('are all met over the %s format', async (_name, path) => {
    const cells = reachable
      .flatMap(({ kind, variants }) => Object.keys(variants).map((name) => `${kind}/${name}`))
      // It harms whichever request comes next on its connection; it has a test of its own.
      .filter((fault) => fault !== '45/stale');
    const seen = await Promise.all(cells.map(async (fault) => [fault, await meet(fault, path)] as const));
    for (const [fault, { status, broken }] of seen) {
      const kind = Number(fault.split('/')[0]);
      if (breaking.has(kind)) expect.soft(broken, fault).toBe(true);
      if (kind <= 14) expect.soft(status, fault).toBe(429);
      if (kind === 15 || kind === 16 || (kind >= 52 && kind <= 54)) expect.soft(status, fault).toBe(200);
      expect.soft(server.key(`${fault} ${path}`).faults[fault], fault).toBe(1);
    }
  });

  it('name the status they are about', async () => {
    for (const fault of ['17/500', '18/502', '18/504', '19/529', '20/522', '21/409', '24/308', '27/204', '62/422']) {
      expect((await meet(fault, '/v1/messages')).status).toBe(Number(fault.split('/')[1]));
    }
  });

  it('send what no parser likes', async () => {
    const path = '/v1/chat/completions';
    const half = await meet('38', path);
    expect(() => JSON.parse(half.body)).toThrow();
    expect((await meet('41', path)).body).toContain('harmed\ufffdhere');
    expect((await meet('42/surrogate', path)).body).toContain('\\ud800');
    expect((await meet('43', path)).body).toContain('['.repeat(20_000));
    expect((await meet('44/proto', path)).body).toContain('"__proto__"');
    expect((await meet('25', path)).body).toContain('<html>');
  });

  it('send more than anybody should take, packed or not', async () => {
    server.behave({ key: 'bomb', faults: { script: { 1: 40, 2: 39 } } });
    const ask = { method: 'POST', headers: { authorization: 'Bearer bomb' }, body: '{}' };
    const bomb = await fetch(`${server.url}/v1/messages`, ask);
    expect(bomb.headers.get('content-encoding')).toBe('gzip');
    expect(Number(bomb.headers.get('content-length'))).toBeLessThan(1_000_000);
    await bomb.body?.cancel();
    const endless = await fetch(`${server.url}/v1/messages`, ask);
    let read = 0;
    for await (const chunk of endless.body ?? []) {
      read += chunk.length;
      if (read > 1_000_000) break;
    }
    await expect.poll(() => server.key('bomb').closedByClient, { interval: 2 }).toBeGreaterThan(0);
  });

  it('count a redirect that was followed, and whether it carried the key', async () => {
    server.behave({ key: 'follow', faults: { always: '24/307' } });
    const headers = { authorization: 'Bearer follow' };
    await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body: '{}' });
    expect(server.statistics).toMatchObject({ redirectsFollowed: 1, credentialsForwarded: 1 });
    expect(server.key('follow').redirectsFollowed).toBe(1);
  });

  it('break the next request on a stale connection', async () => {
    server.behave({ key: 'stale', faults: { script: { 1: '45/stale' } } });
    const socket: Socket = connect(server.port, '127.0.0.1');
    const ask = 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: stale\r\ncontent-length: 2\r\n\r\n{}';
    socket.on('error', () => {});
    socket.write(ask);
    expect(String(await once(socket, 'data'))).toContain('200 OK');
    socket.write(ask);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(server.key('stale').requests).toBe(1);
  });

  it('come by script, always, or by rate with a seed', async () => {
    const statuses = async (key: string, count: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let at = 0; at < count; at += 1) {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body: '{}' });
        await response.text();
        seen.push(response.status);
      }
      return seen;
    };
    server.behave({ key: 'script', faults: { script: { 2: 17, 3: 0 }, always: 19 } });
    expect(await statuses('script', 4)).toEqual([529, 500, 200, 529]);
    server.behave({ key: 'rate-a', faults: { rate: 0.5, kinds: [17], seed: 7 } });
    server.behave({ key: 'rate-b', faults: { rate: 0.5, kinds: [17], seed: 7 } });
    const drawn = await statuses('rate-a', 20);
    expect(drawn).toEqual(await statuses('rate-b', 20));
    expect(new Set(drawn)).toEqual(new Set([200, 500]));
  });

  it('that never reach a server are refused with what to do instead', () => {
    expect(() => server.behave({ faults: { always: 31 } })).toThrow('tls: true');
    expect(() => server.behave({ faults: { always: '24/309' } })).toThrow('301');
  });

  it('of streams harm server-sent events', async () => {
    const stream = { stream: true, messages: [{ role: 'user', content: 'hello big world' }] };
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const end = path === '/v1/messages' ? 'message_stop' : '[DONE]';
      expect((await meet('51', path, stream)).body).toContain(end);
      expect((await meet('49', path, stream)).body).toContain(end);
      expect((await meet('48', path, stream)).body).not.toContain(end);
      expect((await meet('47', path, stream)).body).toContain('verloaded');
      expect((await meet('46', path, stream)).broken).toBe(true);
    }
  });

  it('of certificates come with a server that nobody trusts', async () => {
    await using own = await startFaultServer({ tls: true });
    const failure = await fetch(`${own.url}/v1/messages`, { method: 'POST', body: '{}' }).catch((error) => error);
    expect(failure.cause).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });
});
