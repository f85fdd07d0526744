/** The contract, sentence by sentence. Read the titles. */
import { describe, expect, it } from 'vitest';
import { desk, lastMessages, noPorts, play } from '../../test/conversation/desk.ts';
import { failureOf, MemoryEffects, replyOf, scriptedModel } from './memory-effects.ts';
import { runConversation } from './run-conversation.ts';

const hello = replyOf('Good morning.');
const bye = replyOf('Thanks, bye.', [['end_call', { reason: 'done' }, 'call_bye']]);
const basic = { setup: { useTools: false } } as const;
const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe('runConversation', () => {
  it('runs a basic conversation without tools: no tool is offered to anybody', async () => {
    const { effects } = await play({ ...basic, answers: { 'agent:agent': [hello], client: [replyOf('Bye [END]')] } });
    const requests = effects.log
      .filter(({ kind }) => kind === 'model')
      .map(({ request }) => (request as { request: object }).request);
    expect(requests).toHaveLength(2);
    for (const request of requests) expect(request).not.toHaveProperty('tools');
  });

  it('gives session_id, scenario, status, total_turns, duration_seconds, conversation_history, start_time and end_time', async () => {
    const { result } = await play({
      ...basic,
      answers: { 'agent:agent': [hello], client: [replyOf('Hm.'), replyOf('Bye [END]')] },
    });
    expect(result).toMatchObject({ scenario: 'order', status: 'completed', total_turns: 2, duration_seconds: 2 });
    expect(result.session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(result.start_time).toMatch(iso);
    expect(result.end_time).toMatch(iso);
    expect(result.conversation_history).toHaveLength(4);
    expect(result).not.toHaveProperty('error');
    expect(result).not.toHaveProperty('tools_used');
  });

  it('gives error and error_type, and every other field, when it failed', async () => {
    const { result } = await play({
      ...basic,
      answers: { 'agent:agent': [hello, failureOf('auth', 'wrong key')], client: [replyOf('Hm.')] },
    });
    expect(result).toMatchObject({
      status: 'failed',
      total_turns: 2,
      error: 'agent:agent: wrong key',
      error_type: 'AuthenticationError',
      termination_reason: 'error',
    });
    expect(result.conversation_history).toHaveLength(2);
  });

  it('numbers turns 1, 2, 3 and names the speakers "agent" and "client" in basic mode', async () => {
    const { result } = await play({
      ...basic,
      setup: { useTools: false, maxTurns: 3 },
      answers: { 'agent:agent': [hello], client: [replyOf('Hm.')] },
    });
    expect(result.conversation_history.map(({ turn, speaker }) => [turn, speaker])).toEqual([
      [1, 'agent'],
      [1, 'client'],
      [2, 'agent'],
      [2, 'client'],
      [3, 'agent'],
      [3, 'client'],
    ]);
  });

  it('gives a basic turn its turn, speaker, content and ISO timestamp', async () => {
    const { result } = await play({ ...basic, answers: { 'agent:agent': [hello], client: [replyOf('Bye [END]')] } });
    const [first] = result.conversation_history;
    expect(first).toMatchObject({ turn: 1, speaker: 'agent', content: 'Good morning.' });
    expect(first?.timestamp).toMatch(iso);
    expect(first).not.toHaveProperty('tool_calls');
  });

  it('passes SEED to every model call of agent and client, and refuses one that is not an integer', async () => {
    const { effects, result } = await play({
      scenario: { variables: { SEED: 42 } },
      answers: { 'agent:agent': [hello], client: [bye] },
    });
    const seeds = effects.log
      .filter(({ kind }) => kind === 'model')
      .map(({ request }) => (request as { request: { seed?: number } }).request.seed);
    expect(seeds).toEqual([42, 42]);
    expect(result.seed).toBe(42);
    await expect(play({ scenario: { variables: { SEED: 1.5 } } })).rejects.toThrow('SEED');
  });

  it('puts scenario variables into the prompts', async () => {
    const { effects } = await play({
      scenario: { variables: { goal: 'печень, 10 кг' } },
      answers: { 'agent:agent': [hello], client: [bye] },
    });
    expect(lastMessages(effects, 'client')[0]?.content).toBe('You want печень, 10 кг.');
  });

  it('fails before any money is spent when a variable is missing, and names the scenario', async () => {
    const snapshot = {
      ...desk,
      specification: {
        ...desk.specification,
        agents: { ...desk.specification.agents, support: { name: 'S', prompt: '{{ nobody }}', tools: [] } },
      },
    };
    const { result, effects } = await play({ setup: { snapshot } });
    expect(result).toMatchObject({
      status: 'failed',
      error_type: 'TemplateError',
      total_turns: 0,
      conversation_history: [],
    });
    expect(result.error).toBe('Scenario "order", the prompt of "support": unknown variable "nobody".');
    expect(effects.log.filter(({ kind }) => kind === 'model')).toEqual([]);
  });
});

describe('runConversationWithTools', () => {
  it('always says tools_used: true, and tool_call_count tells the truth', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [hello], client: [replyOf('ok')] },
      setup: { maxTurns: 1 },
    });
    expect(result.tools_used).toBe(true);
    expect(result.tool_call_count).toBe(0);
  });

  it('names the speakers "agent_{current agent}" and "client"', async () => {
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [bye] } });
    expect(result.conversation_history.map(({ speaker }) => speaker)).toEqual(['agent_agent', 'client']);
  });

  it('records tool calls of an agent turn with id, type "function", name and arguments as a JSON string', async () => {
    const args = '{"location_id":1,"execution_message":"Хорошо, буду оформлять доставку на Болгарский переулок."}';
    const { result } = await play({
      answers: { 'agent:agent': [replyOf('', [['set_current_location', args, 'call_VP4w']]), hello], client: [bye] },
    });
    expect(result.conversation_history[0]?.tool_calls).toEqual([
      { id: 'call_VP4w', type: 'function', function: { name: 'set_current_location', arguments: args } },
    ]);
  });

  it('records tool results beside the calls, in order, all rounds of one agent in one entry', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [
          replyOf('Looking.', [['find_products', { query: 'liver' }]]),
          replyOf('', [
            ['raw', { text: 'Найденные товары' }],
            ['add_to_cart', { product_id: 'P1', quantity: 2 }],
          ]),
          replyOf('Done.'),
        ],
        client: [bye],
      },
    });
    const [entry] = result.conversation_history;
    expect(entry?.content).toBe('Looking.\nDone.');
    expect(entry?.tool_calls?.map((call) => call.function.name)).toEqual(['find_products', 'raw', 'add_to_cart']);
    expect(entry?.tool_results).toEqual([
      [{ product_id: 'P1', name: 'Liver' }],
      'Найденные товары',
      [{ product_id: 'P1', quantity: 2 }],
    ]);
    expect(entry?.rounds?.map(({ content }) => content)).toEqual(['Looking.', '', 'Done.']);
    expect(result.final_state).toMatchObject({ cart: [{ product_id: 'P1', quantity: 2 }] });
  });

  it('gives client turns with tool calls only tool_calls; their results stand in client_tool_results', async () => {
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [bye] } });
    const entry = result.conversation_history[1];
    expect(entry?.tool_calls?.[0]).toEqual({
      id: 'call_bye',
      type: 'function',
      function: { name: 'end_call', arguments: '{"reason":"done"}' },
    });
    expect(entry).not.toHaveProperty('tool_results');
    expect(entry?.client_tool_results).toEqual([{ status: 'call_ended', reason: 'done' }]);
  });
});

