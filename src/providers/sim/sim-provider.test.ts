import { describe, expect, it } from 'vitest';
import type { ChatMessage, ModelRequest, ToolDefinition } from '../../domain/message.ts';
import type { Outcome, ProviderFailure, Reply } from '../../domain/reply.ts';
import type { Clock } from '../../platform/clock.ts';
import { createSimProvider, simFactory } from './sim-provider.ts';

/** A clock that jumps to the next timer whenever everybody waits. */
class JumpingClock implements Clock {
  time = 0;
  #timers: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.time;
  }

  at(at: number, fire: () => void): () => void {
    const timer = { at, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Fires everything in order until `done` settles. */
  async until<T>(done: Promise<T>): Promise<T> {
    let open = true;
    const settled = done.finally(() => {
      open = false;
    });
    while (open) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (!open || next === undefined) continue;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.time = Math.max(this.time, next.at);
      next.fire();
    }
    return settled;
  }
}

const signal = new AbortController().signal;
const chat = (text: string): ModelRequest => ({ kind: 'chat', prompt: text });

const ask = (id: string, request: ModelRequest | string, clock = new JumpingClock()): Promise<Outcome> => {
  const provider = createSimProvider({ id }, clock);
  return clock.until(provider.call(typeof request === 'string' ? chat(request) : request, { signal }));
};

const reply = async (outcome: Promise<Outcome>): Promise<Reply> => {
  const value = await outcome;
  if (value.kind !== 'reply') throw new Error(value.message);
  return value;
};

const tool = (name: string, description: string, properties: object = {}, required: string[] = []): ToolDefinition => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object', properties: properties as never, required } },
});
const endCall = tool('end_call', 'Ends the call.', { reason: { type: 'string' } });

const speak = (id: string, messages: ChatMessage[], tools: ToolDefinition[] = []): Promise<Reply> =>
  reply(ask(id, { kind: 'chat', messages, tools }));

describe('ids', () => {
  it('name a preset and settings, and nothing else', () => {
    expect(simFactory.matches('sim:strict?rpm=60')).toBe(true);
    expect(simFactory.matches('similar:x')).toBe(false);
    const clock = new JumpingClock();
    const make = (id: string) => () => createSimProvider({ id }, clock);
    expect(make('sim:strct')).toThrow('sim:strict');
    expect(make('sim:fast?rmp=60')).toThrow('Did you mean rpm?');
    expect(make('sim:fast?rpm=-1')).toThrow('not a number above 0');
    expect(make('sim:fast?fail=200%')).toThrow('fail=2%');
    expect(make('sim:fast?latency=fast')).toThrow('300ms');
    expect(make('sim:fast?hints=loud')).toThrow('headers');
    expect(make('sim:fast?seed=x')).toThrow('whole number');
  });
});

