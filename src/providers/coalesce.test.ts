import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../domain/message.ts';
import type { Outcome } from '../domain/reply.ts';
import { createCoalescer } from './coalesce.ts';
import { json } from './fixtures/answering-server.ts';
import { canary, rig } from './fixtures/provider-rig.ts';

const answer = (text: string) =>
  json({
    choices: [{ message: { content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2 },
  });
const options =
  (config: object = {}) =>
  (url: string) => ({ id: 'openai:gpt-4.1-mini', config: { apiBaseUrl: url, apiKey: canary, ...config } });
const chat = (rest: Partial<Extract<ModelRequest, { kind: 'chat' }>> = {}): ModelRequest => ({
  kind: 'chat',
  prompt: 'hi',
  ...rest,
});

describe('the key under which calls are the same', () => {
  test('tells models, parameters, messages, tools, settings and repeats apart, but not keys', async () => {
    await using it = await rig(options(), answer('x'));
    const key = (request: ModelRequest) => it.provider.cacheKey?.(request);
    const tools = [{ type: 'function' as const, function: { name: 'f' } }];
    const keys = [
      chat(),
      chat({ prompt: 'ho' }),
      chat({ temperature: 1 }),
      chat({ params: { top_p: 0.5 } }),
      chat({ tools }),
      chat({ seed: 1 }),
      chat({ repeatIndex: 1 }),
    ];
    expect(new Set(await Promise.all(keys.map(key))).size).toBe(keys.length);
    const other = async (config: object) => {
      await using that = await rig(() => options(config)(it.server.url), answer('x'));
      return that.provider.cacheKey?.(chat());
    };
    expect(await other({ showThinking: false })).not.toBe(await key(chat()));
    expect(await other({ apiKey: 'another key' })).toBe(await key(chat()));
  });
});

describe('coalescing', () => {
  const reply = { kind: 'reply', text: 'x', costUsdMicros: 7, flags: [] } as unknown as Outcome;
  const alive = new AbortController().signal;

  test('identical calls in flight are one call, and only the first one is charged', async () => {
    const coalescer = createCoalescer();
    const flight = Promise.withResolvers<Outcome>();
    let started = 0;
    const start = () => {
      started += 1;
      return flight.promise;
    };
    const both = [coalescer.run('k', alive, start), coalescer.run('k', alive, start)];
    flight.resolve(reply);
    expect(await Promise.all(both)).toMatchObject([
      { costUsdMicros: 7, flags: [] },
      { costUsdMicros: 0, flags: ['coalesced'] },
    ]);
    expect(started).toBe(1);
    await coalescer.run('k', alive, start);
    expect(started).toBe(2);
  });

  test('other keys, and calls without a key, are never shared', async () => {
    const coalescer = createCoalescer();
    let started = 0;
    const start = () => {
      started += 1;
      return Promise.resolve(reply);
    };
    await Promise.all(['a', 'b', undefined, undefined].map((key) => coalescer.run(key, alive, start)));
    expect(started).toBe(4);
  });

  test('one who leaves does not end the call of the others; the last one does', async () => {
    const coalescer = createCoalescer();
    const [first, second] = [new AbortController(), new AbortController()];
    let underlying = alive;
    const start = (signal: AbortSignal): Promise<Outcome> => {
      underlying = signal;
      return new Promise(() => {});
    };
    const waits = [coalescer.run('k', first.signal, start), coalescer.run('k', second.signal, start)];
    first.abort();
    expect(await waits[0]).toMatchObject({ code: 'aborted' });
    expect(underlying.aborted).toBe(false);
    second.abort();
    expect(await waits[1]).toMatchObject({ code: 'aborted' });
    expect(underlying.aborted).toBe(true);
  });
});
