import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { ModelRequest } from '../domain/message.ts';
import type { CallOptions } from '../domain/provider.ts';
import type { RateHints } from '../domain/reply.ts';
import { realClock } from '../platform/clock.ts';
import { type FaultServerOptions, startFaultServer } from '../testing/index.ts';
import { type AdapterUnderTest, adapters } from './fixtures/adapters.ts';
import { canary } from './fixtures/provider-rig.ts';
import { createHttpClient } from './http-client.ts';
import { resolveProvider } from './resolve-provider.ts';

const http = createHttpClient({ clock: realClock });
afterAll(() => http.close());

const requestFor = ({ kind }: AdapterUnderTest): ModelRequest =>
  kind === 'chat' ? { kind, prompt: 'hello there' } : { kind, input: 'hello there' };

async function meet(adapter: AdapterUnderTest, server: FaultServerOptions = {}) {
  const running = await startFaultServer(server);
  const provider = resolveProvider(adapter.options(running.url, canary), {
    clock: realClock,
    env: {},
    basePath: '/',
    http,
  });
  const heads: RateHints[] = [];
  const call = (options: Partial<CallOptions> = {}, request = requestFor(adapter)) =>
    provider.call(request, { signal: new AbortController().signal, onHead: (hints) => heads.push(hints), ...options });
  return { server: running, provider, heads, call, [Symbol.asyncDispose]: () => running.close() };
}

describe.each(adapters)('$name, over a real socket', (adapter) => {
  test('answers, with usage and served model, at the address it was given', async () => {
    await using it = await meet(adapter, { replies: { text: 'well met', usage: { input: 11, output: 7 } } });
    const outcome = await it.call();
    expect(outcome).toMatchObject({ kind: 'reply', cached: false, status: 200 });
    if (outcome.kind !== 'reply') return;
    if (adapter.kind === 'chat') {
      expect(outcome).toMatchObject({ text: 'well met', output: 'well met', finishReason: 'stop', toolCalls: [] });
      expect(outcome.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    }
    if (adapter.kind === 'embedding') expect(outcome.embedding?.length).toBeGreaterThan(1);
    if (adapter.kind === 'moderation') expect(outcome.flagged).toBe(false);
    expect(it.server.statistics).toMatchObject({ requests: 1, unrecognised: 0 });
    expect(it.heads).toHaveLength(1);
  });

  test('reads hints on success and on error', async () => {
    await using it = await meet(adapter, { limits: { rpm: 1 } });
    const first = await it.call();
    if (adapter.hints)
      expect(first.hints?.readings).toContainEqual(expect.objectContaining({ resource: 'requests', limit: 1 }));
    const second = await it.call();
    expect(second).toMatchObject({ kind: 'failure', retryable: true });
    expect(['rate_limited', 'overloaded', 'daily_exhausted']).toContain((second as { code: string }).code);
    if (adapter.hints) expect(second.hints?.retryAfterMs ?? second.hints?.readings.length).toBeGreaterThan(0);
    expect(it.heads).toHaveLength(2);
  });

  test('closes the socket when it is aborted', async () => {
    await using it = await meet(adapter, { latency: 60_000 });
    const controller = new AbortController();
    const pending = it.call({ signal: controller.signal });
    await expect.poll(() => it.server.statistics.requests, { interval: 1 }).toBe(1);
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'failure', code: 'aborted' });
    await expect.poll(() => it.server.ledger[0]?.endedAt, { interval: 1 }).toBeDefined();
    expect(it.server.ledger[0]?.delivered).toBe(false);
  });

  test('never shows its key', async () => {
    await using it = await meet(adapter, { faults: { always: 59 } });
    const outcome = await it.call();
    expect(outcome).toMatchObject({ kind: 'failure' });
    const shown = [outcome, it.provider].flatMap((value) => [
      inspect(value, { depth: 20, showHidden: true }),
      JSON.stringify(value),
    ]);
    expect(shown.join('\n')).not.toContain(canary);
  });
});

describe.each(adapters.filter(({ noTools }) => noTools !== true))('$name with tools', (adapter) => {
  test('passes tool calls on', async () => {
    const args = adapter.textArguments ? '{"city": "Ulm",, }' : '{"city":"Ulm"}';
    await using it = await meet(adapter, {
      replies: { toolCalls: [{ name: 'weather', arguments: args, id: 'call_7' }] },
    });
    const outcome = await it.call();
    expect(outcome).toMatchObject({ kind: 'reply', text: '', finishReason: 'tool_calls' });
    if (outcome.kind !== 'reply') return;
    expect(outcome.toolCalls.map(({ function: call }) => call)).toEqual([{ name: 'weather', arguments: args }]);
  });

  test('carries a conversation with tool calls and results', async () => {
    await using it = await meet(adapter, { replies: 'it rains' });
    const outcome = await it.call(
      {},
      {
        kind: 'chat',
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: '',
            tool_calls: [
              { id: 'call_7', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_7', content: '{"sky":"grey"}' },
        ],
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description: 'the sky',
              parameters: { type: 'object', properties: { city: { type: 'string' } } },
            },
          },
        ],
        temperature: 0.5,
        maxTokens: 50,
      },
    );
    expect(outcome).toMatchObject({ kind: 'reply', text: 'it rains' });
  });
});