describe('answers', () => {
  it('are the same for the same request and seed', async () => {
    const [one, two] = [
      await reply(ask('sim:fast', 'Tell me a story')),
      await reply(ask('sim:fast', 'Tell me a story')),
    ];
    expect(one).toEqual(two);
    expect(one).toMatchObject({ costUsdMicros: 0, status: 200, servedModel: 'sim:fast' });
  });

  it('to a question come from what the prompt itself says', async () => {
    const prompt =
      'Refunds above 100 euros need a manager.\nShipping is free.\n\nWho decides about refunds above 100 euros?';
    expect((await reply(ask('sim:instant', prompt))).text).toBe('Refunds above 100 euros need a manager.');
  });

  it('do what they are told, compute, and fill schemas', async () => {
    expect((await reply(ask('sim:instant', 'Reply only with the word "ready".'))).text).toBe('ready');
    expect((await reply(ask('sim:instant', 'What is 6 * 7?'))).text).toBe('42');
    const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 3 } }, required: ['n'] };
    const params = { response_format: { type: 'json_schema', json_schema: { schema } } };
    expect((await reply(ask('sim:instant', { kind: 'chat', prompt: 'x', params }))).text).toBe('{"n":3}');
  });

  it('can be fixed, scripted by turn, or ruled by what was said', async () => {
    expect((await reply(ask('sim:instant?reply=always', 'x'))).text).toBe('always');
    const clock = new JumpingClock();
    const config = {
      replies: ['first', { text: '', toolCalls: [{ name: 'look', arguments: '{"a":' }] }],
      rules: [{ when: '/ref+und/', reply: 'No refunds.' }],
    };
    const provider = createSimProvider({ id: 'sim:instant', config }, clock);
    const turn = (messages: ChatMessage[]): Promise<Reply> =>
      reply(clock.until(provider.call({ kind: 'chat', messages }, { signal })));
    const user = (content: string): ChatMessage => ({ role: 'user', content });
    const said = (content: string): ChatMessage => ({ role: 'assistant', content });
    expect((await turn([user('hi')])).text).toBe('first');
    expect((await turn([user('hi'), said('first'), user('go')])).toolCalls[0]?.function.arguments).toBe('{"a":');
    const later = [user('hi'), said('first'), said('b'), user('a refund?')];
    expect((await turn(later)).text).toBe('No refunds.');
  });

  it('cost what `price` says', async () => {
    const { usage, costUsdMicros } = await reply(ask('sim:instant?price=2/10&reply=12345678', 'abcd'.repeat(25)));
    expect(usage).toEqual({ inputTokens: 25, outputTokens: 2 });
    expect(costUsdMicros).toBe(25 * 2 + 2 * 10);
  });

  it('embed texts that share words near each other', async () => {
    const vector = async (input: string): Promise<readonly number[]> =>
      (await reply(ask('sim:instant', { kind: 'embedding', input }))).embedding ?? [];
    const dot = (a: readonly number[], b: readonly number[]): number =>
      a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);
    const [milk, oat, car] = [await vector('fresh milk'), await vector('oat milk'), await vector('racing cars')];
    expect(dot(milk, oat)).toBeGreaterThan(dot(milk, car));
  });
});

describe('time and limits', () => {
  it('let an answer take its latency on the given clock', async () => {
    const clock = new JumpingClock();
    await ask('sim:fast?latency=300ms', 'x', clock);
    expect(clock.time).toBe(300);
  });

  it('reject what is above the rate, with the wait that then suffices', async () => {
    const clock = new JumpingClock();
    const provider = createSimProvider({ id: 'sim:instant?rpm=60&burst=1' }, clock);
    const call = (): Promise<Outcome> => clock.until(provider.call(chat('x'), { signal }));
    expect((await call()).kind).toBe('reply');
    const refused = (await call()) as ProviderFailure;
    expect(refused).toMatchObject({ code: 'rate_limited', status: 429, resource: 'requests' });
    expect(refused.hints).toMatchObject({ retryAfterMs: 1000, readings: [{ limit: 1, remaining: 0 }] });
    clock.time += 1000;
    expect((await call()).kind).toBe('reply');
  });

  it.each([
    ['seconds', { readings: [], retryAfterMs: 1000 }],
    ['milliseconds', { readings: [], retryAfterMs: 500 }],
    ['none', { readings: [] }],
  ])('tell the wait in the style %s', async (style, hints) => {
    const clock = new JumpingClock();
    const provider = createSimProvider({ id: `sim:instant?rpm=120&burst=1&hints=${style}` }, clock);
    await clock.until(provider.call(chat('x'), { signal }));
    expect(await clock.until(provider.call(chat('x'), { signal }))).toMatchObject({ hints });
  });

  it('count tokens, calls at once, and days', async () => {
    const clock = new JumpingClock();
    const tokens = createSimProvider({ id: 'sim:instant?tpm=10&reply=ok' }, clock);
    await clock.until(tokens.call(chat('x'.repeat(36)), { signal }));
    expect(await tokens.call(chat('x'.repeat(36)), { signal })).toMatchObject({
      code: 'rate_limited',
      resource: 'tokens',
    });
    const narrow = createSimProvider({ id: 'sim:fast?concurrency=1' }, clock);
    const first = narrow.call(chat('x'), { signal });
    expect(await narrow.call(chat('y'), { signal })).toMatchObject({ code: 'rate_limited' });
    await clock.until(first);
    const daily = createSimProvider({ id: 'sim:instant?perDay=1' }, clock);
    await clock.until(daily.call(chat('x'), { signal }));
    expect(await daily.call(chat('y'), { signal })).toMatchObject({
      code: 'daily_exhausted',
      resetAt: clock.time + 86_400_000,
    });
  });
});

