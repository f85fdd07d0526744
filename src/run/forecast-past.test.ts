import { describe, expect, it } from 'vitest';
import { hostOf, promptCase } from '../../test/support/run-harness.ts';
import { laneKey } from '../domain/ids.ts';
import { nameKey } from '../forecast/past-cases.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { learnPast } from './forecast-past.ts';
import { findRun, runPlan } from './run-plan.ts';

const play = (store: Store, prompt: string, provider: string, cases = 2) => {
  const column = { position: 0, provider, prompt };
  const planned = Array.from({ length: cases }, (_, at) => promptCase(at, { column }));
  return runPlan({ name: prompt, snapshot: {}, cases: planned }, hostOf(store));
};

const wanted = (prompts: readonly string[], providers: readonly string[]) => ({
  prompts: new Set(prompts),
  providers: new Set(providers),
});

describe('the past of a forecast', () => {
  it('is not pushed out by runs of other prompts', async () => {
    await using store = await kept();
    await play(store, 'mine', 'a');
    for (let more = 0; more < 30; more++) await play(store, 'other', 'a', 1);
    const past = await learnPast(store, wanted(['mine'], ['a']));
    expect(past?.seen).toBe(2);
    expect(past?.byName.get(nameKey('mine', 'case 1'))).toHaveLength(1);
    expect(past?.byFamily.has('other')).toBe(false);
  });

  it('is the newest five runs of each prompt', async () => {
    await using store = await kept();
    for (let more = 0; more < 3; more++) await play(store, 'rare', 'a', 1);
    for (let more = 0; more < 7; more++) await play(store, 'mine', 'a', 1);
    const past = await learnPast(store, wanted(['mine', 'rare'], ['a']));
    expect(past?.byFamily.get('mine')).toHaveLength(5);
    expect(past?.byFamily.get('rare')).toHaveLength(3);
  });

  it('knows lanes from runs of other prompts', async () => {
    await using store = await kept();
    await play(store, 'other', 'a');
    await play(store, 'other', 'b');
    const past = await learnPast(store, wanted(['mine'], ['a']));
    expect(past?.seen).toBe(0);
    expect([...(past?.lanes?.keys() ?? [])]).toEqual([laneKey('a')]);
  });

  it('is the pilot alone where there is one, and nothing in an empty store', async () => {
    await using store = await kept();
    expect(await learnPast(store, wanted(['mine'], ['a']))).toBeUndefined();
    await play(store, 'mine', 'a', 3);
    const pilot = await findRun(store, (await play(store, 'mine', 'a', 1)).run);
    const past = await learnPast(store, wanted(['mine'], ['a']), await pilot.record());
    expect(past?.seen).toBe(1);
  });
});

async function kept(): Promise<Store & AsyncDisposable> {
  const store = await openStore({ at: ':memory:' });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
