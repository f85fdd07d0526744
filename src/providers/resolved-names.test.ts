/** Host names on their real way to the network: what they resolve to decides whether anything is sent. */
import type { LookupAddress } from 'node:dns';
import { afterAll, describe, expect, test } from 'vitest';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { json, startAnsweringServer } from './fixtures/answering-server.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { resolveProvider } from './resolve-provider.ts';

const clock = new VirtualClock();
const opened: HttpClient[] = [];
afterAll(() => Promise.all(opened.map((client) => client.close())));

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 });

/** A client in a world where every name leads to these addresses; the next list at each question, the last one for good. */
function clientResolving(...answers: readonly (readonly string[])[]): { client: HttpClient; asked: string[] } {
  const asked: string[] = [];
  const client = createHttpClient({
    clock,
    resolveName: (hostname, _, callback) => {
      const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
      asked.push(hostname);
      callback(null, addresses.map(address));
    },
  });
  opened.push(client);
  return { client, asked };
}

const get = (client: HttpClient, url: string, headers: Record<string, string> = {}) =>
  client.send({ method: 'GET', url: new URL(url), headers }, { signal: new AbortController().signal });

describe('a host name', () => {
  test.each([
    ['the metadata service', ['169.254.169.254']],
    ['it, mapped into IPv6', ['::ffff:169.254.169.254']],
    ['another credential service', ['169.254.170.2']],
    ['a good address and a bad one', ['127.0.0.1', '169.254.169.254']],
    ['a link-local address', ['fe80::1']],
  ])('that resolves to %s is refused before anything is sent', async (_, addresses) => {
    const { client, asked } = clientResolving(addresses);
    expect(await get(client, 'http://models.example/latest/meta-data/')).toEqual({
      kind: 'fault',
      code: 'blocked-address',
      detail: 'PARLANE_BLOCKED_ADDRESS',
      sent: false,
      answered: false,
    });
    expect(asked).toEqual(['models.example']);
  });

  test('that resolves to an allowed address reaches its server under its own name', async () => {
    await using server = await startAnsweringServer(json({ ok: true }));
    const { port } = new URL(server.url);
    const { client } = clientResolving(['127.0.0.1']);
    expect(await get(client, `http://models.example:${port}/`)).toMatchObject({ kind: 'response', status: 200 });
    expect(server.seen[0]?.headers.host).toBe(`models.example:${port}`);
  });

  test('that changes its mind is asked again for every connection', async () => {
    await using server = await startAnsweringServer(json({ ok: true }));
    const url = `http://models.example:${new URL(server.url).port}/`;
    const { client, asked } = clientResolving(['127.0.0.1'], ['169.254.169.254']);
    expect(await get(client, url, { connection: 'close' })).toMatchObject({ kind: 'response' });
    expect(await get(client, url)).toMatchObject({ kind: 'fault', code: 'blocked-address', sent: false });
    expect([asked.length, server.seen.length]).toEqual([2, 1]);
  });
});

describe('a provider', () => {
  const openai = (http: HttpClient, url: string) =>
    resolveProvider(
      { id: 'openai:chat:gpt-4.1', config: { apiBaseUrl: `${url}/v1`, apiKey: 'sk-test' } },
      { clock, env: {}, basePath: '/', http },
    );
  const ask = (provider: ReturnType<typeof openai>) =>
    provider.call({ kind: 'chat', prompt: 'hello' }, { signal: new AbortController().signal, onHead: () => {} });

  test('whose host name leads to the metadata service fails for good, costs nothing and is not tried again', async () => {
    const { client, asked } = clientResolving(['169.254.169.254']);
    expect(await ask(openai(client, 'http://models.example'))).toMatchObject({
      kind: 'failure',
      code: 'blocked_address',
      retryable: false,
      billed: 'no',
    });
    expect(asked).toEqual(['models.example']);
  });

  test('is reached by the same name when it leads somewhere else', async () => {
    await using server = await startAnsweringServer(
      json({ choices: [{ message: { content: 'yes' }, finish_reason: 'stop' }] }),
    );
    const { client } = clientResolving(['127.0.0.1']);
    const provider = openai(client, `http://models.example:${new URL(server.url).port}`);
    expect(await ask(provider)).toMatchObject({ kind: 'reply', text: 'yes' });
  });
});