describe('stranger servers', () => {
  const spend = async (id: string, at: readonly number[]): Promise<string> => {
    const clock = new JumpingClock();
    const provider = createSimProvider({ id }, clock);
    const kinds: string[] = [];
    for (const time of at) {
      clock.time = time;
      const outcome = await clock.until(provider.call(chat('x'), { signal }));
      kinds.push(outcome.kind === 'reply' ? 'y' : 'n');
    }
    return kinds.join('');
  };

  it('count in fixed windows, refill in steps, have neighbours, and change their limits', async () => {
    expect(await spend('sim:instant?rpm=12&window=10s', [0, 1, 2, 9_999, 10_001])).toBe('yynny');
    expect(await spend('sim:instant?rpm=60&burst=1&quantum=5s', [0, 4_000, 5_001])).toBe('yny');
    expect(await spend('sim:instant?rpm=60&burst=1&neighbour=50%', [0, 1_500, 2_001])).toBe('yny');
    expect(await spend('sim:instant?rpm=60&burst=1&change=10s:0.5', [0, 1_001, 10_000, 11_001, 12_001])).toBe('yyyny');
  });
});

describe('faults', () => {
  it('come at their rate, the same for the same seed, and a later attempt can pass', async () => {
    const outcomes = async (seed: number): Promise<string[]> => {
      const clock = new JumpingClock();
      const provider = createSimProvider({ id: `sim:instant?error=30%&seed=${seed}` }, clock);
      const kinds: string[] = [];
      for (let at = 0; at < 200; at += 1) {
        kinds.push((await clock.until(provider.call(chat(`call ${at}`), { signal }))).kind);
      }
      return kinds;
    };
    const first = await outcomes(7);
    expect(first).toEqual(await outcomes(7));
    expect(first).not.toEqual(await outcomes(8));
    const failed = first.filter((kind) => kind === 'failure').length;
    expect(failed).toBeGreaterThan(35);
    expect(failed).toBeLessThan(85);
    const clock = new JumpingClock();
    const provider = createSimProvider({ id: 'sim:instant?error=50%&seed=3' }, clock);
    const attempts: string[] = [];
    while (attempts.at(-1) !== 'reply' && attempts.length < 50) {
      attempts.push((await clock.until(provider.call(chat('again'), { signal }))).kind);
    }
    expect(attempts.at(-1)).toBe('reply');
  });

  it('include hangs that end by deadline or abort, on the clock', async () => {
    const clock = new JumpingClock();
    expect(await ask('sim:instant?hang=100%&timeout=5s', 'x', clock)).toMatchObject({
      code: 'timeout',
      billed: 'maybe',
    });
    expect(clock.time).toBe(5000);
    const abort = new AbortController();
    const provider = createSimProvider({ id: 'sim:instant?hang=100%' }, new JumpingClock());
    const call = provider.call(chat('x'), { signal: abort.signal });
    abort.abort();
    expect(await call).toMatchObject({ code: 'aborted' });
  });

  it('include broken arguments, cut answers, filters and refusals, which are answers', async () => {
    const tools = [tool('find_order', 'Finds an order.', { order_id: { type: 'string' } }, ['order_id'])];
    const messages: ChatMessage[] = [{ role: 'user', content: 'Where is order A-1007?' }];
    const [broken] = (await reply(ask('sim:instant?malformed=100%', { kind: 'chat', messages, tools }))).toolCalls;
    expect(() => JSON.parse(broken?.function.arguments ?? '')).toThrow();
    expect(await ask('sim:instant?cut=100%', 'Tell me')).toMatchObject({ finishReason: 'length' });
    expect(await ask('sim:instant?filter=100%', 'Tell me')).toMatchObject({ finishReason: 'content_filter' });
    expect(await ask('sim:instant?refuse=100%', 'Tell me')).toMatchObject({ finishReason: 'refusal' });
    expect(await ask('sim:instant?empty=100%', 'Tell me')).toMatchObject({ code: 'empty_response', retryOnce: true });
  });
});

