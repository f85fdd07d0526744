/**
 * Runs of `parlane eval`. The snapshot holds the suite and the cases are in the store, so that nothing is read again; only
 * a run that died before its whole plan was recorded needs its config files, and the flags it was started with.
 */
import { resolve } from 'node:path';
import { loadSuite } from '../../config/load-suite.ts';
import type { SuiteOverrides } from '../../config/overrides.ts';
import type { Json } from '../../domain/json.ts';
import { realClock } from '../../platform/clock.ts';
import { configFiles, shownPath } from '../../platform/config-files.ts';
import type { EvalSettings } from '../../run/eval-settings.ts';
import { resumedTable } from '../../run/evaluate.ts';
import { planEval } from '../../run/plan-eval.ts';
import { projectHost } from '../../run/project.ts';
import { rootOf, suiteOf } from '../../run/suite-snapshot.ts';
import type { Store } from '../../store/store.ts';
import type { CliContext } from '../cli-context.ts';
import { checkOutputs, writeOutputs } from '../commands/eval-outputs.ts';
import { openWorkshop, type Workshop } from '../open-workshop.ts';
import type { Revived } from '../revivers.ts';

interface EvalSource {
  readonly configs?: readonly string[];
  readonly overrides?: SuiteOverrides;
  readonly settings?: EvalSettings;
}

/** Planned anew when it is asked for, and not before. */
async function* plannedAgain(source: EvalSource, workshop: Workshop, context: CliContext, signal: AbortSignal) {
  const { env, cwd } = context;
  const { code } = workshop;
  const shown = (path: string): string => shownPath(path, cwd);
  const { configs = [], overrides = {}, settings = {} } = source;
  const { suite } = await loadSuite({ files: configFiles, code, env, cwd, configs, overrides, shown });
  yield* (await planEval(suite, { files: configFiles, code, signal, ...settings })).cases();
}

export async function revive(snapshot: Json, context: CliContext, store: Store): Promise<Revived> {
  const { suite, source = {} } = rootOf(snapshot) as unknown as { readonly suite: Json; readonly source?: EvalSource };
  const workshop = openWorkshop(context);
  const { signal } = new AbortController();
  const played = suiteOf(suite);
  const host = projectHost({ ...workshop, ...source.settings, suite: played, signal, store }, new Map());
  return {
    provider: host.provider,
    lanes: ({ onEvent }) => host.lanes(onEvent),
    runners: host.runners,
    finished: host.finished,
    outputs: {
      check: (path) => checkOutputs([path], context.cwd),
      async write(path, outcome, startedAt) {
        const table = await resumedTable(outcome, played, { store, code: workshop.code }, context.complain);
        await writeOutputs(resolve(context.cwd, path), table, played, { startedAt, now: realClock.now() });
      },
    },
    cases: plannedAgain(source, workshop, context, signal),
    close: async () => {
      await host.close();
      await workshop.close();
    },
  };
}
