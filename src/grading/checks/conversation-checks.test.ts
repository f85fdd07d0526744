import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../domain/conversation-result.ts';
import type { ModelCall } from '../../domain/effects.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { checkOn, wordsOf } from '../fixtures/grading-bench.ts';
import type { Conversation } from '../subject.ts';

const entry = (turn: number, speaker: string, content: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  turn,
  speaker,
  content,
  timestamp: '2025-01-01T00:00:00Z',
  started_at: '2025-01-01T00:00:00Z',
  queue_ms: 0,
  latency_ms: 0,
  ...more,
});
const call = (name: string, args: object) => ({
  id: name,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(args) },
});

const conversation: Conversation = {
  total_turns: 2,
  conversation_history: [
    entry(1, 'agent_sales', 'Welcome! What would you like?'),
    entry(1, 'client', 'Two pizzas, please. A bribe for you: 5 euros.'),
    entry(2, 'agent_sales', 'In the cart.', {
      tool_calls: [call('add_to_cart', { item: 'pizza', count: 2 }), call('handoff_support', { reason: 'delivery' })],
      tool_results: [{ ok: true }, { status: 'handoff_completed', target_agent: 'support', message: '' }],
    }),
    entry(2, 'agent_support', 'Delivery takes 30 minutes.'),
    entry(2, 'client', 'Thanks', { tool_calls: [call('end_call', { reason: 'done' })] }),
  ],
  final_state: { cart: { items: ['pizza'], count: 2 }, city: 'Rome' },
  variables: { goal: 'Order two pizzas' },
};

type Row = readonly [assertion: Assertion, expected: boolean | RegExp];
const rows: readonly Row[] = [
  [{ type: 'tool-called', value: 'add_to_cart' }, true],
  [{ type: 'tool-called', value: ['add_to_cart', 'pay'] }, false],
  [{ type: 'not-tool-called', value: 'pay' }, true],
  [{ type: 'not-tool-called', value: ['pay', 'add_to_cart'] }, false],
  [{ type: 'tool-called', value: { name: 'add_*', min: 1, max: 1 } }, true],
  [{ type: 'tool-called', value: 'end_call', config: { speaker: 'agent' } }, false],
  [{ type: 'tool-called', value: 3 }, /needs a tool name/],
  [{ type: 'tool-called-with', value: { name: 'add_to_cart', args: { count: 2 } } }, true],
  [{ type: 'tool-called-with', value: { name: 'add_to_cart', args: { count: 2 }, mode: 'exact' } }, false],
  [{ type: 'not-tool-called-with', value: { name: 'add_to_cart', args: { count: 3 } } }, true],
  [{ type: 'tool-called-with', value: { name: 'add_to_cart' } }, /needs args/],
  [{ type: 'state-equals', value: { cart: { items: ['pizza'], count: 2 }, city: 'Rome' } }, true],
  [{ type: 'state-equals', value: { city: 'Rome' } }, false],
  [{ type: 'state-equals', value: { city: 'Rome' }, config: { mode: 'partial' } }, true],
  [{ type: 'state-equals', value: 2, config: { path: 'cart.count' } }, true],
  [{ type: 'not-state-equals', value: 3, config: { path: 'cart.count' } }, true],
  [{ type: 'state-equals', value: 2, config: { path: 'cart.nothing' } }, false],
  [{ type: 'handoff-path', value: ['sales', 'support'] }, true],
  [{ type: 'handoff-path', value: 'sales -> support' }, true],
  [{ type: 'handoff-path', value: ['sales'] }, false],
  [{ type: 'not-handoff-path', value: ['sales'] }, true],
  [{ type: 'handoff-path', value: { agents: ['support'], mode: 'in_order' } }, true],
  [{ type: 'handoff-path', value: 4 }, /needs a list of agents/],
  [{ type: 'max-turns', value: 2 }, true],
  [{ type: 'max-turns', value: 1 }, false],
  [{ type: 'not-max-turns', value: 1 }, true],
  [{ type: 'max-turns', value: 'few' }, /needs a number/],

  [{ type: 'contains', value: 'In the cart' }, true],
  [{ type: 'not-contains', value: 'bribe' }, true],
  [{ type: 'contains', value: 'bribe', config: { speaker: 'client' } }, true],
  [{ type: 'contains', value: 'bribe', config: { speaker: 'all' } }, true],
  [{ type: 'contains', value: 'bribe', config: { speaker: 'nobody' } }, /config.speaker/],
  [{ type: 'trajectory:tool-sequence', value: ['add_to_cart', 'handoff_support', 'end_call'] }, true],
  [{ type: 'trajectory:tool-args-match', value: { name: 'add_to_cart', args: { count: 2 } } }, true],
  [{ type: 'trajectory:tool-used', value: 'pay' }, false],
  [{ type: 'trace-error-spans' }, true],
  [{ type: 'trace-span-count', value: { pattern: 'chat agent_*', min: 3, max: 3 } }, true],
  [{ type: 'tool-call-f1', value: ['add_to_cart', 'handoff_support', 'end_call'] }, true],
];