describe('tool results', () => {
  const resultOf = async (text: string) =>
    (await play({ answers: { 'agent:agent': [replyOf('', [['raw', { text }]]), hello], client: [bye] } })).result
      .conversation_history[0]?.tool_results?.[0];

  it('are parsed as JSON first', async () => {
    expect(await resultOf('{"a": [1, null]}')).toEqual({ a: [1, null] });
    expect(await resultOf('12')).toBe(12);
  });

  it('fall back to the raw string when JSON parsing fails', async () => {
    expect(await resultOf('Адресс изменен на 347881, Ростовская обл')).toBe('Адресс изменен на 347881, Ростовская обл');
    expect(await resultOf('{"a": ')).toBe('{"a": ');
  });

  it('are always something: parsing never fails', async () => {
    expect(await resultOf('')).toBe('');
    expect(await resultOf('['.repeat(5000))).toBe('['.repeat(5000));
    expect(await resultOf('{"__proto__": 1}')).toBe('{"__proto__": 1}');
  });

  it('of a handoff are {status: "handoff_completed", target_agent, message}', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [replyOf('One moment.', [['handoff_flow_manager', { reason: 'delivery' }]])],
        'agent:flow_manager': [replyOf('When?')],
        client: [bye],
      },
    });
    expect(result.conversation_history[0]?.tool_results).toEqual([
      {
        status: 'handoff_completed',
        target_agent: 'flow_manager',
        message: 'Successfully handed off conversation to flow_manager',
      },
    ]);
  });

  it('of end_call are {status: "call_ended", reason}, "conversation completed" when none is given', async () => {
    const { result } = await play({ answers: { 'agent:agent': [replyOf('Bye.', [['end_call', {}]])] } });
    expect(result.conversation_history[0]?.tool_results).toEqual([
      { status: 'call_ended', reason: 'conversation completed' },
    ]);
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_call_agent', total_turns: 1 });
  });

  it('of a failing tool are {"error": "Tool execution failed: <message>"}, logged, and do not stop the conversation', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [replyOf('', [['remove_from_cart', { product_id: 'P9' }]]), hello], client: [bye] },
    });
    expect(result.conversation_history[0]?.tool_results).toEqual([
      { error: 'Tool execution failed: nothing like that is there' },
    ]);
    expect(result.status).toBe('completed');
    expect(result.failures).toEqual([
      {
        turn: 1,
        speaker: 'agent_agent',
        kind: 'tool',
        path: '1/agent/1/1',
        message: 'nothing like that is there',
        tool: 'remove_from_cart',
        arguments: '{"product_id":"P9"}',
      },
    ]);
  });
});

