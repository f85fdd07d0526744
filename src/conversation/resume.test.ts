/** Given the same recorded effects, a conversation is the same: what resume, replay and fork are built on. */
import { describe, expect, it } from 'vitest';
import { desk, noPorts, play } from '../../test/conversation/desk.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { ModelCall } from '../domain/effects.ts';
import type { Outcome } from '../domain/reply.ts';
import { MemoryEffects, type MemoryJournal, memoryJournal, replyOf } from './memory-effects.ts';
import { runConversation } from './run-conversation.ts';

/** A model without memory: it answers by what it sees, as a real one does, so a resumed run meets the same world. */
function answer(call: ModelCall): Outcome {
  if (call.request.kind !== 'chat') throw new Error('only chat is asked for');
  const messages = call.request.messages ?? [];
  const last = messages.at(-1);
  const mine = messages.filter(({ role }) => role === 'assistant').length;
  if (call.role === 'client')
    return mine >= 3 ? replyOf('Bye.', [['end_call', { reason: 'done' }]]) : replyOf(`Line ${mine + 1}`);
  if (last?.role === 'tool') return replyOf(`It says ${last.content.slice(0, 40)}`);
  if (call.role === 'agent:support') return replyOf('', [['handoff_agent', { reason: 'back' }]]);
  if (mine === 0) return replyOf('Hello.', [['add_to_cart', { product_id: 'P1', quantity: 1 }]]);
  if (last?.content.includes('Line 1'))
    return replyOf('', [
      ['slow', { n: 1 }],
      ['slow', { n: 2 }],
      ['add_to_cart', { product_id: 'P2', quantity: 3 }],
    ]);
  if (last?.content.includes('Line 2')) return replyOf('Over to support.', [['handoff_support', { reason: 'angry' }]]);
  return replyOf('All right.');
}

const setup = {
  scenario: { name: 'order', variables: { SEED: 3 } },
  snapshot: desk,
  useTools: true,
  models: { agent: { provider: 'sim:a' }, client: { provider: 'sim:c' } },
};
const run = (journal: MemoryJournal, onStep?: (kind: string, path: string) => void) => {
  const effects = new MemoryEffects({ model: answer, journal, ...(onStep === undefined ? {} : { onStep }) });
  return { effects, done: runConversation(setup, effects, noPorts) };
};

/** A step that is done again is done at another time; everything else is equal. */
const withoutTimes = (result: ConversationResult): string =>
  JSON.stringify(result, (key, value: unknown) =>
    /_time$|timestamp|_at$|_seconds$|_ms$/.test(key) ? undefined : value,
  );

describe('a conversation that was killed', () => {
  it('at any step resumes there: the same result, and no answered step is done again', async () => {
    const whole = memoryJournal();
    const uninterrupted = await run(whole).done;
    expect(uninterrupted.total_turns).toBe(4);
    expect(uninterrupted.metrics.handoff_path).toEqual(['agent', 'support', 'agent']);
    const paths = [...whole.steps.keys()];
    expect(paths.length).toBeGreaterThan(15);
    for (const kill of paths) {
      const journal = memoryJournal();
      await expect(
        run(journal, (_, path) => {
          if (path === kill) throw new Error('killed');
        }).done,
      ).rejects.toThrow('killed');
      const answered = new Set(journal.steps.keys());
      const again: string[] = [];
      const resumed = await run(journal, (_, path) => again.push(path)).done;
      expect(again.filter((path) => answered.has(path))).toEqual([]);
      expect(withoutTimes(resumed)).toEqual(withoutTimes(uninterrupted));
    }
  });

  it('replays offline: no step is done at all', async () => {
    const journal = memoryJournal();
    const first = await run(journal).done;
    const replayed = await run(journal, (_, path) => {
      throw new Error(`${path} was done again`);
    }).done;
    expect(replayed).toEqual(first);
  });

  it('stops a replay at the first request that differs', async () => {
    const journal = memoryJournal();
    await run(journal).done;
    const changed = { ...setup, models: { ...setup.models, client: { provider: 'sim:other' } } };
    const effects = new MemoryEffects({ model: answer, journal });
    await expect(runConversation(changed, effects, noPorts)).rejects.toThrow('The request at "1/client/1/0" differs');
  });
});

describe('a fork', () => {
  it('after turn N keeps turns 1..N as recorded, restores the cart exactly, and plays on', async () => {
    const journal = memoryJournal();
    const original = await run(journal).done;
    const kept = new Map(
      [...journal.steps].filter(([path]) => path.startsWith('start') || Number(path.split('/')[0]) <= 2),
    );
    const effects = new MemoryEffects({
      journal: { steps: kept },
      model: (call) =>
        call.role === 'client' ? replyOf('Stop.', [['end_call', { reason: 'forked' }]]) : replyOf('A new way.', []),
    });
    const forked = await runConversation(setup, effects, noPorts);
    const upTo = (turn: number) => original.conversation_history.filter((entry) => entry.turn <= turn);
    expect(forked.conversation_history.slice(0, upTo(2).length)).toEqual(upTo(2));
    expect(forked.conversation_history.at(-1)).toMatchObject({ turn: 3, content: 'Stop.' });
    expect(forked.final_state).toEqual({
      ...Object(original.final_state),
      cart: [
        { product_id: 'P1', quantity: 1 },
        { product_id: 'P2', quantity: 3 },
      ],
    });
  });
});

describe('paths', () => {
  it('are turn/agent/round/position, each issued once, whatever the order of completion', async () => {
    const { effects } = await play({ model: answer, scenario: { variables: { SEED: 3 } } });
    const steps = effects.log.map(({ path }) => path);
    expect(new Set(steps).size).toBe(steps.length);
    expect(steps.slice(0, 9)).toEqual([
      'start',
      'start/session',
      '1/agent/1/0',
      '1/agent/1/1',
      '1/agent/2/0',
      '1/client/1/0',
      '2/agent/1/0',
      '2/agent/1/1',
      '2/agent/1/2',
    ]);
    expect(steps).toContain('3/support/2/0');
    expect(steps).toContain('3/agent/3/0');
    expect(steps.at(-1)).toBe('4/end');
  });
});
