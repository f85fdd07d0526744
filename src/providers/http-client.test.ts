import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { type Answering, startAnsweringServer } from './fixtures/answering-server.ts';
import { certificate, privateKey } from './fixtures/self-signed.ts';
import { createHttpClient, type HttpOptions } from './http-client.ts';
import { Secret } from './secret.ts';

/** Deadlines pass when a test says so, and never because a machine is busy. */
const clock = new VirtualClock();
const client = createHttpClient({ clock, connectMs: 120_000, idleMs: 120_000 });
const impatient = createHttpClient({ clock, idleMs: 200 });
afterAll(() => Promise.all([client.close(), impatient.close()]));

const never = new AbortController().signal;
const get = (url: string, options: Partial<HttpOptions> = {}, by = client) =>
  by.send({ method: 'GET', url: new URL(url), headers: {}, timeoutMs: 5_000 }, { signal: never, ...options });

async function answerTo(answer: Answering, options: Partial<HttpOptions> = {}, by = client) {
  await using server = await startAnsweringServer(answer);
  const result = await get(server.url, options, by);
  return { result, seen: server.seen };
}

describe('the HTTP client', () => {
  test('gives back status, headers and text, and calls onHead before the body is there', async () => {
    const order: string[] = [];
    const { result } = await answerTo(
      (response) => {
        response.writeHead(201, { 'x-one': '1' });
        response.flushHeaders();
        setImmediate(() => response.end('hällo'));
      },
      { onHead: (head) => order.push(`head ${head.status}`) },
    );
    order.push('done');
    expect(result).toMatchObject({ kind: 'response', status: 201, text: 'hällo' });
    expect(order).toEqual(['head 201', 'done']);
  });

  test('does not follow redirects', async () => {
    const { result, seen } = await answerTo((response) => {
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(result).toMatchObject({ kind: 'response', status: 307 });
    expect(seen).toHaveLength(1);
  });

  test('ends by its total deadline although bytes keep dripping', async () => {
    const from = clock.now();
    const { result } = await answerTo(
      (response) => {
        response.writeHead(200);
        const drip = (): void => {
          if (!response.destroyed) response.write('.', () => setImmediate(drip));
        };
        drip();
      },
      { onHead: () => setImmediate(() => clock.step()) },
    );
    expect(result).toMatchObject({ kind: 'fault', code: 'deadline', sent: true, answered: true });
    expect(clock.now() - from).toBe(5_000);
  });

  test('ends when the body stalls', async () => {
    const half: Answering = (response) => {
      response.writeHead(200);
      response.write('half');
    };
    const { result } = await answerTo(half, {}, impatient);
    expect(result).toMatchObject({ kind: 'fault', code: 'idle', answered: true });
  });

  test('destroys the socket on abort', async () => {
    await using server = await startAnsweringServer(() => {});
    const controller = new AbortController();
    const pending = get(server.url, { signal: controller.signal });
    await server.arrived;
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'fault', code: 'aborted', sent: true });
    await server.cut;
  });

  test('destroys the socket on abort in the middle of an answer, and takes a new one for the next request', async () => {
    const order: string[] = [];
    await using server = await startAnsweringServer((response, { path }) => {
      order.push(path);
      if (path === '/next') return void response.end('next');
      response.on('close', () => order.push('closed'));
      response.writeHead(200).write('half');
    });
    const controller = new AbortController();
    const result = await get(`${server.url}/half`, { signal: controller.signal, onHead: () => controller.abort() });
    expect(result).toMatchObject({ kind: 'fault', code: 'aborted', sent: true, answered: true });
    // Nobody answers or lets go on the server's side, and no deadline passes: only the abort can have closed it.
    await server.cut;
    expect(await get(`${server.url}/next`)).toMatchObject({ kind: 'response', text: 'next' });
    expect(order).toEqual(['/half', 'closed', '/next']);
  });

  test('sends nothing when it is aborted already', async () => {
    const { result, seen } = await answerTo((response) => response.end(), { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ kind: 'fault', code: 'aborted', sent: false });
    expect(seen).toHaveLength(0);
  });

  test('stops at the cap of decoded bytes', async () => {
    const { result } = await answerTo((response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(1024 * 1024, 'a');
      for (let sent = 0; sent < 20; sent++) response.write(chunk);
      response.end();
    });
    expect(result).toMatchObject({ kind: 'fault', code: 'too-large' });
  });

  test('unpacks gzip, and refuses a gzip bomb', async () => {
    const packed =
      (body: Buffer): Answering =>
      (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
      };
    const honest = await answerTo(packed(Buffer.from('{"a":1}')));
    expect(honest.result).toMatchObject({ kind: 'response', text: '{"a":1}' });
    const bomb = await answerTo(packed(Buffer.alloc(12 * 1024 * 1024)));
    expect(bomb.result).toMatchObject({ kind: 'fault', code: 'too-large' });
  });

  test('says so when the encoding is unknown or broken', async () => {
    for (const encoding of ['gzip', 'lzma']) {
      const { result } = await answerTo((response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end('plain text');
      });
      expect(result).toMatchObject({ kind: 'fault', code: 'bad-encoding' });
    }
  });

  test('keeps the bytes when they are not UTF-8', async () => {
    const bytes = Buffer.from([0x68, 0xff, 0x69]);
    const { result } = await answerTo((response) => {
      response.end(bytes);
    });
    expect(result).toMatchObject({ kind: 'response', text: 'h\ufffdi', bytes });
  });

  test('tells a refused connection from a broken one', async () => {
    expect(await get('http://127.0.0.1:1/')).toMatchObject({ kind: 'fault', code: 'refused', sent: false });
    const { result } = await answerTo((response) => {
      response.socket?.destroy();
    });
    expect(result).toMatchObject({ kind: 'fault', code: 'reset', sent: true, answered: false });
    const halfway = await answerTo((response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.socket?.destroy());
    });
    expect(halfway.result).toMatchObject({ kind: 'fault', code: 'reset', answered: true });
  });

  test('verifies TLS, always', async () => {
    const server = createServer({ cert: certificate, key: privateKey }, (_, response) => response.end('secret'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await get(`https://127.0.0.1:${port}/`)).toMatchObject({ kind: 'fault', code: 'tls', sent: false });
    server.closeAllConnections();
    server.close();
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://0xa9.0xfe.0xa9.0xfe/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://metadata.google.internal/',
  ])('refuses the metadata address %s without connecting', async (url) => {
    expect(await get(url)).toMatchObject({ kind: 'fault', code: 'blocked-address', sent: false });
  });

  test('sends a key to its own origin and to no other', async () => {
    await using server = await startAnsweringServer((response) => response.end('ok'));
    const send = (origin: string) =>
      client.send(
        {
          method: 'POST',
          url: new URL(server.url),
          headers: { authorization: { prefix: 'Bearer ', secret: new Secret('sk-1', origin) } },
          body: '{}',
        },
        { signal: never },
      );
    expect(await send(server.url)).toMatchObject({ kind: 'response' });
    expect(await send('https://api.openai.com')).toMatchObject({ kind: 'fault', code: 'foreign-key', sent: false });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-1']);
  });

  test('uses connections again', async () => {
    const ports = new Set<number | undefined>();
    await using server = await startAnsweringServer((response) => {
      ports.add(response.socket?.remotePort);
      response.end('ok');
    });
    for (let call = 0; call < 10; call++) await get(server.url);
    // Two, because the next call may start within the tick in which the last connection is not free yet.
    expect(ports.size).toBeLessThanOrEqual(2);
  });
});
