/** The faults of tool calls, one by one, each with its reaction. */
import { describe, expect, it } from 'vitest';
import { lastMessages, play } from '../../test/conversation/desk.ts';
import type { Json } from '../domain/json.ts';
import { replyOf } from './memory-effects.ts';

const hello = replyOf('Good morning.');
const bye = replyOf('Bye.', [['end_call', {}]]);
type Calls = readonly (readonly [string, Json | string, string?])[];

/** Plays one agent reply with these calls, then words. */
const withCalls = (calls: Calls) => play({ answers: { 'agent:agent': [replyOf('', calls), hello], client: [bye] } });

describe('a fault in a tool call gives an error result keyed to its call, and the conversation goes on', () => {
  it.each<readonly [string, readonly [string, Json | string, string?]]>([
    ['truncated arguments', ['add_to_cart', '{"product_id": "P1", "quan']],
    ['arguments that are no object', ['find_products', '["liver"]']],
    ['arguments doubled', ['find_products', '{}{}']],
    ['a doubled tool name', ['find_productsfind_products', { query: 'x' }]],
    ['an unknown tool', ['teleport', {}]],
    ['an unknown handoff', ['handoff_nobody', { reason: 'x' }]],
    ['a handoff to itself', ['handoff_agent', { reason: 'x' }]],
    ['arguments of 5 MB', ['raw', `{"text": "${'x'.repeat(5_000_000)}"}`]],
    ['a prototype for a tool name', ['__proto__', {}]],
  ])('%s', async (_, call) => {
    const { result, effects } = await withCalls([['find_products', { query: 'liver' }, 'first'], call]);
    expect(result.status).toBe('completed');
    expect(result.conversation_history[0]?.tool_results).toEqual([
      [{ product_id: 'P1', name: 'Liver' }],
      { error: expect.stringMatching(/^Tool execution failed: /) },
    ]);
    expect(result.failures).toHaveLength(1);
    const answers = lastMessages(effects, 'agent:agent').filter(({ role }) => role === 'tool');
    expect(answers.map(({ tool_call_id: id }) => id)).toEqual(
      result.conversation_history[0]?.tool_calls?.map(({ id }) => id),
    );
  });

  it('a tool name close to a real one gets told which', async () => {
    const { result } = await withCalls([['find_product', { query: 'x' }]]);
    expect(JSON.stringify(result.conversation_history[0]?.tool_results)).toContain('did you mean \\"find_products\\"?');
  });

  it('duplicate, empty and missing ids are keyed anew; the original stands beside', async () => {
    const { result, effects } = await withCalls([
      ['find_products', { query: 'a' }, 'x'],
      ['find_products', { query: 'b' }, 'x'],
      ['find_products', { query: 'c' }, ''],
    ]);
    expect(result.conversation_history[0]?.tool_calls?.map(({ id, original_id: original }) => [id, original])).toEqual([
      ['x', undefined],
      ['call_1_agent_1_2', 'x'],
      ['call_1_agent_1_3', undefined],
    ]);
    expect(lastMessages(effects, 'agent:agent').flatMap(({ tool_call_id: id }) => id ?? [])).toEqual([
      'x',
      'call_1_agent_1_2',
      'call_1_agent_1_3',
    ]);
  });

  it('a tool of another agent is unknown here', async () => {
    const { result } = await withCalls([['set_delivery_date', { date: '2026-01-06' }]]);
    expect(JSON.stringify(result.conversation_history[0]?.tool_results)).toContain('there is no tool');
  });

  it('parallel calls of which one is end_call all run; then the call is over', async () => {
    const { result } = await withCalls([
      ['slow', { n: 1 }],
      ['end_call', { reason: 'x' }],
      ['slow', { n: 2 }],
    ]);
    expect(result.conversation_history[0]?.tool_results).toEqual([
      'done',
      { status: 'call_ended', reason: 'x' },
      'done',
    ]);
    expect(result.termination_reason).toBe('end_call_agent');
  });
});

describe('a loop ends with a clear reason', () => {
  it('unreadable arguments may be repaired twice', async () => {
    const broken = (n: number) => replyOf('', [['add_to_cart', `{"product_id": ${'x'.repeat(n)}`]]);
    const repaired = await play({
      answers: {
        'agent:agent': [broken(1), broken(2), replyOf('', [['add_to_cart', { product_id: 'P1', quantity: 1 }]]), hello],
        client: [bye],
      },
    });
    expect(repaired.result.status).toBe('completed');
    const never = await play({ answers: { 'agent:agent': [broken(1), broken(2), broken(3), hello], client: [bye] } });
    expect(never.result).toMatchObject({
      status: 'failed',
      termination_reason: 'tool_loop',
      error: 'agent_agent sent unreadable tool arguments 3 times in a row in turn 1.',
    });
  });

  it('three identical calls in a row', async () => {
    const same = replyOf('', [['find_products', { query: 'liver' }]]);
    const { result, effects } = await play({ answers: { 'agent:agent': [same], client: [bye] } });
    expect(result).toMatchObject({
      status: 'failed',
      termination_reason: 'tool_loop',
      error_type: 'ToolLoopError',
      error: 'agent_agent made the same call of "find_products" 3 times in a row in turn 1.',
    });
    expect(effects.log.filter(({ kind }) => kind === 'tool')).toHaveLength(2);
  });

  it('the same call in different turns is no loop', async () => {
    const same = replyOf('', [['find_products', { query: 'liver' }]]);
    const { result } = await play({
      answers: { 'agent:agent': [same, hello, same, hello, same, hello, same, hello], client: [replyOf('Hm.')] },
      setup: { maxTurns: 4 },
    });
    expect(result.status).toBe('completed');
  });

  it('eight rounds of tools in a turn', async () => {
    let n = 0;
    const model = () => replyOf('', [['find_products', { query: `q${n++}` }]]);
    const { result, effects } = await play({ model });
    expect(result).toMatchObject({
      termination_reason: 'tool_loop',
      error: 'agent_agent gave no answer after 8 rounds of tools in turn 1.',
    });
    expect(effects.log.filter(({ kind }) => kind === 'model').length).toBeLessThanOrEqual(9);
  });

  it('sixteen calls in a turn', async () => {
    const calls = Array.from({ length: 20 }, (_, at) => ['find_products', { query: `q${at}` }] as const);
    const { result } = await play({ answers: { 'agent:agent': [replyOf('', calls)] } });
    expect(result).toMatchObject({
      termination_reason: 'tool_loop',
      error: 'agent_agent asked for more than 16 tool calls in turn 1.',
    });
    expect(result.conversation_history[0]?.tool_results).toHaveLength(20);
  });

  it('handoffs that only go back and forth', async () => {
    const { result } = await play({
      answers: {
        'agent:agent': [replyOf('', [['handoff_support', { reason: 'you' }]])],
        'agent:support': [replyOf('', [['handoff_agent', { reason: 'no, you' }]])],
      },
    });
    expect(result).toMatchObject({
      status: 'failed',
      termination_reason: 'tool_loop',
      error: 'Handoffs went back and forth in turn 1 without an answer to the client.',
    });
    expect(result.metrics.ping_pong).toBeGreaterThan(3);
  });
});
