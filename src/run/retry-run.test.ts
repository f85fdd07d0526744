import { describe, expect, it } from 'vitest';
import { conversationCase, echoProvider, hostOf, promptCase, reply, textOf } from '../../test/support/run-harness.ts';
import type { ModelRequest } from '../domain/message.ts';
import { openStore } from '../store/open-store.ts';
import { retryRun } from './retry-run.ts';
import { findRun, runPlan } from './run-plan.ts';

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

  /** A run under a budget whose only call failed, and whose provider works again by now. */
  const failedOnce = async () => {
    const store = await openStore({ at: ':memory:' });
    let failing = true;
    const provider = (name: string) => echoProvider(name, async () => (failing ? down : reply('a: yes')));
    const host = hostOf(store, { provider });
    const settings = { budgetUsdMicros: 300 };
    const first = await runPlan({ name: '', snapshot: {}, cases: [promptCase(0)], settings }, host);
    expect(first.totals.errors).toBe(1);
    failing = false;
    return { first, host };
  };

  it('goes by another budget when one is given', async () => {
    const { first, host } = await failedOnce();
    const tooLittle = await retryRun(first.run, host, { changes: { budgetUsdMicros: 1 } }).catch(({ code }) => code);
    expect(tooLittle).toBe('budget/too-small');
    const enough = await retryRun(first.run, host, { changes: { budgetUsdMicros: 1_000 } });
    expect(enough).toMatchObject({ complete: true, totals: { passed: 1 } });
  });

  it('does not take what failed unbilled for spent', async () => {
    const { first, host } = await failedOnce();
    expect(await retryRun(first.run, host)).toMatchObject({ complete: true, totals: { passed: 1 } });
  });

  it('records the rest of a plan that was cut short', async () => {
    const store = await openStore({ at: ':memory:' });
    const stop = new AbortController();
    const plan = [promptCase(0), promptCase(1), promptCase(2)];
    const cut = async function* () {
      yield* plan.slice(0, 1);
      stop.abort();
      await new Promise(() => {});
    };
    const traits = { serial: false, stateful: false };
    const first = await runPlan(
      { name: '', snapshot: {}, cases: cut(), traits },
      hostOf(store, { signal: stop.signal }),
    );
    expect(first.complete).toBe(false);
    const second = await retryRun(first.run, hostOf(store), { cases: plan });
    expect(second).toMatchObject({ complete: true, totals: { planned: 3, passed: 3 } });
  });

  it('leaves a run alone that somebody else works on', async () => {
    const store = await openStore({ at: ':memory:' });
    const host = hostOf(store, { provider: (name) => echoProvider(name, async () => down) });
    const { run: id } = await runPlan({ name: '', snapshot: {}, cases: [promptCase(0)] }, host);
    const run = await findRun(store, id);
    await run.change({ owner: { pid: 1, host: 'elsewhere', startedAt: '', seenAt: Date.now() } });
    const owned = { ...host, owner: { pid: 2, host: 'here', startedAt: '' }, ownerAlive: () => true };
    await expect(retryRun(id, owned)).rejects.toMatchObject({ code: 'run/busy' });
    expect(await run.rowCounts()).toMatchObject({ error: 1, provisional: 0 });
  });
});
