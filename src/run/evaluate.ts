/**
 * An eval from suite to table: plan, run, compare. The same runs, lanes and store as everything else; what is special to
 * evals (templates, transforms, hooks, comparisons) is put together in `open-eval.ts`.
 */
import { ParlaneError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { isObject, type JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { RunEvent, RunTotals } from '../domain/run-event.ts';
import type { Suite } from '../domain/suite.ts';
import { type EvalColumn, evalColumns } from '../plan/columns.ts';
import { type Derive, evalSummary } from '../reporters/promptfoo/column-metrics.ts';
import type { Store } from '../store/store.ts';
import type { CasedRow } from './case-runner.ts';
import { createHooks } from './eval-hooks.ts';
import { columnFacts, deriving, type EvalStep, stepOf, tellAfterAll } from './eval-results.ts';
import { extendSuite } from './extend-suite.ts';
import type { Lanes } from './lanes.ts';
import type { ResponseCache } from './model-call.ts';
import { type OpenEval, type OpenEvalOptions, openEval, snapshotOf } from './open-eval.ts';
import { sha256 } from './plan-eval.ts';
import { casedRows, rowsOf } from './read-run.ts';
import { retryRun } from './retry-run.ts';
import { findRun, type RunHost, type RunOutcome, type RunRequest, resumeRun, runPlan } from './run-plan.ts';
import type { RunSettings } from './run-settings.ts';

export { evalParts, snapshotOf } from './open-eval.ts';

export interface EvaluateOptions extends OpenEvalOptions, Pick<RunHost, 'owner' | 'ownerAlive'> {
  readonly store: Store;
  readonly responseCache?: ResponseCache;
  readonly observers?: readonly ((event: RunEvent) => void)[];
  /** The lanes the eval is played through, as soon as they are there. */
  readonly onLanes?: (lanes: Lanes) => void;
  /** After each row: how many are done, of how many, the plan's index, the step, and its column's metrics so far. */
  readonly progressCallback?: (
    completed: number,
    total: number,
    index: number,
    evalStep: EvalStep,
    metrics: JsonObject,
  ) => void;
  /** Go on with this run instead of starting one. */
  readonly resume?: RunId;
  /** With `resume`: its error rows are run again too. */
  readonly retryErrors?: boolean;
  readonly budgetUsd?: number;
  /** Result files that were asked for; kept with the run for whoever resumes it, not written here. */
  readonly outputs?: readonly string[];
  /** Where the suite came from, for a later resume: `{configs, overrides}`. */
  readonly source?: JsonObject;
}

export interface EvalNumbers {
  readonly prompts: readonly JsonObject[];
  readonly cached: number;
}

export interface EvalOutcome {
  readonly outcome: RunOutcome;
  readonly columns: readonly EvalColumn[];
  readonly totals: RunTotals;
  /** The table, in the plan's order. */
  rows(): AsyncIterable<CasedRow>;
  /** Adds the suite's derived metrics to the named scores of a column. */
  readonly derive: Derive;
  /** One per column, as promptfoo's `CompletedPrompt`: its metrics, derived ones included. */
  prompts(): Promise<readonly JsonObject[]>;
  /** The same, and how many answers were not asked for because an earlier run had asked the same; all in one reading. */
  numbers(): Promise<EvalNumbers>;
}

function settingsFor(suite: Suite, opened: OpenEval, options: EvaluateOptions): Partial<RunSettings> {
  const { timeoutMs, maxEvalTimeMs } = opened.settings;
  const budgetUsd = options.budgetUsd ?? suite.budgetUsd;
  return {
    serialize: suite.serialize ?? 'global',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxEvalTimeMs === undefined ? {} : { maxDurationMs: maxEvalTimeMs, wording: 'promptfoo' }),
    ...(budgetUsd === undefined ? {} : { budgetUsdMicros: Math.round(budgetUsd * 1_000_000) }),
    ...(opened.maxWaitMs === undefined ? {} : { maxWaitMs: opened.maxWaitMs }),
    ...(options.outputs === undefined ? {} : { outputs: options.outputs }),
  };
}

function hostFor(opened: OpenEval, options: EvaluateOptions, signal: AbortSignal): RunHost {
  const summary = evalSummary(columnFacts(opened.plan.columns));
  const { progressCallback } = options;
  const progress = (event: RunEvent): void => {
    if (event.type !== 'case-end' || event.row.provisional === true) return;
    summary.add(event.row);
    const { completed, total, index, row } = event;
    progressCallback?.(completed, total, index, stepOf(row, opened.plan.columns), summary.metrics(row.column));
  };
  const useCache = options.responseCache !== undefined && opened.settings.cache !== false;
  return {
    store: options.store,
    clock: options.clock,
    provider: opened.provider,
    lanes: (lanesOptions) => {
      const lanes = opened.lanes(lanesOptions);
      options.onLanes?.(lanes);
      return lanes;
    },
    runners: opened.runners,
    observers: [...(options.observers ?? []), ...(progressCallback === undefined ? [] : [progress])],
    signal,
    ...(useCache ? { cache: options.responseCache } : {}),
    ...(options.owner === undefined ? {} : { owner: options.owner }),
    ...(options.ownerAlive === undefined ? {} : { ownerAlive: options.ownerAlive }),
  };
}

/** Runs an eval. Throws a `ParlaneError` when there is nothing to run or a provider cannot be made; nothing was sent then. */
export async function evaluate(given: Suite, options: EvaluateOptions): Promise<EvalOutcome> {
  const signal = options.abortSignal ?? new AbortController().signal;
  const hooks = createHooks(given.extensions, options.code, given.folder);
  const suite = await extendSuite(given, hooks, signal);
  const opened = await openEval(suite, options);
  const { plan } = opened;
  if (plan.planned === 0 && options.resume === undefined) {
    throw new ParlaneError(
      'eval/no-cases',
      'There is nothing to run: no test is left.',
      'Add tests, or widen the filters.',
    );
  }
  const snapshot = snapshotOf(suite, options.source ?? {}, plan.replayed);
  const host = hostFor(opened, options, signal);
  const request = {
    name: suite.description ?? 'eval',
    snapshot,
    cases: plan.cases(),
    planned: plan.planned,
    traits: plan.traits,
    settings: settingsFor(suite, opened, options),
  };
  const startedAt = options.clock.now();
  const outcome = await carryOut(request, host, options);
  const warn = (message: string): void => {
    for (const observe of options.observers ?? []) observe({ type: 'warning', at: options.clock.now(), message });
  };
  const table = await tableOf(outcome, suite, plan.columns, options, warn);
  const durationMs = options.clock.now() - startedAt;
  const told = { suite, hooks, columns: plan.columns, derive: table.derive, durationMs, signal };
  const problem = await tellAfterAll(await findRun(options.store, outcome.run), told);
  if (problem !== undefined) warn(problem);
  return table;
}

function carryOut(request: RunRequest, host: RunHost, options: EvaluateOptions): Promise<RunOutcome> {
  const { resume, retryErrors } = options;
  const { cases } = request;
  if (resume === undefined) return runPlan(request, host);
  return retryErrors === true ? retryRun(resume, host, { cases }) : resumeRun(resume, host, cases);
}

/** The table of a run that was resumed from its snapshot alone. */
export const resumedTable = (
  outcome: RunOutcome,
  suite: Suite,
  options: Pick<EvaluateOptions, 'store' | 'code'>,
  warn: (message: string) => void,
): Promise<EvalOutcome> => tableOf(outcome, suite, evalColumns(suite, sha256), options, warn);

function isCached({ detail }: Row): boolean {
  const response = isObject(detail) ? detail['response'] : undefined;
  return isObject(response) && response['cached'] === true;
}

async function tableOf(
  outcome: RunOutcome,
  suite: Suite,
  columns: readonly EvalColumn[],
  options: Pick<EvaluateOptions, 'store' | 'code'>,
  warn: (message: string) => void,
): Promise<EvalOutcome> {
  const run = await findRun(options.store, outcome.run);
  const rows = (): AsyncIterable<CasedRow> => casedRows(run);
  const derive = deriving(suite, options.code, new AbortController().signal, warn);
  const numbers = async (): Promise<EvalNumbers> => {
    const summary = evalSummary(columnFacts(columns));
    let cached = 0;
    for await (const row of rowsOf(run)) {
      if (row.kind !== 'prompt') continue;
      summary.add(row);
      if (isCached(row)) cached += 1;
    }
    return { prompts: await summary.prompts(derive), cached };
  };
  const prompts = async () => (await numbers()).prompts;
  return { outcome, columns, totals: outcome.totals, rows, derive, prompts, numbers };
}
