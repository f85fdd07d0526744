/** A config, its store and its plan, opened for `run`, `plan` and whoever needs all three. */
import { join, resolve } from 'node:path';
import type { LoadedSuite } from '../config/load-suite.ts';
import { problemReport } from '../config/problem-report.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Row } from '../domain/row.ts';
import { shownPath } from '../platform/config-files.ts';
import { openProject, type Project } from '../run/project.ts';
import { rowsOf } from '../run/read-run.ts';
import { defaultStoreFolder, openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { checkProject, checkRead } from './check-project.ts';
import type { CliContext } from './cli-context.ts';
import { ownRuns } from './open-project-store.ts';
import { openWorkshop, type Workshop } from './open-workshop.ts';
import { placed } from './place-provider-error.ts';
import { keeper, type ProjectFlags, projectSettings } from './run-options.ts';
import { type ScenarioFlags, scenarioSuite } from './scenario-suite.ts';
import { wholeRefusal } from './whole-refusal.ts';

export interface RunProject {
  readonly project: Project;
  readonly store: Store;
  readonly folder: string;
  readonly workshop: Workshop;
  /** The config files, as a person would name them. */
  readonly configs: readonly string[];
  close(): Promise<void>;
}

export const storeFolder = (context: CliContext, named: string | undefined): string =>
  named === undefined ? join(context.cwd, defaultStoreFolder) : resolve(context.cwd, named);

export async function openRunProject(
  file: string | undefined,
  flags: ProjectFlags & ScenarioFlags & { readonly store?: string },
  context: CliContext,
  signal: AbortSignal,
): Promise<RunProject> {
  const settings = projectSettings(flags);
  const workshop = openWorkshop(context);
  const folder = storeFolder(context, flags.store);
  let store: Store | undefined;
  const named = file === undefined ? [] : [file];
  const overrides = flags.set === undefined ? {} : { set: flags.set };
  let listed: LoadedSuite | undefined;
  try {
    listed = await scenarioSuite(file, flags, context);
    const loaded = listed ?? (await workshop.load(named, overrides));
    const { suite, warnings, configs } = loaded;
    store = await openStore({ at: folder });
    const keep = keeper(flags, flags.failed || flags.errors ? await lastStatuses(store) : new Map());
    const project = await openProject({
      ...workshop,
      suite,
      signal,
      store,
      ...settings,
      ...(keep === undefined ? {} : { keep }),
    }).catch(async (error: unknown) => {
      throw await placed(error, loaded, context);
    });
    if (warnings.length > 0) context.complain(problemReport(warnings));
    if (project.planned === 0) {
      throw new ParlaneError(
        'run/no-cases',
        'There is nothing to run: no case is left.',
        'Add tests or conversations, or widen --only, --tag, --failed or --errors.',
      );
    }
    const shown = configs.map((path) => shownPath(path, context.cwd));
    return { project, store, folder, workshop, configs: shown, close: () => closeAll(project, store, workshop) };
  } catch (error) {
    const refusal = await wholeRefusal(error, () =>
      listed === undefined
        ? checkProject(named, workshop, context, overrides)
        : checkRead({ ...listed, problems: [] }, workshop, context),
    );
    await closeAll(undefined, store, workshop);
    throw refusal;
  }
}

async function closeAll(project: Project | undefined, store: Store | undefined, workshop: Workshop): Promise<void> {
  await project?.close();
  await workshop.close();
  await store?.close();
}

/** How each case ended in the newest run that has it. */
async function lastStatuses(store: Store): Promise<Map<string, Row['status']>> {
  const [newest] = await ownRuns(store);
  const run = newest === undefined ? undefined : await store.openRun(newest.id);
  const statuses = new Map<string, Row['status']>();
  if (run === undefined) return statuses;
  for await (const row of rowsOf(run)) statuses.set(row.key, row.status);
  return statuses;
}