describe('content', () => {
  it('of an agent can be an empty string when only tool calls are made', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [replyOf('', [['find_products', { query: 'x' }]]), replyOf('')], client: [bye] },
    });
    expect(result.conversation_history[0]?.content).toBe('');
  });

  it('of a client is always populated: end_call without words says so', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [hello], client: [replyOf('', [['end_call', { reason: 'no time' }]])] },
    });
    expect(result.conversation_history[1]?.content).toBe('[ended the call: no time]');
  });

  it('of a client that stays empty is asked for once more', async () => {
    const { result, effects } = await play({ answers: { 'agent:agent': [hello], client: [replyOf(' '), bye] } });
    expect(result.status).toBe('completed');
    expect(lastMessages(effects, 'client').at(-1)?.content).toContain('empty');
    expect(result.conversation_history[1]?.content).toBe('Thanks, bye.');
  });

  it('of a client that stays empty twice ends the conversation as an error, with the history so far', async () => {
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [replyOf('')] } });
    expect(result).toMatchObject({ status: 'failed', error_type: 'EmptyReplyError', total_turns: 1 });
    expect(result.conversation_history.map(({ speaker }) => speaker)).toEqual(['agent_agent']);
  });

  it('is never null, also when a provider withholds the words', async () => {
    const withheld = replyOf('', [], { finishReason: 'content_filter' });
    const { result } = await play({
      answers: { 'agent:agent': [withheld], client: [withheld] },
      setup: { maxTurns: 1 },
    });
    expect(result.conversation_history.map(({ content, finish_reason }) => [content, finish_reason])).toEqual([
      ['', 'content_filter'],
      ['[no answer]', 'content_filter'],
    ]);
  });

  it('keeps every script as it is: Cyrillic, CJK, right-to-left, emoji', async () => {
    for (const text of ['Добрый день, печень ЦБ', '你好，我要订货', 'שלום, حليب من فضلك', '🥛👩‍👩‍👧 e\u0301']) {
      const { result } = await play({
        scenario: { name: text, variables: { goal: text } },
        answers: { 'agent:agent': [replyOf(text)], client: [replyOf(text, [['end_call', { reason: text }]])] },
      });
      expect(result.scenario).toBe(text);
      expect(result.conversation_history.map(({ content }) => content)).toEqual([text, text]);
      expect(result.conversation_history[1]?.client_tool_results).toEqual([{ status: 'call_ended', reason: text }]);
    }
  });
});

