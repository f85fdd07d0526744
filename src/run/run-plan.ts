/**
 * Job: run a plan to its end, or to a stop from which it can be resumed: cases through lanes to rows, everything in the
 * store before it counts.
 * Not its job: reading configs, talking to people, pacing.
 *
 * Invariants: 1. Every planned case ends in exactly one row, and the run checks it itself. 2. A final row is on disk before
 * anybody is told. 3. A stop leaves provisional rows, which a resume replaces. 4. Whatever happens, lanes and providers
 * are let go.
 */
import { randomUUID } from 'node:crypto';
import { ParlaneError } from '../domain/errors.ts';
import { type EpochMillis, type RunId, runId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import type { BudgetNeed, RunSpend, RunTotals, StopReason } from '../domain/run-event.ts';
import type { Clock } from '../platform/clock.ts';
import type { Coalescer } from '../providers/coalesce.ts';
import type { RunOwner, RunStore, Store } from '../store/store.ts';
import type { StoreError } from '../store/store-errors.ts';
import { isTooSmall } from './budget-words.ts';
import type { CaseRunners } from './case-runner.ts';
import type { RunObserver } from './event-log.ts';
import { executeRun } from './execute-run.ts';
import type { ResponseCache } from './model-call.ts';
import type { ModelLanes } from './model-lanes.ts';
import { type ResolveProvider, refuseUnknownPrice } from './open-providers.ts';
import { type CaseSource, noCases, type PlanTraits, traitsOf } from './plan-intake.ts';
import { holdRun } from './run-lease.ts';
import { defaultSettings, type RunSettings, settingsJson, settingsOf } from './run-settings.ts';

/** What to run. */
export interface RunRequest {
  readonly name: string;
  /** Everything needed to run it again, as plain data without secrets; immutable once the run has begun. */
  readonly snapshot: Json;
  /** In the order in which they should be admitted. A list, or a stream of any length. */
  readonly cases: CaseSource;
  /** The number of cases, when a stream's is known before. */
  readonly planned?: number;
  /** How cases depend on each other; needed for a stream to start before it was read to its end. */
  readonly traits?: PlanTraits;
  readonly settings?: Partial<RunSettings>;
  readonly id?: RunId;
}

/** What a run works with. */
export interface RunHost {
  readonly store: Store;
  readonly clock: Clock;
  readonly provider: ResolveProvider;
  readonly lanes: (options: { readonly onEvent: (event: LaneEvent) => void }) => ModelLanes;
  readonly runners: CaseRunners;
  readonly observers?: readonly RunObserver[];
  /** Stops the run, resumable, when it aborts. */
  readonly signal?: AbortSignal;
  readonly cache?: ResponseCache;
  /** Lets identical calls in flight share one answer; repeats are never shared. */
  readonly coalescer?: Coalescer;
  /** This process, so that no second one works on the same run. */
  readonly owner?: Omit<RunOwner, 'seenAt'>;
  /** Whether the process that had the run before is still there. */
  readonly ownerAlive?: (owner: RunOwner) => boolean;
}

export interface RunOutcome {
  readonly run: RunId;
  readonly totals: RunTotals;
  readonly complete: boolean;
  /** What the whole run has paid, earlier processes included. */
  readonly spent: RunSpend;
  /** How close this sitting came to the least time it could have taken; absent when no call was made. */
  readonly efficiency?: RunEfficiency;
  readonly stopReason?: StopReason;
  /** What the spend cap lacks, when it is the reason. */
  readonly need?: BudgetNeed;
  /** When a run that waits for parked lanes can go on. */
  readonly until?: EpochMillis;
  /** Why the store failed, when it did. */
  readonly error?: StoreError;
}

/** A name that sorts by time and is easily typed. */
export const newRunId = (now: EpochMillis): RunId =>
  runId(
    `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}-${randomUUID().slice(0, 4)}`,
  );

/** Refuses what can be refused before anything is written or spent. */
async function lookAhead(cases: CaseSource, settings: RunSettings, host: RunHost): Promise<void> {
  if (!Array.isArray(cases)) return;
  if (cases.length === 0) throw noCases();
  for (const name of new Set(cases.map((one) => one.column.provider))) {
    const provider = await host.provider(name);
    if (settings.budgetUsdMicros !== undefined) refuseUnknownPrice(provider);
  }
}

/** Every provider is made once, however often it is asked for. */
function once(resolve: ResolveProvider): ResolveProvider {
  const made = new Map<string, ReturnType<ResolveProvider>>();
  return (name) => {
    const provider = made.get(name) ?? resolve(name);
    made.set(name, provider);
    return provider;
  };
}

/** Runs a plan as a new run. */
export async function runPlan(request: RunRequest, given: RunHost): Promise<RunOutcome> {
  const host = { ...given, provider: once(given.provider) };
  const settings = { ...defaultSettings, ...request.settings };
  await lookAhead(request.cases, settings, host);
  const now = host.clock.now();
  const run = await host.store.createRun({
    id: request.id ?? newRunId(now),
    name: request.name,
    createdAt: now,
    snapshot: request.snapshot,
    options: settingsJson(settings),
  });
  const traits = request.traits ?? traitsOf(request.cases);
  const execution = { run, host, settings, source: request.cases, traits, planned: request.planned, resumed: false };
  try {
    return await holdRun(run, host, () => executeRun(execution));
  } catch (error) {
    // Nothing was run: nothing is left behind.
    if (isTooSmall(error)) await host.store.deleteRun(run.id);
    throw error;
  }
}

/**
 * Goes on with a run that was stopped or killed: finished rows stay, recorded answers are not paid again, the rest is run.
 * `cases` is needed only when the run died before its whole plan was recorded. `prepare` is called once nobody else can
 * work on it.
 */
export async function resumeRun(
  id: RunId,
  host: RunHost,
  cases?: CaseSource,
  changes: Partial<Pick<RunSettings, 'budgetUsdMicros' | 'maxDurationMs'>> = {},
  prepare: (run: RunStore) => Promise<void> = async () => {},
): Promise<RunOutcome> {
  const run = await findRun(host.store, id);
  const record = await run.record();
  if (record.planned === undefined && cases === undefined) {
    throw new ParlaneError(
      'run/plan-incomplete',
      `The run ${id} ended before its whole plan was recorded.`,
      'Resume it with the files it was started from.',
      { run: id },
    );
  }
  // A time limit is for one sitting: whoever resumes a run that it stopped wants it to go on.
  const { maxDurationMs: _, ...kept } = settingsOf(record.options);
  const settings = { ...kept, ...changes };
  const source = record.planned === undefined ? cases : undefined;
  return holdRun(run, host, async () => {
    await prepare(run);
    return executeRun({ run, host, settings, source, traits: undefined, planned: record.planned, resumed: true });
  });
}

export async function findRun(store: Store, id: RunId): Promise<RunStore> {
  const run = await store.openRun(id);
  if (run !== undefined) return run;
  throw new ParlaneError(
    'run/unknown',
    `There is no run ${id} in ${store.location}.`,
    'See "parlane runs" for those there are.',
    {
      run: id,
    },
  );
}
