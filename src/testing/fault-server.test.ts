import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, paidTwice, spawnFaultServer, startFaultServer } from './index.ts';

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

interface Call {
  readonly path?: string;
  readonly key?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

const chatBody = { model: 'm', messages: [{ role: 'user', content: 'hello there' }] };

const post = (call: Call = {}, url = server.url): Promise<Response> =>
  fetch(`${url}${call.path ?? '/v1/chat/completions'}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: `Bearer ${call.key ?? 'key'}`, 'content-type': 'application/json', ...call.headers },
    body: JSON.stringify(call.body ?? chatBody),
    ...(call.signal ? { signal: call.signal } : {}),
  });

const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('formats', () => {
  const anthropic = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'hello there' }] };
  const gemini = { contents: [{ role: 'user', parts: [{ text: 'hello there' }] }] };
  const bedrock = { messages: [{ role: 'user', content: [{ text: 'hello there' }] }] };
  it.each([
    ['OpenAI chat', '/v1/chat/completions', chatBody, 'choices.0.message.content'],
    ['any prefix', '/groq/openai/v1/chat/completions', chatBody, 'choices.0.message.content'],
    ['Azure', '/openai/deployments/gpt/chat/completions?api-version=1', chatBody, 'choices.0.message.content'],
    ['completions', '/v1/completions', { model: 'm', prompt: 'hello there' }, 'choices.0.text'],
    ['OpenAI responses', '/v1/responses', { model: 'm', input: 'hello there' }, 'output.0.content.0.text'],
    ['Anthropic', '/v1/messages', anthropic, 'content.0.text'],
    ['Gemini', '/v1beta/models/gem:generateContent', gemini, 'candidates.0.content.parts.0.text'],
    ['Bedrock', '/model/a.b%3A0/converse', bedrock, 'output.message.content.0.text'],
    ['Ollama chat', '/api/chat', chatBody, 'message.content'],
    ['Ollama generate', '/api/generate', { model: 'm', prompt: 'hello there' }, 'response'],
  ])('%s is answered with an echo where its vendor puts the text', async (_name, path, body, where) => {
    const answer = await json(await post({ path, body }));
    const text = where.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], answer);
    expect(text).toBe('echo: hello there');
  });

  it('embeds equal texts equally and different texts differently', async () => {
    const embed = async (input: string): Promise<unknown> =>
      (await json(await post({ path: '/v1/embeddings', body: { model: 'e', input } })))['data'];
    expect(await embed('one')).toEqual(await embed('one'));
    expect(await embed('one')).not.toEqual(await embed('two'));
  });

  it('flags what is forbidden in a moderation', async () => {
    const answer = await json(await post({ path: '/v1/moderations', body: { input: 'forbidden things' } }));
    expect(answer['results']).toMatchObject([{ flagged: true, categories: { violence: true, hate: false } }]);
  });

  it('says which paths it does not know', async () => {
    const response = await post({ path: '/v1/unknown' });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('/v1/unknown');
  });

  it('reads the model from the path and the key from every place a vendor uses', async () => {
    const paths: [string, Record<string, string>, string][] = [
      ['/v1/messages', { authorization: '', 'x-api-key': 'k-anthropic' }, 'k-anthropic'],
      ['/openai/deployments/d/chat/completions', { authorization: '', 'api-key': 'k-azure' }, 'k-azure'],
      ['/v1beta/models/g:generateContent?key=k-google', { authorization: '' }, 'k-google'],
      ['/model/b/converse', { authorization: 'AWS4-HMAC-SHA256 Credential=AKIA1/2026/x, Signed' }, 'AKIA1'],
    ];
    for (const [path, headers, key] of paths) {
      await (await post({ path, headers })).text();
      expect(server.key(key).requests).toBe(1);
    }
    expect(server.ledger.slice(-4).map(({ model }) => model)).toEqual(['m', 'd', 'g', 'b']);
  });
});

describe('programmed replies', () => {
  it('sends tool calls with the argument text exactly as programmed, broken or not', async () => {
    server.behave({ key: 'tools', replies: { toolCalls: [{ name: 'find', arguments: '{"a": 1,, }' }] } });
    const answer = await json(await post({ key: 'tools' }));
    expect(answer).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { arguments: '{"a": 1,, }' } }] } }],
    });
  });

  it('uses a list in order and then keeps its last reply', async () => {
    server.behave({ key: 'list', replies: ['one', 'two'] });
    const texts: unknown[] = [];
    for (let at = 0; at < 3; at += 1) texts.push((await json(await post({ key: 'list' })))['choices']);
    const contents = texts.map((choices) => (choices as { message: { content: string } }[])[0]?.message.content);
    expect(contents).toEqual(['one', 'two', 'two']);
  });

  it('lets a callback see the request, and answers 500 when the callback throws', async () => {
    server.behave({ key: 'call', replies: (seen) => `${seen.keyNumber} ${seen.lastText} ${seen.tools.join()}` });
    server.behave({ key: 'bad-call', replies: () => Promise.reject(new Error('no idea')) });
    const tools = [{ type: 'function', function: { name: 'look' } }];
    expect(await (await post({ key: 'call', body: { ...chatBody, tools } })).text()).toContain('1 hello there look');
    expect((await post({ key: 'bad-call' })).status).toBe(500);
  });

  it('counts given usage into the answer', async () => {
    server.behave({ key: 'usage', replies: { text: 'x', usage: { input: 100, output: 7, cached: 40 } } });
    const answer = await json(await post({ key: 'usage' }));
    expect(answer['usage']).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 40 },
    });
  });
});

describe('books', () => {
  it('finds an answer that was paid twice, by idempotency key or by equal bodies', async () => {
    await using own = await startFaultServer();
    const call = (text: string, headers = {}): Promise<string> =>
      post({ body: { model: 'm', messages: [{ role: 'user', content: text }] }, headers }, own.url).then((r) =>
        r.text(),
      );
    await call('a');
    await call('b', { 'idempotency-key': 'one' });
    expect(paidTwice(own.ledger)).toEqual([]);
    await call('a');
    await call('c', { 'idempotency-key': 'one' });
    expect(paidTwice(own.ledger).map(({ entries }) => entries.length)).toEqual([2, 2]);
  });

  it('notes when a client hangs up before its answer', async () => {
    server.behave({ key: 'hang', faults: { always: 34 } });
    const abort = new AbortController();
    const call = post({ key: 'hang', signal: abort.signal }).catch(() => 'aborted');
    await expect.poll(() => server.key('hang').requests, { interval: 2 }).toBe(1);
    abort.abort();
    expect(await call).toBe('aborted');
    await expect.poll(() => server.key('hang').closedByClient, { interval: 2 }).toBe(1);
    expect(server.ledger.at(-1)).toMatchObject({ key: 'hang', billed: true, delivered: false });
  });

  it('is steered and read over its control addresses, and forgets on reset', async () => {
    await using own = await startFaultServer();
    const control = (name: string, body: object = {}): Promise<Response> =>
      post({ path: `/__fault-server/${name}`, body }, own.url);
    await (await control('behave', { faults: { always: 17 } })).text();
    expect((await post({}, own.url)).status).toBe(500);
    expect(await json(await control('stats'))).toMatchObject({ requests: 1, keys: { key: { statuses: { 500: 1 } } } });
    expect((await control('behave', { faults: { always: 99 } })).status).toBe(400);
    await (await control('reset')).text();
    expect(own.statistics.requests).toBe(0);
  });
});

describe('time', () => {
  it('holds answers back on the clock it is given', async () => {
    const timers: { at: number; fire: () => void }[] = [];
    const at = (time: number, fire: () => void): (() => void) => {
      timers.push({ at: time, fire });
      return () => {};
    };
    const clock = { now: () => 1000, at };
    await using own = await startFaultServer({ latency: '250ms', clock });
    const call = post({}, own.url);
    await expect.poll(() => timers.length, { interval: 2 }).toBe(1);
    expect(timers[0]?.at).toBe(1250);
    timers[0]?.fire();
    expect((await call).status).toBe(200);
  });
});

describe('a process of its own', () => {
  it('answers, and is read and steered from outside', async () => {
    await using own = await spawnFaultServer({ replies: 'from afar', limits: { rpm: 2 } });
    expect(await (await post({}, own.url)).text()).toContain('from afar');
    await own.behave({ key: 'other', faults: { always: 19 } });
    expect((await post({ key: 'other' }, own.url)).status).toBe(529);
    expect(await own.statistics()).toMatchObject({ requests: 2, keys: { key: { statuses: { 200: 1 } } } });
    expect((await own.ledger()).map(({ billed }) => billed)).toEqual([true, false]);
    expect(await own.paidTwice()).toEqual([]);
    await own.reset();
    expect((await own.statistics()).requests).toBe(0);
  });
});