describe('multi-agent handoffs', () => {
  const handover = {
    'agent:agent': [
      replyOf('I pass you on.', [['handoff_support', { reason: 'angry', context: { order: 7 } }]]),
      replyOf('Back at the desk.'),
    ],
    'agent:support': [
      replyOf('Support here.'),
      replyOf('Back you go.', [['handoff_agent', { reason: 'wants to order' }]]),
    ],
    client: [replyOf('My parcel never came!'), bye],
  };

  it("are triggered by handoff_{target_agent} tool calls made from the agent's own handoffs", async () => {
    const { effects } = await play({ answers: { 'agent:agent': [hello], client: [bye] } });
    const [first] = effects.log.filter(({ kind }) => kind === 'model');
    type Asked = { request: { tools: { function: { name: string; parameters: { required?: string[] } } }[] } };
    const { request } = Object(first).request as Asked;
    const handoffs = request.tools.filter((tool) => tool.function.name.startsWith('handoff_'));
    expect(handoffs.map((tool) => [tool.function.name, tool.function.parameters.required])).toEqual([
      ['handoff_support', ['reason']],
      ['handoff_flow_manager', ['reason']],
    ]);
  });

  it('make the new agent speak in the same turn, as the next entry, under its own speaker name', async () => {
    const { result } = await play({ answers: handover });
    expect(result.conversation_history.map(({ turn, speaker, content }) => [turn, speaker, content])).toEqual([
      [1, 'agent_agent', 'I pass you on.'],
      [1, 'agent_support', 'Support here.'],
      [1, 'client', 'My parcel never came!'],
      [2, 'agent_support', 'Back you go.'],
      [2, 'agent_agent', 'Back at the desk.'],
      [2, 'client', 'Thanks, bye.'],
    ]);
    expect(result.metrics).toMatchObject({
      handoff_path: ['agent', 'support', 'agent'],
      ping_pong: 1,
      dead_handoffs: 0,
    });
  });

  it('preserve and transfer the context: the target sees reason, context and the dialogue it missed', async () => {
    const { effects } = await play({ answers: handover });
    expect(lastMessages(effects, 'agent:support')[1]?.content).toBe(
      '[Handed over to you by agent. Reason: angry]\n[Context: {"order":7}]\n[What was said:]\nDesk: I pass you on.',
    );
  });

  it('keep a message context per agent: its earlier messages, then what it missed', async () => {
    const { effects } = await play({ answers: handover });
    const roles = lastMessages(effects, 'agent:agent').map(({ role }) => role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
    expect(lastMessages(effects, 'agent:agent').at(-1)?.content).toBe(
      '[Handed over to you by support. Reason: wants to order]\n[What was said:]\nSupport: Support here.\nClient: My parcel never came!\nSupport: Back you go.',
    );
  });

  it('show the client the words of all agents and never a tool call', async () => {
    const { effects } = await play({ answers: handover });
    const seen = lastMessages(effects, 'client');
    expect(seen.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'You want something.'],
      ['user', 'I pass you on.\nSupport here.'],
      ['assistant', 'My parcel never came!'],
      ['user', 'Back you go.\nBack at the desk.'],
    ]);
  });

  it('that fail give an error result, are logged with full context, and the conversation goes on', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [
          replyOf('', [
            ['handoff_agent', { reason: 'x' }],
            ['handoff_client', { reason: 'x' }],
            ['handoff_evaluator', { reason: 'x' }],
            ['handoff_nobody', { reason: 'x' }],
            ['handoff_support', {}],
            ['handoff_support', '{"reason":'],
          ]),
          hello,
        ],
        client: [bye],
      },
    });
    const [entry] = result.conversation_history;
    expect(entry?.tool_results).toHaveLength(6);
    for (const toolResult of entry?.tool_results ?? [])
      expect(JSON.stringify(toolResult)).toMatch(/^\{"error":"Tool execution failed: /);
    expect(result.failures.map(({ kind, tool }) => [kind, tool])).toHaveLength(6);
    expect(result.failures[0]).toMatchObject({
      turn: 1,
      speaker: 'agent_agent',
      kind: 'handoff',
      path: '1/agent/1/1',
      tool: 'handoff_agent',
      arguments: '{"reason":"x"}',
    });
    expect(result).toMatchObject({ status: 'completed', metrics: { invalid_handoffs: 6, handoff_path: ['agent'] } });
  });

  it('twice in one response: the first valid one counts, the others get an error result', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [
          replyOf('', [
            ['handoff_nobody', { reason: 'a' }],
            ['handoff_flow_manager', { reason: 'b' }],
            ['handoff_support', { reason: 'c' }],
          ]),
        ],
        'agent:flow_manager': [hello],
        client: [bye],
      },
    });
    expect(result.metrics.handoff_path).toEqual(['agent', 'flow_manager']);
    expect(result.conversation_history[0]?.tool_results?.map((toolResult) => 'error' in Object(toolResult))).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("are never triggered by what a user's tool returns", async () => {
    const { result } = await play({
      answers: { 'agent:agent': [replyOf('', [['fake_handoff', {}]]), hello], client: [bye] },
    });
    expect(result.conversation_history.map(({ speaker }) => speaker)).toEqual(['agent_agent', 'client']);
    expect(result.conversation_history[0]?.tool_results).toEqual([
      { status: 'handoff_completed', target_agent: 'support', message: 'x' },
    ]);
    expect(result.metrics.handoff_path).toEqual(['agent']);
  });
});

