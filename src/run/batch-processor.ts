/**
 * The BatchProcessor: many conversations as one run. Its job: create, run, progress, cancel, resume, retry failed ones,
 * score again, results, summaries and exports. Not its job: playing (conversation-case), scheduling (lanes), keeping
 * (store): it puts them together.
 */
import { batchCsv, batchNdjson } from '../conversation/export-batch.ts';
import { checkSetup } from '../conversation/setup.ts';
import type { ConversationCase } from '../domain/case.ts';
import { type ConversationResult, resultOf } from '../domain/conversation-result.ts';
import { ParlaneError } from '../domain/errors.ts';
import { caseIndex, runId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Provider } from '../domain/provider.ts';
import { type Clock, realClock } from '../platform/clock.ts';
import { environment, workingFolder } from '../platform/environment.ts';
import { realFiles } from '../platform/files.ts';
import { PromptSpecificationManager } from '../prompts/specification-manager.ts';
import type { RunStore, Store } from '../store/store.ts';
import { casesOf, didNotPass, rescoredConversation, type Scoring } from './again.ts';
import { BatchCount, type BatchJob, type BatchStatus } from './batch-job.ts';
import { refuseToPlayOn } from './check-recordings.ts';
import { conversationRunner } from './conversation-case.ts';
import { type ConversationHost, openConversationHost } from './conversation-host.ts';
import type { RunObserver } from './event-log.ts';
import { forkCase } from './fork-case.ts';
import { type ConversationFork, prepareFork } from './fork-conversation.ts';
import { Lanes, type LanesOptions } from './lanes.ts';
import { counting, factsOf, finish, jobOf, type Live, stopped } from './live-batch.ts';
import {
  type ConversationBatch,
  inOrderOfWork,
  planConversations,
  specificationsJson,
  specificationsOf,
} from './plan-conversations.ts';
import { checkRecordings } from './project-conversations.ts';
import { rowsOf } from './read-run.ts';
import { Recordings } from './recorded-tools.ts';
import { conversationFaults, refuseAssertions } from './refuse-assertions.ts';
import { type ReplayOutcome, replayCase } from './replay-case.ts';
import { findRun, newRunId, type RunHost, type RunOutcome, resumeRun, runPlan } from './run-plan.ts';
import { type RunSummary, summarizeRun } from './summarize-run.ts';

export interface BatchProcessorOptions {
  readonly store: Store;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Relative files start here. */
  readonly folder?: string;
  readonly specsFolder?: string;
  /** Providers of one's own making, by name; everything else is resolved by its id. */
  readonly provider?: (name: string) => Provider | undefined;
  readonly lanes?: Pick<LanesOptions, 'limits' | 'globalCap'>;
  readonly observers?: readonly RunObserver[];
  readonly owner?: NonNullable<RunHost['owner']>;
  readonly ownerAlive?: NonNullable<RunHost['ownerAlive']>;
}

export interface NewBatch extends Omit<ConversationBatch, 'snapshot' | 'expectedCalls'> {
  readonly name?: string;
  readonly promptSpecName?: string;
  readonly budgetUsd?: number;
  readonly maxDurationMs?: number;
  /** Result files that are asked for; kept with the batch, for whoever resumes it. */
  readonly outputs?: readonly string[];
}

export interface BatchRunOptions {
  /** Stops the batch, resumable, when it aborts. */
  readonly signal?: AbortSignal;
  readonly observers?: readonly RunObserver[];
  /** The lanes the batch is played through, as soon as they are there. */
  readonly onLanes?: (lanes: Lanes) => void;
}

export type BatchFormat = 'json' | 'ndjson' | 'csv';

export class BatchProcessor {
  readonly #options: BatchProcessorOptions;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #live = new Map<string, Live>();

  constructor(options: BatchProcessorOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.clock ?? realClock;
    this.#folder = options.folder ?? workingFolder();
  }

