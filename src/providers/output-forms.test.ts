import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CodeRunner } from '../domain/code-runner.ts';
import { json } from './fixtures/answering-server.ts';
import { canary, rig } from './fixtures/provider-rig.ts';

const basePath = mkdtempSync(join(tmpdir(), 'parlane-forms-'));
afterAll(() => rmSync(basePath, { recursive: true }));
const to =
  (id: string, config: object = {}) =>
  (url: string) => ({ id, config: { apiBaseUrl: url, apiKey: canary, ...config } });

/** Runs inline code in this process; the real runner is elsewhere. */
const code: CodeRunner = {
  async run({ code: source, args }) {
    if (source.kind === 'file') return { kind: 'broke', cause: 'no-interpreter', message: 'no files here' };
    try {
      return { kind: 'returned', value: new Function(...source.parameters, source.body)(...args) };
    } catch (error) {
      return { kind: 'threw', message: String(error) };
    }
  },
};

describe('the output that an eval grades', () => {
  const responses = (output: object[], rest: object = {}) =>
    json({ id: 'r', model: 'm', status: 'completed', output, usage: { input_tokens: 1, output_tokens: 1 }, ...rest });
  const message = (text: string) => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  });

  test('responses: reasoning, searches, texts and calls are joined in order', async () => {
    await using it = await rig(
      to('openai:responses:o3'),
      responses([
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'think' }] },
        { type: 'web_search_call', action: { type: 'search', query: 'q' } },
        message('one'),
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a": 1}', status: 'completed' },
      ]),
    );
    const reply = await it.reply();
    expect(reply.output).toBe(
      'Reasoning: think\nWeb Search: "q"\none\n{"type":"function_call","call_id":"c1","name":"f","arguments":"{\\"a\\": 1}","status":"completed"}',
    );
    expect(reply.toolCalls).toEqual([{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }]);
    expect(reply).toMatchObject({ text: 'one', finishReason: 'tool_calls', metadata: { responseId: 'r' } });
  });

  test('responses: the body has flat tools, text format and reasoning', async () => {
    await using it = await rig(
      to('openai:responses:gpt-5.4', {
        reasoning: { effort: '{{ effort }}', summary: 'auto' },
        max_output_tokens: 9,
        temperature: 1,
        verbosity: 'low',
        tools: [{ type: 'function', function: { name: 'f', parameters: {} } }, { type: 'web_search' }],
        response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
      }),
      responses([message('{"a":1}')]),
    );
    const reply = await it.reply({ kind: 'chat', prompt: 'x', context: { vars: { effort: 'high' } } });
    expect(reply.output).toEqual({ a: 1 });
    expect(it.server.seen[0]?.json).toEqual({
      model: 'gpt-5.4',
      input: 'x',
      max_output_tokens: 9,
      reasoning: { effort: 'high', summary: 'auto' },
      tools: [{ type: 'function', name: 'f', parameters: {} }, { type: 'web_search' }],
      text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
    });
  });

  test('responses: a truncated and a refused answer are replies', async () => {
    await using it = await rig(
      to('openai:responses:gpt-4.1'),
      responses([message('half')], { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
    );
    expect(await it.reply()).toMatchObject({ output: 'half', finishReason: 'length' });
    it.server.answer = responses([
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
    expect(await it.reply()).toMatchObject({ output: 'No.', finishReason: 'refusal' });
  });

  test('chat: a tool call is answered by its callback, and stays a call when the callback fails', async () => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } }];
    const answer = json({ choices: [{ message: { content: null, tool_calls }, finish_reason: 'tool_calls' }] });
    const config = (add: string) => ({ functionToolCallbacks: { add } });
    await using good = await rig(
      to('openai:gpt-4.1', config('(args) => { const { a, b } = JSON.parse(args); return a + b; }')),
      answer,
      { code },
    );
    expect((await good.reply()).output).toBe('5');
    await using bad = await rig(to('openai:gpt-4.1', config('() => { throw new Error("no"); }')), answer, { code });
    expect((await bad.reply()).output).toEqual(tool_calls);
  });

  test('chat: thoughts stand before the answer unless they are hidden, and functions come back as calls', async () => {
    const answer = json({
      choices: [{ message: { content: 'four', reasoning_content: 'two and two' }, finish_reason: 'stop' }],
    });
    await using shown = await rig(to('deepseek:deepseek-reasoner'), answer);
    expect(await shown.reply()).toMatchObject({
      output: 'Thinking: two and two\n\nfour',
      text: 'four',
      reasoning: 'two and two',
    });
    await using hidden = await rig(to('deepseek:deepseek-reasoner', { showThinking: false }), answer);
    expect((await hidden.reply()).output).toBe('four');
    shown.server.answer = json({
      choices: [
        { message: { content: null, function_call: { name: 'f', arguments: '{}' } }, finish_reason: 'function_call' },
      ],
    });
    expect((await shown.reply()).output).toEqual({ name: 'f', arguments: '{}' });
  });

  test('chat: tools, schemas and formats may stand in files, with variables in their names', async () => {
    writeFileSync(join(basePath, 'tools.yaml'), '- type: function\n  function: {name: f}\n');
    writeFileSync(
      join(basePath, 'person.json'),
      '{"type":"json_schema","json_schema":{"name":"p","schema":"file://schema.json"}}',
    );
    writeFileSync(join(basePath, 'schema.json'), '{"type":"object"}');
    await using it = await rig(
      to('openai:gpt-4.1', { tools: 'file://tools.yaml', response_format: 'file://{{ what }}.json' }),
      json({ choices: [{ message: { content: '{}' } }] }),
      { basePath },
    );
    await it.reply({ kind: 'chat', prompt: 'x', context: { vars: { what: 'person' } } });
    expect(it.server.seen[0]?.json).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f' } }],
      response_format: { type: 'json_schema', json_schema: { name: 'p', schema: { type: 'object' } } },
    });
    expect(await it.failure({ kind: 'chat', prompt: 'x', context: { vars: { what: 'nobody' } } })).toMatchObject({
      code: 'program',
    });
    expect(it.server.seen).toHaveLength(1);
  });

  test('parameters of one call reach the wire, options of its test do not', async () => {
    const params = { logit_bias: { 5: 1 }, transform: 'output', storeOutputAs: 'x', top_p: 0.5, apiKey: 'k' };
    const ask = { kind: 'chat' as const, messages: [{ role: 'user' as const, content: 'x' }], params };
    await using chat = await rig(to('openai:gpt-4.1'), json({ choices: [{ message: { content: 'hi' } }] }));
    await chat.reply(ask);
    expect(chat.server.seen[0]?.json).toEqual({
      model: 'gpt-4.1',
      messages: ask.messages,
      top_p: 0.5,
      logit_bias: { 5: 1 },
    });
    await using claude = await rig(
      to('anthropic:claude-sonnet-4-6'),
      json({ content: [{ type: 'text', text: 'hi' }] }),
    );
    await claude.reply(ask);
    expect(claude.server.seen[0]?.json).toMatchObject({ top_p: 0.5, logit_bias: { 5: 1 } });
    expect(claude.server.seen[0]?.json).not.toHaveProperty('transform');
  });

  test('openrouter: calls come before words, thoughts stand in for missing words', async () => {
    const tool_calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
    await using it = await rig(to('openrouter:a/b'), json({ choices: [{ message: { content: 'hm', tool_calls } }] }));
    expect((await it.reply()).output).toEqual(tool_calls);
    it.server.answer = json({ choices: [{ message: { content: '', reasoning: 'because' } }] });
    expect((await it.reply()).output).toBe('because');
  });

  test('anthropic: roles in lines, system apart, blocks joined, newer models without temperature', async () => {
    const answer = json({
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      stop_reason: 'end_turn',
      model: 'claude-opus-5',
      usage: { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 7 },
    });
    await using it = await rig(to('anthropic:messages:claude-opus-5', { temperature: 0.5 }), answer);
    const reply = await it.reply({ kind: 'chat', prompt: 'system: be brief\nuser: hi\nassistant: yes?\nuser: go\non' });
    expect(reply).toMatchObject({
      output: 'a\n\nb',
      usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 7 },
    });
    expect(it.server.seen[0]?.json).toEqual({
      model: 'claude-opus-5',
      system: [{ type: 'text', text: 'be brief' }],
      max_tokens: 1024,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'yes?' }] },
        { role: 'user', content: [{ type: 'text', text: 'go\non' }] },
      ],
      stream: false,
    });
    expect(it.server.seen[0]?.headers).toMatchObject({ 'x-api-key': canary, 'anthropic-version': '2023-06-01' });
  });

  test('anthropic: tools of OpenAI form are translated, thoughts and calls are shown as text', async () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
    ];
    await using it = await rig(
      to('anthropic:messages:claude-sonnet-4-6', {
        tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
        tool_choice: 'required',
      }),
      json({ content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } }),
    );
    expect((await it.reply()).output).toBe(
      'Thinking: hm\nSignature: s\n\n{"type":"tool_use","id":"t","name":"f","input":{"a":1}}',
    );
    expect(it.server.seen[0]?.json).toMatchObject({
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
      temperature: 0,
    });
  });

  test('google: messages of OpenAI form become contents, function calls stay parts', async () => {
    const parts = [{ functionCall: { name: 'f', args: { a: 1 } } }];
    await using it = await rig(
      to('google:gemini-2.5-flash', {
        temperature: 0.2,
        tools: [
          { type: 'function', function: { name: 'f', parameters: { type: 'object', additionalProperties: false } } },
        ],
      }),
      json({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }),
    );
    const reply = await it.reply({
      kind: 'chat',
      prompt: JSON.stringify([
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        { role: 'assistant', content: 'a' },
      ]),
    });
    expect(reply.output).toEqual(parts);
    expect(it.server.seen[0]?.json).toEqual({
      contents: [
        { role: 'user', parts: [{ text: 'u' }] },
        { role: 'model', parts: [{ text: 'a' }] },
      ],
      generationConfig: { temperature: 0.2 },
      tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }],
      system_instruction: { parts: [{ text: 's' }] },
    });
    it.server.answer = json({ promptFeedback: { blockReason: 'SAFETY' } });
    expect(await it.reply()).toMatchObject({ finishReason: 'content_filter', flagged: true });
  });

  test('bedrock: signs what it sends, for its region, and keeps the token out of sight', async () => {
    await using it = await rig(
      (url) => ({
        id: 'bedrock:eu.anthropic.claude-sonnet-4-6',
        config: {
          apiBaseUrl: url,
          accessKeyId: 'AKID',
          secretAccessKey: canary,
          sessionToken: 'session-token',
          region: 'eu-west-1',
          max_tokens: 5,
        },
      }),
      json({
        output: { message: { content: [{ text: 'hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1 },
      }),
    );
    expect((await it.reply({ kind: 'chat', prompt: 'user: x' })).output).toBe('hi');
    const seen = it.server.seen[0];
    expect(seen?.path).toBe('/model/eu.anthropic.claude-sonnet-4-6/converse');
    expect(seen?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;/,
    );
    expect(seen?.headers['x-amz-security-token']).toBe('session-token');
    expect(seen?.json).toEqual({
      messages: [{ role: 'user', content: [{ text: 'x' }] }],
      inferenceConfig: { maxTokens: 5 },
    });
  });
});

describe('the http provider', () => {
  const target = (config: object) => (url: string) => ({ id: `${url}/chat?fixed=1`, config: config as never });

  test('fills url, headers, query and body from variables, and unpacks JSON values', async () => {
    await using it = await rig(
      target({
        method: 'POST',
        headers: { 'X-Trace': '{{ trace }}', Authorization: 'Bearer {{ env.TOKEN }}' },
        queryParams: { q: '{{ topic }}' },
        body: { text: '{{ prompt }}', history: '{{ history }}', n: 3 },
        transformResponse: 'json.answer',
      }),
      json({ answer: 'fine', model: 'x' }),
      { env: { TOKEN: canary } },
    );
    const reply = await it.reply({
      kind: 'chat',
      prompt: 'say "hi"',
      context: { vars: { trace: 't1', topic: 'a b', history: '[{"a":1}]' } },
    });
    expect(reply).toMatchObject({ output: 'fine', flags: ['usage-missing'] });
    expect(it.server.seen[0]).toMatchObject({
      method: 'POST',
      path: '/chat?fixed=1&q=a+b',
      json: { text: 'say "hi"', history: [{ a: 1 }], n: 3 },
    });
    expect(it.server.seen[0]?.headers).toMatchObject({
      'x-trace': 't1',
      authorization: `Bearer ${canary}`,
      'content-type': 'application/json',
    });
  });

  test('sends a raw request with values escaped for JSON', async () => {
    await using it = await rig(
      (url) => ({
        id: 'http',
        config: {
          request: `POST /raw/{{ id }} HTTP/1.1\nHost: ${url.slice(7)}\nContent-Type: application/json\n\n{"text": "{{ prompt }}"}`,
        },
      }),
      json({ ok: true }),
    );
    expect((await it.reply({ kind: 'chat', prompt: 'line\n"two"', context: { vars: { id: 7 } } })).output).toEqual({
      ok: true,
    });
    expect(it.server.seen[0]).toMatchObject({ path: '/raw/7', json: { text: 'line\n"two"' } });
  });

  test('runs transforms that are code, and takes a whole response from them', async () => {
    const transformResponse =
      '({ output: json.a + 1, tokenUsage: { prompt: 4, completion: 2 }, metadata: { seen: text.length } })';
    await using it = await rig(
      target({ body: {}, transformResponse, transformRequest: '({ wrapped: prompt })' }),
      json({ a: 1 }),
      { code },
    );
    expect(await it.reply()).toMatchObject({
      output: 2,
      usage: { inputTokens: 4, outputTokens: 2 },
      metadata: { seen: 7 },
    });
    expect(it.server.seen[0]?.json).toEqual({ wrapped: 'hello' });
    it.server.answer = json({ b: null });
    await using broken = await rig(target({ body: {}, transformResponse: 'json.a.b.c' }), json({ a: 1 }));
    expect(await broken.failure()).toMatchObject({ code: 'program' });
  });

  test('validateStatus decides what is an answer; without it patience is never one', async () => {
    await using strict = await rig(
      target({ body: {}, validateStatus: 'status >= 200 && status < 300' }),
      json({ message: 'teapot' }, 418),
    );
    expect(await strict.failure()).toMatchObject({ code: 'invalid_request', status: 418 });
    await using lax = await rig(target({ body: {} }), json({ message: 'teapot' }, 418));
    expect((await lax.reply()).output).toEqual({ message: 'teapot' });
    lax.server.answer = json({}, 429, { 'retry-after': '2' });
    expect(await lax.failure()).toMatchObject({ code: 'rate_limited', hints: { retryAfterMs: 2_000 } });
  });

  test('never calls a metadata address, whatever the template says', async () => {
    const url = 'http://{{ prompt }}/latest/meta-data';
    await using it = await rig(() => ({ id: 'http', config: { url, method: 'GET' } }), json({}));
    expect(await it.failure({ kind: 'chat', prompt: '169.254.169.254' })).toMatchObject({
      code: 'blocked_address',
      billed: 'no',
    });
  });
});