describe('error handling', () => {
  it('of geographic restrictions gives failed_api_blocked with graceful degradation and the history so far', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [hello, failureOf('region_blocked', 'not in your country')], client: [replyOf('Hm.')] },
    });
    expect(result).toMatchObject({
      status: 'failed_api_blocked',
      termination_reason: 'api_blocked',
      graceful_degradation: true,
      partial_completion: true,
      total_turns: 2,
      error_type: 'RegionBlockedError',
    });
    expect(result.conversation_history).toHaveLength(2);
    const none = await play({ answers: { 'agent:agent': [failureOf('region_blocked', 'no')] } });
    expect(none.result).toMatchObject({
      status: 'failed_api_blocked',
      partial_completion: false,
      conversation_history: [],
    });
  });

  it('never mistakes another 403 for geography, whatever its message says', async () => {
    const { result } = await play({ answers: { 'agent:agent': [failureOf('auth', '403 unsupported country')] } });
    expect(result.status).toBe('failed');
  });

  it('keeps the tool calls of an unfinished turn in the history', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [replyOf('Wait.', [['find_products', { query: 'liver' }]]), failureOf('overloaded', 'busy')],
      },
    });
    expect(result.status).toBe('failed');
    expect(result.conversation_history).toMatchObject([{ content: 'Wait.', tool_results: [[{ product_id: 'P1' }]] }]);
  });

  it('enforces the turn limit: completed by max_turns', async () => {
    const { result } = await play({
      answers: { 'agent:agent': [hello], client: [replyOf('Hm.')] },
      setup: { maxTurns: 4 },
    });
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'max_turns', total_turns: 4 });
  });

  it('has a default of 30 turns and 90 seconds; the call wins over the scenario', async () => {
    const answers = { 'agent:agent': [hello], client: [replyOf('Hm.')] };
    expect((await play({ answers })).result.total_turns).toBe(30);
    expect((await play({ answers, scenario: { max_turns: 3 } })).result.total_turns).toBe(3);
    expect((await play({ answers, scenario: { max_turns: 3 }, setup: { maxTurns: 2 } })).result.total_turns).toBe(2);
    const slow = await play({ answers, latencyMs: () => 10_000 });
    expect(slow.result).toMatchObject({
      status: 'failed',
      termination_reason: 'timeout',
      error_type: 'TimeoutError',
      working_seconds: 90,
    });
  });

  it('refuses limits of 0 and below instead of taking them for "default"', async () => {
    for (const maxTurns of [0, -1, 1.5, Number.NaN])
      await expect(play({ setup: { maxTurns } })).rejects.toThrow('max_turns');
    for (const timeoutSec of [0, -1, Number.NaN])
      await expect(play({ setup: { timeoutSec } })).rejects.toThrow('timeout_sec');
    await expect(play({ scenario: { max_turns: 0 } })).rejects.toThrow('max_turns');
  });

  it('counts working time, not time queued in a lane, and cancels what is in flight', async () => {
    const answers = { 'agent:agent': [hello], client: [bye] };
    const queued = await play({ answers, queueMs: () => 500_000, setup: { timeoutSec: 2 } });
    expect(queued.result).toMatchObject({ status: 'completed', working_seconds: 1, duration_seconds: 1001 });
    const hung = await play({
      answers,
      latencyMs: (role) => (role === 'client' ? 1e9 : 700),
      setup: { timeoutSec: 2 },
    });
    expect(hung.result).toMatchObject({
      status: 'failed',
      termination_reason: 'timeout',
      working_seconds: 2,
      total_turns: 1,
    });
    expect(hung.result.conversation_history).toHaveLength(1);
  });

  it('counts tool time too', async () => {
    const { result } = await play({
      toolMs: () => 3_000,
      setup: { timeoutSec: 2 },
      answers: {
        'agent:agent': [
          replyOf('', [
            ['find_products', { query: 'a' }],
            ['find_products', { query: 'b' }],
          ]),
        ],
      },
    });
    expect(result).toMatchObject({ status: 'failed', termination_reason: 'timeout' });
    expect(result.conversation_history[0]?.tool_results).toHaveLength(2);
  });

  it('ends at max_cost', async () => {
    const { result } = await play({
      setup: { maxCostUsd: 0.0001 },
      answers: { 'agent:agent': [hello], client: [replyOf('Hm.')] },
    });
    expect(result).toMatchObject({
      status: 'failed',
      termination_reason: 'max_cost',
      total_turns: 2,
      metrics: { cost_usd: 0.0001 },
    });
  });

  it('says aborted when it was cancelled by the user, with the history so far', async () => {
    const controller = new AbortController();
    const { result } = await play({
      signal: controller.signal,
      model: (call) => {
        if (call.role === 'client') controller.abort();
        return call.role === 'client' ? failureOf('aborted', 'cancelled') : hello;
      },
    });
    expect(result).toMatchObject({ status: 'failed', termination_reason: 'aborted', error_type: 'AbortError' });
    expect(result.conversation_history).toHaveLength(1);
  });

  it('lets a store or a replay that broke reach the caller', async () => {
    const effects = new MemoryEffects({
      model: scriptedModel({ 'agent:agent': [hello] }),
      onStep: (_, path) => {
        if (path === '1/client/1/0') throw new Error('the disk is full');
      },
    });
    const setup = {
      scenario: { name: 'x', variables: {} },
      snapshot: desk,
      useTools: true,
      models: { agent: { provider: 'a' }, client: { provider: 'c' } },
    };
    await expect(runConversation(setup, effects, noPorts)).rejects.toThrow('the disk is full');
  });
});

