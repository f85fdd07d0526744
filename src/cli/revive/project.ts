/** Runs of `parlane run`: the snapshot holds the suite and its specifications, the cases are in the store. */
import type { Json, JsonObject } from '../../domain/json.ts';
import { specificationsOf } from '../../run/plan-conversations.ts';
import { projectHost } from '../../run/project.ts';
import { rootOf, suiteOf } from '../../run/suite-snapshot.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { openWorkshop } from '../open-workshop.ts';
import type { Revived } from '../revivers.ts';

export async function revive(snapshot: Json, context: CliContext, store: Store): Promise<Revived> {
  const { suite } = rootOf(snapshot) as JsonObject;
  const workshop = openWorkshop(context);
  const { signal } = new AbortController();
  const host = projectHost({ ...workshop, suite: suiteOf(suite ?? {}), signal, store }, specificationsOf(snapshot));
  return {
    provider: host.provider,
    lanes: ({ onEvent }) => host.lanes(onEvent),
    runners: host.runners,
    finished: host.finished,
    close: async () => {
      await host.close();
      await workshop.close();
    },
  };
}
