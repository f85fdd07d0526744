import { describe, expect, it } from 'vitest';
import {
  conversationCase,
  echoProvider,
  hostOf,
  promptCase,
  reply,
  runners,
  scriptedConversation,
} from '../../test/support/run-harness.ts';
import type { ConversationCase } from '../domain/case.ts';
import { caseIndex } from '../domain/ids.ts';
import { realClock } from '../platform/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { RunStore, Store } from '../store/store.ts';
import { forkCase, keepTurns } from './fork-case.ts';
import { memoryJournal } from './journal.ts';
import { replayCase } from './replay-case.ts';
import { runPlan } from './run-plan.ts';
import { createStep } from './step.ts';

const index = caseIndex(0);
const times = { startedAt: 1, endedAt: 2, queueMs: 0, backoffMs: 0, latencyMs: 1, attempts: 1 };

describe('a step', () => {
  const stepOver = (journal = memoryJournal(index)) => createStep({ journal, name: 'r/0', now: () => 1 });
  const effect = (value: string) => async () => ({ value, times, costUsdMicros: 0 });

  it('gives the recorded answer when path and request are the same, without doing anything', async () => {
    const journal = memoryJournal(index);
    await stepOver(journal)('tool', '1/a', { x: 1, y: 2 }, effect('first'));
    const again = stepOver(memoryJournal(index, { answers: journal.answers, sends: new Map() }));
    const answer = await again('tool', '1/a', { y: 2, x: 1 }, () => Promise.reject(new Error('done twice')));
    expect(answer).toEqual({ value: 'first', times, replayed: true });
  });

  it('does the effect when the request is another one', async () => {
    const journal = memoryJournal(index);
    await stepOver(journal)('tool', '1/a', { x: 1 }, effect('first'));
    const again = stepOver(memoryJournal(index, { answers: journal.answers, sends: new Map([['1/a', 1]]) }));
    expect(await again('tool', '1/a', { x: 2 }, effect('second'))).toMatchObject({ value: 'second', replayed: false });
  });

  it('marks an answer whose request may have been paid before', async () => {
    const journal = memoryJournal(index, { answers: new Map(), sends: new Map([['1/a', 1]]) });
    await stepOver(journal)('model', '1/a', {}, effect('late'));
    expect(journal.answers.get('1/a')).toMatchObject({ send: 2, billing: 'maybe-again' });
  });

  it('refuses a path that was used before in the same case', async () => {
    const step = stepOver();
    await step('tool', '1/a', {}, effect('one'));
    await expect(step('tool', '1/a', {}, effect('two'))).rejects.toMatchObject({ code: 'bug/path-used-twice' });
  });

  it('leaves no answer when the effect throws', async () => {
    const journal = memoryJournal(index);
    await expect(stepOver(journal)('tool', '1/a', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(journal.answers.size).toBe(0);
  });

  it('commits its intent before anything is sent and its answer before anything is used', async () => {
    const order: string[] = [];
    const journal = {
      ...memoryJournal(index),
      intend: async () => void order.push('intent'),
      answer: async () => void order.push('answer'),
    };
    await stepOver(journal as never)('tool', 'a', {}, async ({ intend }) => {
      await intend();
      order.push('sent');
      return { value: 1, times, costUsdMicros: 0 };
    });
    order.push('used');
    expect(order).toEqual(['intent', 'sent', 'answer', 'used']);
  });
});

const played = async (one = conversationCase(0, 4, 2)): Promise<{ store: Store; run: RunStore }> => {
  const store = await openStore({ at: ':memory:' });
  const outcome = await runPlan({ name: 'talk', snapshot: { a: 1 }, cases: [one] }, hostOf(store));
  const run = await store.openRun(outcome.run);
  if (run === undefined) throw new Error('no run');
  return { store, run };
};

describe('replay', () => {
  it('plays a conversation from its journal alone, to the same row', async () => {
    const { run } = await played();
    const [stored] = await run.rows({ after: -1, limit: 1 });
    expect(await replayCase(run, index, runners, realClock)).toEqual({ kind: 'same', row: stored?.row });
  });

  it('plays a prompt case with what earlier cases left to it', async () => {
    const store = await openStore({ at: ':memory:' });
    const cases = [promptCase(0, { storeAs: 'x' }), promptCase(1, { prompt: 'use {{x}}' })];
    const { run } = await runPlan({ name: '', snapshot: {}, cases }, hostOf(store));
    const stored = await store.openRun(run);
    expect(stored && (await replayCase(stored, caseIndex(1), runners, realClock)).kind).toBe('same');
  });

  it('stops at the first request that differs and shows where', async () => {
    const { run } = await played();
    const changed = {
      ...runners,
      conversation: (one: ConversationCase, context: Parameters<typeof runners.conversation>[1]) =>
        scriptedConversation()({ ...one, name: 'another scenario' }, context),
    };
    expect(await replayCase(run, index, changed, realClock)).toMatchObject({
      kind: 'differs',
      path: '1/agent/0',
      differences: [
        { at: 'request.messages.0.content', recorded: 'play scenario 0 0', actual: 'play another scenario 0' },
      ],
    });
  });

  it('stops where the journal ends', async () => {
    const { run } = await played();
    const longer = {
      ...runners,
      conversation: (one: ConversationCase, context: Parameters<typeof runners.conversation>[1]) =>
        scriptedConversation()({ ...one, detail: { turns: 5, tools: 2 } }, context),
    };
    const outcome = await replayCase(run, index, longer, realClock);
    expect(outcome).toMatchObject({ kind: 'differs', path: '5/agent/0' });
    expect(outcome).not.toHaveProperty('recorded');
  });
});

describe('fork', () => {
  it('keeps turns 1..N as recorded although the prompt has changed, and plays on, several times', async () => {
    const { store, run } = await played();
    const asked: string[] = [];
    let answer = 0;
    const provider = (name: string) =>
      echoProvider(name, async (request) => {
        asked.push(JSON.stringify(request));
        return reply(`new ${answer++}`);
      });
    const outcome = await forkCase(
      { parent: run.id, index, keep: keepTurns(2), change: (one) => ({ ...one, name: 'kinder' }), tries: 3 },
      hostOf(store, { provider }),
    );
    expect(outcome).toMatchObject({ complete: true, totals: { planned: 3, passed: 3 } });
    const child = await store.openRun(outcome.run);
    const original = (await run.rows({ after: -1, limit: 1 }))[0]?.row.output as string[];
    for (const { row } of (await child?.rows({ after: -1, limit: 9 })) ?? []) {
      const words = row.output as string[];
      expect(words.slice(0, 8)).toEqual(original.slice(0, 8));
      expect(words[8]).toMatch(/^new /);
    }
    expect(asked).toHaveLength(3 * (2 * 2 + 2));
    expect(asked[0]).toContain('play kinder');
    expect(await store.forks()).toEqual([{ run: outcome.run, parent: run.id, index, keep: 'turns 1..2' }]);
    expect((await run.rows({ after: -1, limit: 1 }))[0]?.row.output).toEqual(original);
  });
});