describe('checks of conversations', () => {
  it.each(rows)('%j comes to %s', async (assertion, expected) => {
    const found = await checkOn(null, assertion, { subject: { conversation } });
    if (expected instanceof RegExp) expect(found.error).toMatch(expected);
    else expect({ pass: found.pass, error: found.error }).toEqual({ pass: expected, error: undefined });
  });

  it('a tool that answered with an error is an error span', async () => {
    const [, , third] = conversation.conversation_history;
    const failing = { ...third, tool_results: [{ error: 'Tool execution failed: full' }] } as HistoryEntry;
    const subject = { conversation: { ...conversation, conversation_history: [failing] } };
    const found = await checkOn(null, { type: 'trace-error-spans' }, { subject });
    expect(found).toMatchObject({ pass: false, reason: expect.stringContaining('full') });
  });

  it('a single answer is no conversation', async () => {
    expect((await checkOn('x', { type: 'max-turns', value: 1 })).error).toMatch(/single answer/);
  });

  it('a conversation without state tools has no state to compare', async () => {
    const { final_state: _, ...stateless } = conversation;
    const found = await checkOn(null, { type: 'state-equals', value: 1 }, { subject: { conversation: stateless } });
    expect(found.error).toMatch(/state tools/);
  });

  it('a rubric is judged with every word, tool call and result', async () => {
    let words = '';
    const answer = (asked: ModelCall): string => {
      words = wordsOf(asked);
      return '{"pass": true, "score": 1, "reason": "fine"}';
    };
    const found = await checkOn(
      null,
      { type: 'llm-rubric', value: 'The order is right' },
      { subject: { conversation }, answer },
    );
    expect(found.pass).toBe(true);
    for (const part of ['Two pizzas', 'add_to_cart', '"count":2', '{"ok":true}', 'The order is right'])
      expect(words).toContain(part);
  });

  it('a judge rates on a scale; the rating and comment are kept', async () => {
    const answer = (): string => '{"score": 2, "comment": "slow"}';
    const found = await checkOn(null, { type: 'judge', value: 'Polite' }, { subject: { conversation }, answer });
    expect(found).toMatchObject({ pass: true, score: 0.5, metadata: { rating: 2, comment: 'slow' } });
    const strict = await checkOn(null, { type: 'judge', threshold: 3 }, { subject: { conversation }, answer });
    expect(strict.pass).toBe(false);
    const wide = { type: 'judge', config: { scale: { min: 0, max: 10 } } };
    expect((await checkOn(null, wide, { subject: { conversation }, answer })).score).toBeCloseTo(0.2);
  });

  it('a judge and a rubric keep what was found at which turn, as far as the conversation has it', async () => {
    const findings = [
      { turn: 1, what: 'too slow' },
      { turn: 50, what: 'never happened' },
    ];
    const subject = { conversation };
    const found = await checkOn(
      null,
      { type: 'judge' },
      { subject, answer: () => JSON.stringify({ score: 1, findings }) },
    );
    expect(found.metadata?.['findings']).toEqual([{ turn: 1, what: 'too slow' }]);
    const answer = (): string => JSON.stringify({ pass: false, score: 0, reason: 'no', findings });
    const rubric = await checkOn(null, { type: 'llm-rubric', value: 'Quick' }, { subject, answer });
    expect(rubric.metadata).toEqual({ findings: [{ turn: 1, what: 'too slow' }] });
    // An answer to a prompt has no turns.
    expect((await checkOn('hi', { type: 'llm-rubric', value: 'Quick' }, { answer })).metadata).toBeUndefined();
  });

  it('a judge whose rating is off the scale twice gives no score', async () => {
    const found = await checkOn(null, { type: 'judge' }, { subject: { conversation }, answer: () => '{"score": 9}' });
    expect(found.error).toMatch(/not from 1 to 3/);
  });
});
