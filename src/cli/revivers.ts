/**
 * How a stored run comes back to life: by the kind of its snapshot, the module that knows what it was made of. To add a
 * kind: a line here, a file in `revive/`.
 */
import { ParlaneError } from '../domain/errors.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import { refuseToPlayOn } from '../run/check-recordings.ts';
import type { CaseSource } from '../run/plan-intake.ts';
import type { RunHost, RunOutcome } from '../run/run-plan.ts';
import { rootOf } from '../run/suite-snapshot.ts';
import type { RunRecord, RunStore, Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';

export interface Revived extends Pick<RunHost, 'provider' | 'lanes' | 'runners' | 'cache'> {
  /** How its result files are written, where they are not those of every run. */
  readonly outputs?: RunFiles;
  /** Tells the `afterAll` hooks; gives back what went wrong with them. */
  finished?(run: RunStore, durationMs: Millis): Promise<string | undefined>;
  /** The plan made again, for a run that died before all of it was recorded. */
  readonly cases?: CaseSource;
  close(): Promise<void>;
}

export interface RunFiles {
  /** Refuses a file whose format nobody knows, before anything is run. */
  check(path: string): void;
  write(path: string, outcome: RunOutcome, startedAt: EpochMillis): Promise<void>;
}

export interface Reviver {
  revive(snapshot: Json, context: CliContext, store: Store): Promise<Revived>;
}

const revivers: Readonly<Record<string, () => Promise<Reviver>>> = {
  batch: () => import('./revive/batch.ts'),
  eval: () => import('./revive/eval.ts'),
  plan: () => import('./revive/plan.ts'),
  project: () => import('./revive/project.ts'),
};

const kindOf = (snapshot: Json): string => String((Object(rootOf(snapshot)) as { kind?: Json }).kind ?? '');

export async function revive(record: RunRecord, snapshot: Json, context: CliContext, store: Store): Promise<Revived> {
  const load = Object.hasOwn(revivers, kindOf(snapshot)) ? revivers[kindOf(snapshot)] : undefined;
  if (load !== undefined) return (await load()).revive(snapshot, context, store);
  throw new ParlaneError(
    'run/started-elsewhere',
    `The run ${record.id} was started by a program of its own, so this command does not know its parts.`,
    'Resume it from that program with resumeRun().',
    { run: record.id },
  );
}

/** The same for a run that is played on: refused while nothing is spent when its tools could not answer. */
export async function reviveToPlay(
  record: RunRecord,
  snapshot: Json,
  context: CliContext,
  store: Store,
): Promise<Revived> {
  await refuseToPlayOn(store, record.id, snapshot);
  return revive(record, snapshot, context, store);
}