  /** Plans a batch. Everything that can be refused is refused here, before anything is sent. */
  async create(batch: NewBatch): Promise<BatchJob> {
    const { name, promptSpecName, budgetUsd, maxDurationMs, outputs, ...rest } = batch;
    const manager = new PromptSpecificationManager(realFiles, this.#options.specsFolder ?? `${this.#folder}/prompts`);
    const snapshot = await manager.snapshot(promptSpecName);
    if (rest.models.judge !== undefined && snapshot.specification.agents['evaluator'] === undefined) {
      throw new ParlaneError(
        'batch/no-evaluator',
        `Scoring is on, but "${snapshot.specification.name}" has no agent "evaluator".`,
        'Add one, or leave the judge out.',
      );
    }
    for (const scenario of rest.scenarios) checkSetup({ ...rest, snapshot, scenario });
    if (rest.useTools) await checkRecordings(manager, promptSpecName, snapshot, this.#store);
    const lengths = await this.#store.lengths(snapshot.specification.name);
    const expectedCalls = new Map(lengths.map(({ name: scenario, calls }) => [scenario, calls]));
    const cases = planConversations({ ...rest, snapshot, expectedCalls });
    await this.#refuseChecks(cases, rest.models.judge?.provider);
    const settings = {
      ...(budgetUsd === undefined ? {} : { budgetUsdMicros: Math.round(budgetUsd * 1_000_000) }),
      ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
      ...(outputs === undefined ? {} : { outputs }),
    };
    const run = {
      name: name ?? snapshot.specification.name,
      snapshot: { kind: 'batch', specifications: specificationsJson([snapshot]) },
      settings,
    };
    return this.#pending(cases, run);
  }

  /** Plays a created batch to its end, or to a stop from which it can be resumed. */
  async run(batchId: string, options: BatchRunOptions = {}): Promise<BatchJob> {
    const live = this.#live.get(batchId);
    if (live?.start === undefined || live.status !== 'pending') {
      throw new ParlaneError(
        'batch/not-pending',
        `The batch ${batchId} is not waiting to be run.`,
        'Create one, or resume it.',
        { batch: batchId },
      );
    }
    return this.#work(batchId, live, live.start, options);
  }

  /** Goes on with a batch that was stopped or killed, in mid-conversation. */
  async resume(batchId: string, options: BatchRunOptions = {}): Promise<BatchJob> {
    const live = await this.#recorded(batchId);
    await refuseToPlayOn(this.#store, batchId, await (await findRun(this.#store, runId(batchId))).snapshot());
    this.#live.set(batchId, live);
    return this.#work(batchId, live, (host) => resumeRun(runId(batchId), host), options);
  }

  /** Stops a batch that is being played; what was answered is kept. */
  cancel(batchId: string): void {
    this.#live.get(batchId)?.cancel.abort();
  }

  /** How far it is, at any time. */
  async progress(batchId: string): Promise<BatchJob> {
    const live = this.#live.get(batchId) ?? (await this.#recorded(batchId));
    return jobOf(batchId, live);
  }

  /** A new batch of those conversations that did not succeed: failed checks, failures and errors. */
  async retryFailed(batchId: string): Promise<BatchJob> {
    const run = await findRun(this.#store, runId(batchId));
    await refuseToPlayOn(this.#store, batchId, await run.snapshot());
    const again = (await casesOf(run, didNotPass)).filter((one) => one.kind === 'conversation');
    return this.#again(run, again, 'retried');
  }

  /** A new batch that scores the recorded conversations again, with another judge or other checks; nothing is played. */
  async rescore(batchId: string, scoring: Scoring = {}): Promise<BatchJob> {
    const run = await findRun(this.#store, runId(batchId));
    const again: ConversationCase[] = [];
    for await (const row of rowsOf(run)) {
      const one = await run.case(row.index);
      const scored = one?.kind === 'conversation' ? rescoredConversation(one, row, scoring) : undefined;
      if (scored !== undefined) again.push(scored);
    }
    return this.#again(run, again, 'scored again');
  }

  /** Keeps turns 1..N of a conversation as recorded, changes what comes after and plays on, as a new batch; runs at once. */
  async fork(batchId: string, fork: ConversationFork, options: BatchRunOptions = {}): Promise<BatchJob> {
    const parent = runId(batchId);
    const run = await findRun(this.#store, parent);
    const original = await run.case(fork.index);
    if (original === undefined) throw unknownCase(batchId, fork.index);
    const { request, snapshot } = prepareFork(parent, original, await run.snapshot(), fork);
    await refuseToPlayOn(this.#store, batchId, snapshot);
    const tries = fork.tries ?? 1;
    const facts = { ...factsOf([original], snapshot), total_scenarios: tries };
    const now = this.#clock.now();
    const live: Live = {
      facts,
      count: new BatchCount(tries),
      createdAt: now,
      cancel: new AbortController(),
      status: 'pending',
    };
    this.#snapshots.set(live, snapshot);
    let child = batchId;
    const start = async (host: RunHost): Promise<RunOutcome> => {
      const outcome = await forkCase(request, host);
      child = outcome.run;
      return outcome;
    };
    const job = await this.#work(batchId, live, start, options);
    this.#live.set(child, live);
    return { ...job, batch_id: child };
  }

  /** Plays a recorded conversation again, offline; stops at the first request that differs and shows the difference. */
  async replay(batchId: string, index: number): Promise<ReplayOutcome> {
    const run = await findRun(this.#store, runId(batchId));
    const host = openConversationHost({ clock: this.#clock, env: {}, folder: this.#folder });
    const specifications = specificationsOf(await run.snapshot());
    const conversation = conversationRunner({ specifications, ports: host.ports, grading: host.grading });
    try {
      return await replayCase(run, caseIndex(index), { prompt: onlyConversations, conversation }, this.#clock);
    } finally {
      await host.close();
    }
  }

  /** The results so far, in scenario order. */
  async results(batchId: string): Promise<ConversationResult[]> {
    const results: ConversationResult[] = [];
    for await (const row of rowsOf(await findRun(this.#store, runId(batchId)))) {
      const result = resultOf(row);
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  async summary(batchId: string): Promise<RunSummary> {
    return summarizeRun(await findRun(this.#store, runId(batchId)));
  }

  async export(batchId: string, format: BatchFormat): Promise<string> {
    const results = await this.results(batchId);
    if (format === 'csv') return batchCsv(results);
    if (format === 'ndjson') return batchNdjson(results);
    return `${JSON.stringify({ ...(await this.progress(batchId)), summary: await this.summary(batchId), results }, null, 2)}\n`;
  }

  /** Refuses checks of a type that nobody knows, and those whose grader could not be asked. */
  async #refuseChecks(cases: readonly ConversationCase[], judge: string | undefined): Promise<void> {
    const host = this.#host();
    try {
      const conversations = cases.map(({ checks }) => ({ checks, judge }));
      refuseAssertions(conversationFaults(conversations, host.provider));
    } finally {
      await host.close();
    }
  }

  #host(): ConversationHost {
    const env = this.#options.env ?? environment();
    const host = openConversationHost({ clock: this.#clock, env, folder: this.#folder });
    return { ...host, provider: (name) => this.#options.provider?.(name) ?? host.provider(name) };
  }

  #pending(cases: readonly ConversationCase[], run: { name: string; snapshot: Json; settings: object }): BatchJob {
    const createdAt = this.#clock.now();
    const id = newRunId(createdAt);
    const start = (host: RunHost): Promise<RunOutcome> => runPlan({ ...run, cases: inOrderOfWork(cases), id }, host);
    const live: Live = {
      facts: factsOf(cases, run.snapshot),
      count: new BatchCount(cases.length),
      createdAt,
      cancel: new AbortController(),
      status: 'pending',
      start,
    };
    this.#snapshots.set(live, run.snapshot);
    this.#live.set(id, live);
    return jobOf(id, live);
  }

  async #again(run: RunStore, cases: readonly ConversationCase[], how: string): Promise<BatchJob> {
    const record = await run.record();
    const numbered = cases.map((one, at): ConversationCase => ({ ...one, index: caseIndex(at) }));
    return this.#pending(numbered, { name: `${record.name}, ${how}`, snapshot: await run.snapshot(), settings: {} });
  }

  async #work(
    id: string,
    live: Live,
    start: (host: RunHost) => Promise<RunOutcome>,
    options: BatchRunOptions,
  ): Promise<BatchJob> {
    const host = this.#host();
    live.status = 'running';
    live.startedAt ??= this.#clock.now();
    const signal =
      options.signal === undefined ? live.cancel.signal : AbortSignal.any([options.signal, live.cancel.signal]);
    try {
      const specifications = await this.#specifications(id, live);
      const { clock, lanes } = { clock: this.#clock, lanes: this.#options.lanes ?? {} };
      const { owner, ownerAlive } = this.#options;
      const outcome = await start({
        store: this.#store,
        clock,
        provider: host.provider,
        lanes: ({ onEvent }) => {
          const made = new Lanes({ ...lanes, clock, onEvent });
          options.onLanes?.(made);
          return made;
        },
        runners: {
          prompt: onlyConversations,
          conversation: conversationRunner({
            specifications,
            ports: host.ports,
            recordings: new Recordings(this.#store),
            grading: host.grading,
          }),
        },
        observers: [counting(live.count), ...(this.#options.observers ?? []), ...(options.observers ?? [])],
        signal,
        ...(owner === undefined ? {} : { owner }),
        ...(ownerAlive === undefined ? {} : { ownerAlive }),
      });
      finish(live, outcome, signal.aborted);
    } catch (error) {
      live.status = 'failed';
      live.error = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      live.endedAt = this.#clock.now();
      live.count.stop();
      await host.close();
    }
    return jobOf(id, live);
  }

  async #specifications(id: string, live: Live) {
    const snapshot = this.#snapshots.get(live) ?? (await (await findRun(this.#store, runId(id))).snapshot());
    return specificationsOf(snapshot);
  }

  /** Snapshots of batches that are not in the store yet. */
  readonly #snapshots = new WeakMap<Live, Json>();

  /** A batch of an earlier process, from the store. */
  async #recorded(id: string): Promise<Live> {
    const run = await findRun(this.#store, runId(id));
    const record = await run.record();
    const first = await run.case(caseIndex(0));
    const total = record.planned ?? (await run.caseCount()).cases;
    const count = new BatchCount(total);
    for await (const row of rowsOf(run)) count.end(row);
    const status: BatchStatus =
      record.status === 'complete' ? 'completed' : record.status === 'running' ? 'running' : 'cancelled';
    const live: Live = {
      facts: { ...factsOf(first === undefined ? [] : [first], await run.snapshot()), total_scenarios: total },
      count,
      createdAt: record.createdAt,
      startedAt: record.createdAt,
      cancel: new AbortController(),
      status,
    };
    if (record.endedAt !== undefined) live.endedAt = record.endedAt;
    if (record.stopReason !== undefined) live.error = stopped(record.stopReason);
    return live;
  }
}

const onlyConversations = (): Promise<never> =>
  Promise.reject(new ParlaneError('batch/prompt-case', 'A batch holds conversations only.', ''));

const unknownCase = (batch: string, index: number): ParlaneError =>
  new ParlaneError(
    'run/unknown-case',
    `The batch ${batch} has no case of index ${index}.`,
    'See its results for those there are.',
    {
      batch,
      index,
    },
  );
