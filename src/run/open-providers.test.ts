import { expect, it } from 'vitest';
import { echoProvider, plainLanes } from '../../test/support/run-harness.ts';
import { laneKey } from '../domain/ids.ts';
import { openStore } from '../store/open-store.ts';
import { OpenProviders } from './open-providers.ts';

it('opens a lane that two providers share before either of them is given out', async () => {
  const store = await openStore({ at: ':memory:' });
  const opened: string[] = [];
  const lanes = { ...plainLanes(), open: (provider: { laneKey: string }) => void opened.push(provider.laneKey) };
  const providers = new OpenProviders(
    (name) => ({ ...echoProvider(name), laneKey: laneKey('shared') }),
    store,
    lanes,
    false,
  );
  const seen = await Promise.all(['a', 'b'].map(async (name) => [(await providers.get(name)).id, opened.length]));
  expect(seen).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  await store.close();
});
