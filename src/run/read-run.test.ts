import { expect, it } from 'vitest';
import { hostOf, mixedPlan } from '../../test/support/run-harness.ts';
import type { RunEvent } from '../domain/run-event.ts';
import type { RunReader } from '../reporters/run-reader.ts';
import { openStore } from '../store/open-store.ts';
import { readRun } from './read-run.ts';
import { runPlan } from './run-plan.ts';

const all = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const one of stream) found.push(one);
  return found;
};

it('a stored run is read as its observers saw it', async () => {
  const store = await openStore({ at: ':memory:' });
  const seen: RunEvent[] = [];
  const { run, totals } = await runPlan(
    { name: 'desk', snapshot: {}, cases: mixedPlan(14) },
    hostOf(store, { observers: [(event) => seen.push(event)] }),
  );
  const stored = await store.openRun(run);
  if (stored === undefined) throw new Error('no run');
  const reader: RunReader = readRun(stored);
  expect(await reader.info()).toMatchObject({
    id: run,
    title: 'desk',
    totals,
    complete: true,
    columns: [{}, {}, {}, {}, {}],
  });
  expect(await all(reader.events())).toEqual(seen);
  expect((await all(reader.rows())).map(({ index }) => index)).toEqual([...Array(14).keys()]);
});
