/** Whatever models and tools do, the invariants of a result hold. Every result is validated by `play`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { play } from '../../test/conversation/desk.ts';
import type { Outcome } from '../domain/reply.ts';
import { failureOf, memoryJournal, replyOf } from './memory-effects.ts';

const text = fc.oneof(
  fc.constantFrom('', ' ', 'Hello.', '[END]', 'Спасибо', '谢谢', 'שלום', '🙂', '{{ x }}', '{% raw %}'),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const toolName = fc.constantFrom(
  'find_products',
  'add_to_cart',
  'remove_from_cart',
  'raw',
  'fake_handoff',
  'slow',
  'note',
  'end_call',
  'handoff_support',
  'handoff_agent',
  'handoff_flow_manager',
  'handoff_client',
  'handoff_',
  'end_callend_call',
  '',
  '__proto__',
  'constructor',
);
const args = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{}{}',
    '[',
    'null',
    '[]',
    '"x"',
    '{"query":"liver"}',
    '{"reason":"x"}',
    '{"product_id":"P1","quantity":1}',
    '{"text":"{\\"a\\":1}"}',
    '{"__proto__":{}}',
  ),
  fc.string({ maxLength: 30 }),
  fc.json({ maxDepth: 3 }),
);
const call = fc.tuple(toolName, args, fc.constantFrom('', 'same', 'a', 'b'));
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 6, arbitrary: text.map((words) => replyOf(words)) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(text, fc.array(call, { minLength: 1, maxLength: 6 }))
      .map(([words, calls]) => replyOf(words, calls)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      failureOf('auth', 'no'),
      failureOf('region_blocked', 'no'),
      failureOf('timeout', 'no'),
      failureOf('aborted', 'no'),
      replyOf('', [], { finishReason: 'refusal' }),
    ),
  },
);

describe('a conversation with models and tools that behave badly', () => {
  it('always gives a result that fits the schema, with calls and results aligned by position', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { minLength: 1, maxLength: 25 }),
        fc.boolean(),
        fc.constantFrom<'agent' | 'client'>('agent', 'client'),
        fc.integer({ min: 1, max: 5 }),
        async (answers, useTools, firstSpeaker, maxTurns) => {
          let at = 0;
          const { result, effects } = await play({
            model: () => answers[at++ % answers.length] as Outcome,
            setup: { useTools, firstSpeaker, maxTurns },
            latencyMs: () => 100,
          });
          expect(result.total_turns).toBeLessThanOrEqual(maxTurns);
          const turns = result.conversation_history.map(({ turn }) => turn);
          expect(turns).toEqual(turns.toSorted((a, b) => a - b));
          const ids = result.conversation_history.flatMap(({ tool_calls: calls }) => calls ?? []).map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(result.tool_call_count).toBe(ids.length);
          expect(
            result.conversation_history.filter(({ content, speaker }) => speaker === 'client' && content === ''),
          ).toEqual([]);
          if (!useTools) expect(ids).toEqual([]);
          const models = effects.log.filter(({ kind }) => kind === 'model').length;
          expect(models).toBeLessThanOrEqual(result.total_turns * 2 * 10);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is the same again when its recorded effects are replayed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(outcome, { minLength: 1, maxLength: 15 }), async (answers) => {
        const journal = memoryJournal();
        let at = 0;
        const options = { journal, setup: { maxTurns: 3 } };
        const first = await play({ ...options, model: () => answers[at++ % answers.length] as Outcome });
        const again = await play({ ...options, model: () => Promise.reject(new Error('asked again')) });
        expect(again.result).toEqual(first.result);
      }),
      { numRuns: 100 },
    );
  });

  it('never sends an orphan tool result nor leaves a call unanswered in any message list', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(outcome, { minLength: 1, maxLength: 20 }), async (answers) => {
        let at = 0;
        const { effects } = await play({
          model: () => answers[at++ % answers.length] as Outcome,
          setup: { maxTurns: 4 },
        });
        for (const { kind, request } of effects.log) {
          if (kind !== 'model') continue;
          type Asked = {
            request: { messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[] };
          };
          const open: string[] = [];
          for (const message of (request as unknown as Asked).request.messages) {
            if (message.role === 'tool') expect(open.shift()).toBe(message.tool_call_id);
            else expect(open).toEqual([]);
            open.push(...(message.tool_calls ?? []).map(({ id }) => id));
          }
          expect(open).toEqual([]);
        }
      }),
      { numRuns: 150 },
    );
  });
});
