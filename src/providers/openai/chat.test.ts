import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { json } from '../fixtures/answering-server.ts';
import { canary, rig } from '../fixtures/provider-rig.ts';

const completion = (message: object, rest: object = {}) => ({
  id: 'c1',
  model: 'gpt-4.1-mini-2025-04-14',
  system_fingerprint: 'fp_1',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
  ...rest,
});

const provider =
  (config: object = {}, id = 'openai:chat:gpt-4.1-mini') =>
  (url: string) => ({
    id,
    config: { apiBaseUrl: `${url}/v1`, apiKey: canary, ...config },
  });

describe('openai chat', () => {
  test('answers with text, usage, cost, served model and hints, also at the head', async () => {
    await using it = await rig(
      provider(),
      json(completion({ content: 'hi' }), 200, {
        'x-ratelimit-limit-requests': '500',
        'x-ratelimit-remaining-requests': '499',
        'x-ratelimit-reset-requests': '120ms',
      }),
    );
    const reply = await it.reply();
    expect(reply).toMatchObject({
      text: 'hi',
      output: 'hi',
      finishReason: 'stop',
      servedModel: 'gpt-4.1-mini-2025-04-14',
      fingerprint: 'fp_1',
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4 },
      flags: [],
      cached: false,
    });
    expect(reply.costUsdMicros).toBeCloseTo(6 * 0.4 + 4 * 0.1 + 5 * 1.6);
    expect(reply.hints?.readings).toEqual([{ resource: 'requests', limit: 500, remaining: 499, resetMs: 120 }]);
    expect(it.heads).toEqual([reply.hints]);
    expect(it.server.seen[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      json: { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'hello' }], max_tokens: 1024, temperature: 0 },
    });
    expect(it.server.seen[0]?.headers.authorization).toBe(`Bearer ${canary}`);
  });

  test('sends the vendor messages of a JSON prompt untouched', async () => {
    await using it = await rig(provider(), json(completion({ content: 'hi' })));
    const messages = [{ role: 'developer', content: [{ type: 'text', text: 'x', cache: 1 }] }];
    await it.reply({ kind: 'chat', prompt: JSON.stringify(messages) });
    expect(it.server.seen[0]?.json.messages).toEqual(messages);
  });

  test('fails a prompt that was meant to be JSON and is not, without sending it', async () => {
    await using it = await rig(provider(), json(completion({ content: 'hi' })));
    expect(await it.failure({ kind: 'chat', prompt: '[{"role": }]' })).toMatchObject({ code: 'invalid_request' });
    expect(it.server.seen).toEqual([]);
  });

  test('passes tool calls on with their argument text untouched', async () => {
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a": 1,,' } }];
    await using it = await rig(provider(), json(completion({ content: null, tool_calls })));
    const reply = await it.reply();
    expect(reply.toolCalls).toEqual(tool_calls);
    expect(reply.output).toEqual(tool_calls);
    expect(reply.text).toBe('');
  });

  test('sends messages and tools of a conversation without defaults of its own', async () => {
    await using it = await rig(provider(), json(completion({ content: 'hi' })));
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }];
    await it.reply({
      kind: 'chat',
      messages: [{ role: 'user', content: 'x' }],
      tools,
      seed: 7,
      params: { parallel_tool_calls: false },
    });
    expect(it.server.seen[0]?.json).toEqual({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'x' }],
      tools,
      seed: 7,
      parallel_tool_calls: false,
    });
  });

  test('gives reasoning models max_completion_tokens and no temperature', async () => {
    await using it = await rig(
      provider(
        { max_tokens: 5, temperature: 1, max_completion_tokens: 9, reasoning_effort: '{{ effort }}' },
        'openai:gpt-5-mini',
      ),
      json(completion({ content: 'hi' })),
    );
    await it.reply({ kind: 'chat', prompt: 'x', context: { vars: { effort: 'low' } } });
    expect(it.server.seen[0]?.json).toEqual({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: 'x' }],
      max_completion_tokens: 9,
      reasoning_effort: 'low',
    });
  });

  test('parses an answer that follows a JSON schema', async () => {
    const response_format = { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } };
    await using it = await rig(provider({ response_format }), json(completion({ content: '{"a":1}' })));
    expect((await it.reply()).output).toEqual({ a: 1 });
    expect(it.server.seen[0]?.json.response_format).toEqual(response_format);
  });

  test('a refusal and a content filter are replies', async () => {
    await using it = await rig(provider(), json(completion({ content: null, refusal: 'No.' })));
    expect(await it.reply()).toMatchObject({ output: 'No.', finishReason: 'refusal', flagged: true });
    it.server.answer = json({
      ...completion({ content: '' }),
      choices: [{ message: { content: '' }, finish_reason: 'content_filter' }],
    });
    expect(await it.reply()).toMatchObject({ finishReason: 'content_filter' });
    it.server.answer = json({ error: { code: 'content_filter', message: 'filtered' } }, 400);
    expect(await it.reply()).toMatchObject({ finishReason: 'content_filter', status: 400 });
  });

  test('names what ran out on a 429 and keeps the hint', async () => {
    await using it = await rig(
      provider(),
      json({ error: { code: 'rate_limit_exceeded', type: 'tokens', message: 'slow' } }, 429, {
        'retry-after-ms': '1500',
        'retry-after': '9',
      }),
    );
    expect(await it.failure()).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      resource: 'tokens',
      status: 429,
      hints: { retryAfterMs: 1500 },
      billed: 'no',
    });
    expect(it.server.seen).toHaveLength(1);
    expect(it.heads).toHaveLength(1);
  });

  test('aborts within the call and closes the socket', async () => {
    await using it = await rig(provider(), () => {});
    const controller = new AbortController();
    const pending = it.call(undefined, controller.signal);
    await it.server.arrived;
    controller.abort();
    expect(await pending).toMatchObject({ kind: 'failure', code: 'aborted', retryable: false });
    await it.server.cut;
  });

  test('never shows its key: not in a failure that echoes it, not in what inspects', async () => {
    await using it = await rig(
      provider(),
      json({ error: { code: 'invalid_api_key', message: `Incorrect API key: ${canary}` } }, 401),
    );
    const failure = await it.failure();
    expect(failure.code).toBe('auth');
    for (const shown of [
      inspect(failure, { depth: 20 }),
      JSON.stringify(failure),
      inspect(it.provider, { depth: 20, showHidden: true }),
    ]) {
      expect(shown).not.toContain(canary);
    }
  });

  test('an answer that is no answer fails with a reason', async () => {
    await using it = await rig(provider(), json({ id: 'x', choices: [] }));
    expect(await it.failure()).toMatchObject({ code: 'empty_response', retryOnce: true });
    it.server.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
    };
    expect(await it.failure()).toMatchObject({ code: 'bad_response', retryOnce: true, raw: '<html>Sign in</html>' });
    it.server.answer = (response) => {
      response.writeHead(200).end();
    };
    expect(await it.failure()).toMatchObject({ code: 'empty_response' });
    it.server.answer = json({ error: { code: 429, message: 'upstream is busy' } });
    expect(await it.failure()).toMatchObject({ code: 'rate_limited', status: 429 });
    it.server.answer = (response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    };
    expect(await it.failure()).toMatchObject({ code: 'redirect', retryable: false });
  });

  test('accepts JSON under a wrong content type, and says so', async () => {
    await using it = await rig(provider(), (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(JSON.stringify(completion({ content: 'hi' })));
    });
    expect((await it.reply()).flags).toEqual(['wrong-content-type']);
  });
});