describe('an agent', () => {
  const system: ChatMessage = {
    role: 'system',
    content: 'You are the desk of Greenway Groceries. Today is 2026-03-04.',
  };
  const find = tool('find_order', 'Finds an order.', { order_id: { type: 'string' } }, ['order_id']);
  const heard = (content: string): ChatMessage => ({ role: 'user', content });

  it('greets with the name of its house', async () => {
    const { text } = await speak('sim:agent', [system, heard('[The call begins. You speak first.]')], [find, endCall]);
    expect(text).toBe('Greenway Groceries, hello. How can I help you?');
  });

  it('calls a tool with what was said, then tells the result, and never twice', async () => {
    const opening = [system, heard('Where is my order A-1007?')];
    const { toolCalls } = await speak('sim:agent', opening, [find, endCall]);
    expect(toolCalls[0]?.function).toEqual({ name: 'find_order', arguments: '{"order_id":"A-1007"}' });
    const result: ChatMessage = {
      role: 'tool',
      tool_call_id: toolCalls[0]?.id ?? '',
      content: '"It arrives tomorrow."',
    };
    const after = await speak(
      'sim:agent',
      [...opening, { role: 'assistant', content: '', tool_calls: toolCalls }, result],
      [find],
    );
    expect(after.text).toBe('It arrives tomorrow. Is there anything else?');
    expect(after.toolCalls).toEqual([]);
  });

  it('asks for what it needs', async () => {
    const track = tool('track_order', 'Tells where an order is.', { order_id: { type: 'string' } }, ['order_id']);
    const { text } = await speak('sim:agent', [system, heard('Where is my parcel?')], [track, endCall]);
    expect(text).toBe('May I have the order number, please?');
  });

  it('hands over what others do better, and ends the call after goodbye', async () => {
    const add = tool('add_to_cart', 'Puts a product into the cart.', { product_id: { type: 'string' } }, [
      'product_id',
    ]);
    const other = tool('handoff_lookup', 'Hands over. The caller names a product and its id is not known yet.');
    const handed = await speak(
      'sim:agent',
      [system, heard('I would like two cartons of oat milk.')],
      [add, other, endCall],
    );
    expect(handed.toolCalls[0]?.function.name).toBe('handoff_lookup');
    const bye = await speak('sim:agent', [system, heard('Goodbye.')], [find, endCall]);
    expect(bye.toolCalls[0]?.function.name).toBe('end_call');
    const marked: ChatMessage = { role: 'system', content: 'At the end, finish your last message with [END_OF_CALL]' };
    expect((await speak('sim:agent', [marked, heard('Goodbye.')])).text).toContain('[END_OF_CALL]');
  });
});

