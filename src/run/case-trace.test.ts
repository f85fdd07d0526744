import { describe, expect, it } from 'vitest';
import { reply } from '../../test/support/run-harness.ts';
import { MemoryEffects } from '../conversation/memory-effects.ts';
import type { JsonObject } from '../domain/json.ts';
import { tracedEffects } from './case-trace.ts';
import { runEval } from './fixtures/eval-lab.ts';

/** A model that asks for two tools, then for nothing. */
const target = {
  id: 'sim:instant',
  config: {
    replies: [
      {
        text: 'Looking it up.',
        toolCalls: [
          { name: 'search_orders', arguments: { id: 7, limit: 10 } },
          { name: 'refund', arguments: { order: 7 } },
        ],
      },
    ],
  },
};

const graded = async (assertion: JsonObject) => {
  const { rows } = await runEval({
    providers: [target],
    prompts: ['Refund {{order}}'],
    tests: [{ vars: { order: '7' }, assert: [assertion] }],
  });
  return rows[0]?.error?.message ?? rows[0]?.status;
};

describe('what a case did, as its checks see it', () => {
  it.each<[JsonObject, string]>([
    [{ type: 'trace-span-count', value: { pattern: 'chat *', min: 1, max: 1 } }, 'passed'],
    [{ type: 'trace-span-count', value: { pattern: 'execute_tool *', min: 2, max: 2 } }, 'passed'],
    [{ type: 'trace-span-count', value: { pattern: '*', max: 1 } }, 'failed'],
    [{ type: 'trace-span-duration', value: { pattern: 'chat *', max: 5000 } }, 'passed'],
    [{ type: 'not-trace-span-duration', value: { pattern: 'chat *', max: 5000 } }, 'failed'],
    [{ type: 'trace-error-spans', value: 0 }, 'passed'],
    [{ type: 'not-trace-error-spans', value: 0 }, 'failed'],
    [{ type: 'trajectory:tool-used', value: ['search_orders', 'refund'] }, 'passed'],
    [{ type: 'trajectory:tool-used', value: 'cancel' }, 'failed'],
    [{ type: 'trajectory:tool-args-match', value: { name: 'search_orders', args: { id: 7 } } }, 'passed'],
    [{ type: 'trajectory:tool-args-match', value: { name: 'search_orders', args: { id: 8 } } }, 'failed'],
    [{ type: 'trajectory:tool-sequence', value: ['search_orders', 'refund'] }, 'passed'],
    [{ type: 'trajectory:tool-sequence', value: ['refund', 'search_orders'] }, 'failed'],
    [{ type: 'trajectory:step-count', value: { type: 'tool', min: 2, max: 2 } }, 'passed'],
    [{ type: 'trajectory:step-count', value: { type: 'tool', max: 1 } }, 'failed'],
    [
      {
        type: 'trajectory:goal-success',
        value: 'the refund is made',
        provider: { id: 'sim:instant', config: { reply: '{"pass": true, "score": 1, "reason": "ok"}' } },
      },
      'passed',
    ],
  ])('answers %j with %s', async (assertion, expected) => {
    expect(await graded(assertion)).toBe(expected);
  });

  it('is handed to code of the author with times and names', async () => {
    const { rows } = await runEval({
      providers: [target],
      prompts: ['x'],
      tests: [
        {
          assert: [
            {
              type: 'javascript',
              value:
                'context.trace.spans.map((span) => span.name).join() === "chat sim:instant,execute_tool search_orders,execute_tool refund"',
            },
          ],
        },
        {
          assert: [
            {
              type: 'javascript',
              value:
                'context.trace.spans.length === 3 && context.trace.spans.every((span) => span.endTime >= span.startTime)',
            },
          ],
        },
      ],
    });
    expect(rows.map(({ status }) => status)).toEqual(['passed', 'passed']);
  });

  it('takes the time of the answer, however long the call has waited for its lane', async () => {
    const world = new MemoryEffects({ model: () => reply('yes'), latencyMs: () => 300, queueMs: () => 2_000 });
    const { effects, trace } = tracedEffects(world);
    const request = { kind: 'chat', prompt: 'x' } as const;
    await effects.model('prompt', { role: 'prompt', provider: 'a', request });
    expect(trace('case').spans.map(({ startTime, endTime = 0 }) => endTime - startTime)).toEqual([300]);
  });
});
