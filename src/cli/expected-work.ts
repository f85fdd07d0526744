/** What a run has to do on each lane, for those who show how long it takes. */
import type { Forecast } from '../domain/forecast.ts';
import type { LaneKey } from '../domain/ids.ts';
import type { Provider } from '../domain/provider.ts';
import type { ExpectedWork } from '../reporters/terminal/time-left.ts';
import type { Project } from '../run/project.ts';
import type { RunStore } from '../store/store.ts';

/** By the forecast. */
export function forecastWork({ lanes }: Forecast, { evals, batches, provider }: Project): ExpectedWork {
  const names = new Set([
    ...(evals?.columns ?? []).map(({ column }) => column.provider),
    ...batches.map(({ models }) => models.agent.provider),
  ]);
  const named = Map.groupBy(names, (name) => provider(name).laneKey);
  return new Map(
    lanes.map(({ lane, cases, calls }) => [
      lane,
      { cases, calls: calls.likely, providers: new Set(named.get(lane) ?? []) },
    ]),
  );
}

/** By the cases that a run still has to play; nothing while not the whole plan is recorded. */
export async function openWork(
  run: RunStore,
  provider: (name: string) => Provider | Promise<Provider>,
): Promise<ExpectedWork> {
  const work = new Map<LaneKey, { cases: number; readonly providers: Set<string> }>();
  if ((await run.record()).planned === undefined) return work;
  for (const [name, count] of await run.openCounts()) {
    const { laneKey } = await provider(name);
    const lane = work.get(laneKey) ?? { cases: 0, providers: new Set<string>() };
    lane.cases += count;
    lane.providers.add(name);
    work.set(laneKey, lane);
  }
  return work;
}
