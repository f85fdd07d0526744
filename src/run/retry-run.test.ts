import { describe, expect, it } from 'vitest';
import { conversationCase, echoProvider, hostOf, promptCase, reply, textOf } from '../../test/support/run-harness.ts';
import type { ModelRequest } from '../domain/message.ts';
import { openStore } from '../store/open-store.ts';
import { retryRun } from './retry-run.ts';
import { runPlan } from './run-plan.ts';

const down = {
  kind: 'failure',
  code: 'invalid_request',
  message: 'not today',
  retryable: false,
  billed: 'no',
} as const;

describe('retrying a run', () => {
  it('asks again only what failed, and leaves the other rows as they are', async () => {
    const store = await openStore({ at: ':memory:' });
    const asked: string[] = [];
    let failing = true;
    const call = async (request: ModelRequest) => {
      const text = textOf(request);
      asked.push(text);
      return failing && (text === 'question 1' || text.includes('"turn 2')) ? down : reply(`a:${text.length}`);
    };
    const provider = (name: string) => echoProvider(name, call);
    const cases = [promptCase(0), promptCase(1), conversationCase(2, 2, 1)];
    let replies = 0;
    const talk = (name: string) =>
      echoProvider(name, async (request) => (name === 'b' && failing && ++replies === 3 ? down : call(request)));
    const host = hostOf(store, { provider: (name) => (name === 'b' ? talk(name) : provider(name)) });
    const first = await runPlan({ name: '', snapshot: {}, cases }, host);
    expect(first).toMatchObject({ complete: true, totals: { passed: 1, errors: 2 } });
    const before = asked.length;
    failing = false;
    const second = await retryRun(first.run, host);
    expect(second).toMatchObject({ complete: true, totals: { planned: 3, passed: 3, errors: 0 } });
    expect(asked.slice(before).filter((text) => text === 'question 0')).toEqual([]);
    // The conversation had two answers before it failed: only its other calls were made.
    expect(asked.length - before).toBe(1 + (2 * 2 + 2 - 2));
  });

  it('asks everything anew when told', async () => {
    const store = await openStore({ at: ':memory:' });
    let asked = 0;
    const provider = (name: string) =>
      echoProvider(name, async () => {
        asked++;
        return reply('nothing');
      });
    const host = hostOf(store, { provider });
    const first = await runPlan({ name: '', snapshot: {}, cases: [promptCase(0), promptCase(1)] }, host);
    expect(first.totals.failed).toBe(2);
    await retryRun(first.run, host, { which: ({ index }) => index === 1, anew: true });
    expect(asked).toBe(3);
  });
});
