import { describe, expect, it } from 'vitest';
import type { Json } from '../../domain/json.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { checkOn } from '../fixtures/grading-bench.ts';
import type { Subject } from '../subject.ts';

type Row = readonly [about: string, subject: Partial<Subject>, assertion: Assertion, expected: boolean | RegExp];

const weather = {
  name: 'get_weather',
  parameters: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
};
const withTools = { id: 'openai:x', config: { tools: [{ type: 'function', function: weather }] } };
const call = (args: string, name = 'get_weather'): Json => ({
  id: 'c1',
  type: 'function',
  function: { name, arguments: args },
});
const skills = (...names: string[]): Partial<Subject> => ({
  reply: { metadata: { skillCalls: [...names.map((name) => ({ name })), { name: 'broken', is_error: true }] } },
});

const rows: readonly Row[] = [
  ['a cheap call', { reply: { costUsdMicros: 500 } }, { type: 'cost', threshold: 0.001 }, true],
  ['a dear call', { reply: { costUsdMicros: 5000 } }, { type: 'cost', threshold: 0.001 }, false],
  ['a dear call wanted', { reply: { costUsdMicros: 5000 } }, { type: 'not-cost', threshold: 0.001 }, true],
  ['an unknown price', { reply: {} }, { type: 'cost', threshold: 0.001 }, /add prices:/],
  ['no threshold', { reply: { costUsdMicros: 5 } }, { type: 'cost' }, /needs a threshold/],
  ['a quick answer', { reply: { latencyMs: 80 } }, { type: 'latency', threshold: 100 }, true],
  ['a slow answer', { reply: { latencyMs: 180 } }, { type: 'latency', threshold: 100 }, false],
  ['a slow answer wanted', { reply: { latencyMs: 180 } }, { type: 'not-latency', threshold: 100 }, true],
  ['a cached answer', { reply: { cached: true } }, { type: 'latency', threshold: 100 }, /cache/],
  ['the finish reason', { reply: { finishReason: 'STOP' } }, { type: 'finish-reason', value: 'stop' }, true],
  ['another finish reason', { reply: { finishReason: 'length' } }, { type: 'finish-reason', value: 'stop' }, false],
  ['not that finish reason', { reply: { finishReason: 'length' } }, { type: 'not-finish-reason', value: 'stop' }, true],
  ['no finish reason', {}, { type: 'finish-reason', value: 'stop' }, false],
  ['no finish reason, negated', {}, { type: 'not-finish-reason', value: 'stop' }, true],
  ['no word to compare with', {}, { type: 'finish-reason' }, /needs a text/],
  ['no guardrail', {}, { type: 'guardrails' }, true],
  ['a guardrail', { reply: { guardrails: { flagged: true } } }, { type: 'guardrails' }, false],
  ['a guardrail wanted', { reply: { guardrails: { flagged: true } } }, { type: 'not-guardrails' }, true],
  ['a missing guardrail', { reply: { guardrails: { flagged: false } } }, { type: 'not-guardrails' }, false],

  [
    'a valid tool call',
    { output: [call('{"city":"Rome"}')], provider: withTools },
    { type: 'is-valid-openai-tools-call' },
    true,
  ],
  [
    'calls under tool_calls',
    { output: { tool_calls: [call('{"city":"Rome"}')] }, provider: withTools },
    { type: 'is-valid-openai-tools-call' },
    true,
  ],
  [
    'wrong arguments',
    { output: [call('{"town":"Rome"}')], provider: withTools },
    { type: 'is-valid-openai-tools-call' },
    false,
  ],
  [
    'wrong arguments wanted',
    { output: [call('{"town":"Rome"}')], provider: withTools },
    { type: 'not-is-valid-openai-tools-call' },
    true,
  ],
  ['broken arguments', { output: [call('{')], provider: withTools }, { type: 'is-valid-openai-tools-call' }, false],
  [
    'an unknown tool',
    { output: [call('{}', 'fly')], provider: withTools },
    { type: 'is-valid-openai-tools-call' },
    false,
  ],
  ['text instead of calls', { output: 'Sunny', provider: withTools }, { type: 'is-valid-openai-tools-call' }, false],
  ['no tools offered', { output: [call('{"city":"Rome"}')] }, { type: 'is-valid-openai-tools-call' }, false],
  ['an MCP result', { output: 'MCP Tool Result (search): ok' }, { type: 'is-valid-openai-tools-call' }, true],
  ['an MCP error', { output: 'MCP Tool Error (search): no' }, { type: 'is-valid-openai-tools-call' }, false],
  [
    'a legacy function call',
    {
      output: { name: 'get_weather', arguments: '{"city":"Rome"}' },
      provider: { id: 'x', config: { functions: [weather] } },
    },
    { type: 'is-valid-openai-function-call' },
    true,
  ],
  [
    'a legacy call that does not fit',
    {
      output: { function_call: { name: 'get_weather', arguments: '{}' } },
      provider: { id: 'x', config: { functions: [weather] } },
    },
    { type: 'is-valid-function-call' },
    false,
  ],
  ['no function call', { output: 'Sunny' }, { type: 'is-valid-function-call' }, false],
  ['no function call wanted', { output: 'Sunny' }, { type: 'not-is-valid-function-call' }, true],

  [
    'the expected tools',
    { output: [call('{}', 'a'), call('{}', 'b')] },
    { type: 'tool-call-f1', value: ['a', 'b'] },
    true,
  ],
  ['one tool missing', { output: [call('{}', 'a')] }, { type: 'tool-call-f1', value: 'a, b' }, false],
  [
    'one tool missing, low threshold',
    { output: [call('{}', 'a')] },
    { type: 'tool-call-f1', value: 'a, b', threshold: 0.6 },
    true,
  ],
  ['one tool missing, negated', { output: [call('{}', 'a')] }, { type: 'not-tool-call-f1', value: 'a, b' }, true],
  [
    'a call in Anthropic form',
    { output: 'Let me look.\n{"type":"tool_use","name":"a","input":{}}' },
    { type: 'tool-call-f1', value: ['a'] },
    true,
  ],
  [
    'a call in Google form',
    { output: [{ functionCall: { name: 'a' } }] },
    { type: 'tool-call-f1', value: ['a'] },
    true,
  ],
  ['no tools named', { output: '' }, { type: 'tool-call-f1', value: 3 }, /needs tool names/],

  ['a used skill', skills('review'), { type: 'skill-used', value: 'review' }, true],
  ['a missing skill', skills('review'), { type: 'skill-used', value: ['review', 'plan'] }, false],
  ['a failed skill', skills(), { type: 'skill-used', value: 'broken' }, false],
  ['a forbidden skill', skills('review'), { type: 'not-skill-used', value: 'review' }, false],
  [
    'skills by pattern and count',
    skills('db:a', 'db:b'),
    { type: 'skill-used', value: { pattern: 'db:*', min: 2, max: 2 } },
    true,
  ],
  ['too many skills', skills('db:a', 'db:b'), { type: 'skill-used', value: { pattern: 'db:*', max: 1 } }, false],
  ['a bad count', skills(), { type: 'skill-used', value: { name: 'a', min: -1 } }, /whole number/],
  ['counts with not', skills(), { type: 'not-skill-used', value: { name: 'a', min: 1 } }, /takes no counts/],
];

describe('checks of what is known about a reply', () => {
  it.each(rows)('%s', async (_about, subject, assertion, expected) => {
    const found = await checkOn(subject.output ?? '', assertion, { subject });
    if (expected instanceof RegExp) expect(found.error).toMatch(expected);
    else expect({ pass: found.pass, error: found.error }).toEqual({ pass: expected, error: undefined });
  });

  it('tool-call-f1 scores the balance of missing and needless tools', async () => {
    const output = [call('{}', 'a'), call('{}', 'x')];
    expect((await checkOn(output, { type: 'tool-call-f1', value: ['a', 'b', 'c'] })).score).toBeCloseTo(2 / 5);
  });
});