describe('a client', () => {
  const system: ChatMessage = {
    role: 'system',
    content: 'What you want: two cartons of oat milk and a rye bread, delivered tomorrow\nYour order number is A-1007.',
  };
  const talk = (...lines: string[]): Promise<Reply> => {
    const messages = lines.map((content, at): ChatMessage => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
    return speak('sim:client', [system, ...messages], [endCall]);
  };

  it('tells its wishes one by one, answers questions, and ends the call', async () => {
    const first = 'Hello. I would like two cartons of oat milk.';
    const second = 'Yes, please: I would like a rye bread.';
    expect((await talk('How can I help you?')).text).toBe(first);
    expect((await talk('Hello?', first, 'Noted. Anything else?')).text).toBe(second);
    expect((await talk('Hello?', first, 'Which day would suit you?')).text).toBe('Tomorrow, please.');
    expect((await talk('Hello?', first, 'May I have the order number?')).text).toBe('It is A-1007.');
    const done = await talk('Hello?', first, 'Else?', second, 'Anything else?', 'That is all, thank you.', 'Goodbye!');
    expect(done.toolCalls[0]?.function.name).toBe('end_call');
  });

  it('keeps directions to itself, and knows short numbers too', async () => {
    const told: ChatMessage = {
      role: 'system',
      content:
        'Your goal: to cancel my seats for show S-0. When you are done, say goodbye and call end_call. Never give up early.',
    };
    const hello: ChatMessage = { role: 'user', content: 'How can I help you?' };
    const first = (await speak('sim:client', [told, hello], [endCall])).text;
    expect(first).toBe('Hello. I want to cancel my seats for show S-0.');
    const asked: ChatMessage = { role: 'user', content: 'May I have the number, please?' };
    const messages: ChatMessage[] = [told, hello, { role: 'assistant', content: first }, asked];
    expect((await speak('sim:client', messages, [endCall])).text).toBe('It is S-0.');
  });

  it('loses patience', async () => {
    const lines = Array.from({ length: 10 }, () => ['And why?', 'Because.']).flat();
    expect((await talk(...lines, 'And why?')).toolCalls[0]?.function.arguments).toContain('patience');
  });
});

describe('a judge', () => {
  const judge = async (system: string, user: string): Promise<string> =>
    (
      await speak('sim:judge', [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ])
    ).text;
  const rubric = (output: string, text: string): Promise<string> =>
    judge(
      'Reply with {"reason": "", "pass": true, "score": 1}',
      `<Output>\n${output}\n</Output>\n<Rubric>\n${text}\n</Rubric>`,
    );

  it('finds what a rubric forbids, and misses what it asks for', async () => {
    const forbidden = 'The agent must not promise a refund.';
    expect(JSON.parse(await rubric('I promise you a refund today.', forbidden))).toMatchObject({
      pass: false,
      score: 0,
    });
    expect(JSON.parse(await rubric('A manager has to look at it.', forbidden))).toMatchObject({ pass: true });
    expect(JSON.parse(await rubric('The manager decides.', 'Mentions the manager.'))).toMatchObject({
      pass: true,
      score: 1,
    });
  });

  it('answers in the form it is asked for', async () => {
    const scale = '{"score": <whole number from 1 (worst) to 3 (best)>, "comment": "<why>"}';
    const rated = JSON.parse(
      await judge(scale, '<Transcript>\nagent: hello\n</Transcript>\n<Rubric>\nSays hello.\n</Rubric>'),
    );
    expect(rated).toMatchObject({ score: 3, comment: expect.any(String) });
    expect(await judge('write the single character "Y" or "N".', '<Answer>yes</Answer>')).toMatch(/\n[YN]$/);
    expect(JSON.parse(await judge("strictly be either 'yes' or 'no'", 'x'))).toHaveProperty('verdict');
    expect(await judge('You must output a single integer', '<Text index="0">a</Text><Text index="1">b</Text>')).toMatch(
      /^[01]$/,
    );
    expect(await judge('return the phrase "Insufficient Information"', 'query: what\n\ncontext:\nnothing')).toBe(
      'Insufficient Information',
    );
  });

  it('rates a transcript low when its caller gave up, criterion by criterion where asked', async () => {
    const ask = (transcript: string, form: string): Promise<string> =>
      judge('You judge calls.', `Goal of the client: oat milk\n-----\n${transcript}\n-----\nAnswer with ${form}`);
    const form = '{"scores": {"tone": <1 to 5>, "facts": <1 to 5>}, "comment": "<why>"}';
    expect(JSON.parse(await ask('Client: This is taking too long. Goodbye.', form))).toMatchObject({
      scores: { tone: 1, facts: 1 },
    });
    expect(JSON.parse(await ask('Agent: Your oat milk comes tomorrow.', form))).toMatchObject({
      scores: { tone: 5, facts: 5 },
    });
  });

  it('is played by any simulated model that is asked to judge', async () => {
    const text = await reply(
      ask('sim:instant', 'Rate it. Answer {"reason": "", "pass": true, "score": 1}\n<Output>fine</Output>'),
    );
    expect(JSON.parse(text.text)).toHaveProperty('pass');
  });
});
