import { describe, expect, it } from 'vitest';
import type { Assertion } from '../../domain/verdict.ts';
import { checkOn, wordsOf } from '../fixtures/grading-bench.ts';
import type { Span } from '../subject.ts';
import { type TracedStep, traceOfSteps } from '../trace/trace-of-steps.ts';
import { stepsOf } from '../trace/trajectory.ts';

const steps: readonly TracedStep[] = [
  { path: '1/agent/0/0', kind: 'model', name: 'gpt-4.1', role: 'agent:sales', startedAt: 0, endedAt: 900 },
  {
    path: '1/agent/0/1',
    kind: 'tool',
    name: 'search_orders',
    arguments: '{"id":7,"limit":10}',
    startedAt: 900,
    endedAt: 1000,
  },
  {
    path: '1/agent/1/0',
    kind: 'tool',
    name: 'refund',
    arguments: { order: 7, amount: 5 },
    startedAt: 1000,
    endedAt: 1600,
    error: 'card declined',
  },
  { path: '1/agent/2/0', kind: 'model', name: 'gpt-4.1', role: 'agent:sales', startedAt: 1600, endedAt: 1900 },
];
const trace = traceOfSteps('t1', steps);

type Row = readonly [assertion: Assertion, expected: boolean | RegExp];
const rows: readonly Row[] = [
  [{ type: 'trace-span-count', value: { pattern: 'chat *', min: 2, max: 2 } }, true],
  [{ type: 'trace-span-count', value: { pattern: '*refund*', max: 0 } }, false],
  [{ type: 'not-trace-span-count', value: { pattern: '*refund*', max: 0 } }, true],
  [{ type: 'trace-span-count', value: { min: 1 } }, /needs \{pattern/],
  [{ type: 'trace-span-duration', value: { pattern: 'chat*', max: 1000 } }, true],
  [{ type: 'trace-span-duration', value: { max: 500 } }, false],
  [{ type: 'not-trace-span-duration', value: { max: 500 } }, true],
  [{ type: 'trace-span-duration', value: { max: 500, percentile: 50 } }, true],
  [{ type: 'trace-span-duration', value: { max: 500, percentile: 200 } }, /from 0 to 100/],
  [{ type: 'trace-span-duration', value: { pattern: 'none', max: 1 } }, true],
  [{ type: 'trace-error-spans' }, false],
  [{ type: 'trace-error-spans', value: 1 }, true],
  [{ type: 'trace-error-spans', value: { max_percentage: 30 } }, true],
  [{ type: 'trace-error-spans', value: { max_percentage: 20 } }, false],
  [{ type: 'not-trace-error-spans' }, true],
  [{ type: 'trace-error-spans', value: { pattern: 'chat*' } }, true],
  [{ type: 'trajectory:tool-used', value: 'refund' }, true],
  [{ type: 'trajectory:tool-used', value: ['refund', 'cancel'] }, false],
  [{ type: 'not-trajectory:tool-used', value: 'cancel' }, true],
  [{ type: 'not-trajectory:tool-used', value: ['cancel', 'refund'] }, false],
  [{ type: 'trajectory:tool-used', value: { pattern: 'search*', min: 1, max: 1 } }, true],
  [{ type: 'trajectory:tool-used', value: { min: 1 } }, /name or a pattern/],
  [{ type: 'trajectory:tool-used', value: 5 }, /needs a tool name/],
  [{ type: 'trajectory:tool-sequence', value: ['search_orders', 'refund'] }, true],
  [{ type: 'trajectory:tool-sequence', value: ['refund', 'search_orders'] }, false],
  [{ type: 'not-trajectory:tool-sequence', value: ['refund', 'search_orders'] }, true],
  [{ type: 'trajectory:tool-sequence', value: { mode: 'exact', steps: ['refund'] } }, false],
  [{ type: 'trajectory:tool-sequence', value: { mode: 'exact', steps: ['search*', 'refund'] } }, true],
  [{ type: 'trajectory:tool-sequence', value: [] }, /needs a list/],
  [{ type: 'trajectory:tool-args-match', value: { name: 'refund', args: { order: 7 } } }, true],
  [{ type: 'trajectory:tool-args-match', value: { name: 'refund', args: { order: 7 }, mode: 'exact' } }, false],
  [
    {
      type: 'trajectory:tool-args-match',
      value: { name: 'refund', args: { order: 7 }, mode: 'exact', ignore: 'amou*' },
    },
    true,
  ],
  [
    {
      type: 'trajectory:tool-args-match',
      value: { name: 'search_orders', args: { id: 7 }, mode: 'exact', defaults: { limit: 10 } },
    },
    true,
  ],
  [{ type: 'not-trajectory:tool-args-match', value: { name: 'refund', args: { order: 8 } } }, true],
  [{ type: 'trajectory:tool-args-match', value: { name: 'refund' } }, /needs args/],
  [{ type: 'trajectory:tool-args-match', value: { name: 'refund', args: {}, mode: 'loose' } }, /mode is/],
  [{ type: 'trajectory:step-count', value: { type: 'tool', min: 2, max: 2 } }, true],
  [{ type: 'trajectory:step-count', value: { max: 3 } }, false],
  [{ type: 'not-trajectory:step-count', value: { max: 3 } }, true],
  [{ type: 'trajectory:step-count', value: { type: 'tool' } }, /min, max or both/],
];

describe('checks of traces', () => {
  it.each(rows)('%j comes to %s', async (assertion, expected) => {
    const found = await checkOn('done', assertion, { subject: { trace } });
    if (expected instanceof RegExp) expect(found.error).toMatch(expected);
    else expect({ pass: found.pass, error: found.error }).toEqual({ pass: expected, error: undefined });
  });

  it('an answer without a trace is an error of the check, also with not-', async () => {
    for (const type of ['trace-error-spans', 'not-trace-error-spans', 'trajectory:goal-success']) {
      expect((await checkOn('done', { type, value: 'x' })).error).toMatch(/needs a trace/);
    }
  });

  it('a judge of the goal sees the steps and the last word', async () => {
    let words = '';
    const answer = (call: Parameters<typeof wordsOf>[0]): string => {
      words = wordsOf(call);
      return '{"pass": false, "score": 0.3, "reason": "the refund failed"}';
    };
    const assertion = { type: 'trajectory:goal-success', value: 'Refund order 7' };
    expect(await checkOn('Sorry.', assertion, { subject: { trace }, answer })).toMatchObject({
      pass: false,
      score: 0.3,
    });
    for (const part of ['Refund order 7', 'search_orders', 'card declined', 'Sorry.']) expect(words).toContain(part);
    const negated = { type: 'not-trajectory:goal-success', value: 'Refund order 7' };
    expect(await checkOn('Sorry.', negated, { subject: { trace }, answer })).toMatchObject({ pass: true, score: 1 });
  });
});

describe('reading traces of other makers', () => {
  const span = (name: string, attributes: Span['attributes'] = {}): Span => ({
    spanId: name,
    name,
    startTime: 0,
    attributes,
  });

  it.each([
    [span('x', { 'ai.toolCall.name': 'lookup', 'ai.toolCall.args': '{"a":1}' }), 'tool', 'lookup'],
    [span('mcp server/lookup'), 'tool', 'lookup'],
    [span('exec ls -l'), 'command', 'ls -l'],
    [span('x', { 'tool.name': 'shell', 'tool.args': { cmd: ['ls', '-l'] } }), 'command', 'ls -l'],
    [span('search "cheap flights"'), 'search', 'cheap flights'],
    [span('vector.search', { query: 'flights' }), 'search', 'flights'],
    [span('reasoning'), 'reasoning', 'reasoning'],
    [span('agent response'), 'message', 'agent response'],
    [span('chat', { 'gen_ai.tool.definitions': '[{"name":"a"}]' }), 'span', 'chat'],
  ] as const)('%j is a %s named %s', (one, type, name) => {
    expect(stepsOf({ traceId: 't', spans: [one] })[0]).toMatchObject({ type, name });
  });

  it('steps are in the order in which they began', () => {
    const spans = [
      { ...span('b'), startTime: 2 },
      { ...span('a'), startTime: 1 },
    ];
    expect(stepsOf({ traceId: 't', spans }).map((step) => step.name)).toEqual(['a', 'b']);
  });
});