describe('the end of a conversation', () => {
  it('is end_call by the client', async () => {
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [bye] } });
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_call_client' });
  });

  it('is end_call by the agent, and then the client is not asked any more', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [hello, replyOf('Bye.', [['end_call', { reason: 'sold' }]])],
        client: [replyOf('Hm.')],
      },
    });
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_call_agent', total_turns: 2 });
    expect(result.conversation_history.at(-1)?.speaker).toBe('agent_agent');
  });

  it('comes after all other calls of the same response have run', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [
          replyOf('', [
            ['end_call', {}],
            ['add_to_cart', { product_id: 'P1', quantity: 1 }],
            ['handoff_support', { reason: 'x' }],
          ]),
        ],
      },
    });
    expect(result.conversation_history[0]?.tool_results).toEqual([
      { status: 'call_ended', reason: 'conversation completed' },
      [{ product_id: 'P1', quantity: 1 }],
      { error: 'Tool execution failed: the call has been ended' },
    ]);
    expect(result.termination_reason).toBe('end_call_agent');
  });

  it('without tools is the end marker of the specification, taken out of the words', async () => {
    const { result } = await play({
      ...basic,
      answers: { 'agent:agent': [hello], client: [replyOf('Thanks, goodbye! [END]')] },
    });
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_marker' });
    expect(result.conversation_history[1]?.content).toBe('Thanks, goodbye!');
  });

  it('without tools is never an ordinary word such as "thanks" or "end"', async () => {
    const { result } = await play({
      ...basic,
      setup: { useTools: false, maxTurns: 2 },
      answers: { 'agent:agent': [hello], client: [replyOf('Thanks, goodbye, this is the END.')] },
    });
    expect(result.termination_reason).toBe('max_turns');
  });
});

describe('who speaks', () => {
  it('is the agent first, by default', async () => {
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [bye] } });
    expect(result.conversation_history[0]?.speaker).toBe('agent_agent');
  });

  it('can be the client first, with fixed words when client_greeting is given', async () => {
    const { result, effects } = await play({
      scenario: { variables: { client_greeting: 'Алло?' } },
      setup: { firstSpeaker: 'client' },
      answers: { 'agent:agent': [hello], client: [bye] },
    });
    expect(result.conversation_history.map(({ turn, speaker, content }) => [turn, speaker, content])).toEqual([
      [1, 'client', 'Алло?'],
      [1, 'agent_agent', 'Good morning.'],
      [2, 'client', 'Thanks, bye.'],
    ]);
    expect(lastMessages(effects, 'agent:agent').map(({ content }) => content)).toContain('Алло?');
  });

  it('can be a script: lines as they are, templates, and stretches the model plays', async () => {
    const { result } = await play({
      scenario: {
        variables: { item: '{{ raw }}' },
        script: ['{{ literally }}', { say: 'I want {{ item }}.' }, { model: 1 }, 'That is all.'],
      },
      answers: { 'agent:agent': [hello], client: [replyOf('Played.')] },
    });
    expect(
      result.conversation_history
        .filter(({ speaker }) => speaker === 'client')
        .map(({ content, scripted }) => [content, scripted]),
    ).toEqual([
      ['{{ literally }}', true],
      ['I want {{ raw }}.', true],
      ['Played.', undefined],
      ['That is all.', true],
      ['[ended the call: script finished]', true],
    ]);
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_call_client' });
  });

  it('needs no client model when the script says every line', async () => {
    const { result } = await play({
      scenario: { script: ['Hello'] },
      setup: { models: { agent: { provider: 'a' } } },
      answers: { 'agent:agent': [hello] },
    });
    expect(result.status).toBe('completed');
    await expect(play({ setup: { models: { agent: { provider: 'a' } } } })).rejects.toThrow(
      'No model plays the client',
    );
  });
});

describe('models', () => {
  it("are chosen per role: the specification's own, else the batch's, each with its temperature", async () => {
    const agents = {
      ...desk.specification.agents,
      support: { name: 'S', prompt: 's', tools: [], model: { provider: 'openai', model: 'gpt-x', temperature: 0.1 } },
    };
    const { effects } = await play({
      setup: {
        snapshot: { ...desk, specification: { ...desk.specification, agents } },
        models: { agent: { provider: 'sim:a', temperature: 0.7 }, client: { provider: 'sim:c', temperature: 1 } },
      },
      answers: {
        'agent:agent': [replyOf('', [['handoff_support', { reason: 'x' }]])],
        'agent:support': [hello],
        client: [bye],
      },
    });
    const asked = effects.log
      .filter(({ kind }) => kind === 'model')
      .map(({ request }) => request as unknown as { provider: string; request: { temperature: number } });
    expect(asked.map(({ provider, request }) => [provider, request.temperature])).toEqual([
      ['sim:a', 0.7],
      ['openai:gpt-x', 0.1],
      ['sim:c', 1],
    ]);
  });

  it('are recorded as served, with their fingerprint', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [replyOf('Hi.', [], { servedModel: 'gpt-x-0601', fingerprint: 'fp_1' })],
        client: [bye],
      },
    });
    expect(result.conversation_history[0]?.rounds).toMatchObject([{ served_model: 'gpt-x-0601', fingerprint: 'fp_1' }]);
  });

  it('leave cost and tokens per role in the metrics; an unknown price is null, not 0', async () => {
    const { costUsdMicros: _, ...unpriced } = replyOf('Bye.', [['end_call', {}]]);
    const { result } = await play({ answers: { 'agent:agent': [hello], client: [unpriced] } });
    expect(result.metrics.per_role).toMatchObject({
      'agent:agent': { calls: 1, input_tokens: 100, output_tokens: 10, cost_usd: 0.00005 },
      client: { cost_usd: null, unknown_usage_calls: 1 },
    });
    expect(result.metrics.cost_usd).toBeNull();
  });
});
