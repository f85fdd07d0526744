/**
 * The ConversationEngine of the contract: plays one scenario at a time or many at once, by itself. The same loop, lanes
 * and effects as a run, with a journal in memory.
 */

import { join } from 'node:path';
import { type ConversationSetup, checkSetup, type ModelChoice } from '../conversation/setup.ts';
import type { ConversationCase } from '../domain/case.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import { ParlaneError } from '../domain/errors.ts';
import { caseIndex, caseKey } from '../domain/ids.ts';
import type { LaneEvent, LaneSnapshot } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { Scenario } from '../domain/scenario.ts';
import { type Clock, realClock } from '../platform/clock.ts';
import { environment, workingFolder } from '../platform/environment.ts';
import { realFiles } from '../platform/files.ts';
import type { FilePort } from '../prompts/files.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import { defaultSpecification, PromptSpecificationManager } from '../prompts/specification-manager.ts';
import type { Store } from '../store/store.ts';
import { Budget } from './budget.ts';
import { refuseMissingRecordings, replayedTools } from './check-recordings.ts';
import { conversationRunner } from './conversation-case.ts';
import { type ConversationHost, openConversationHost } from './conversation-host.ts';
import { memoryJournal } from './journal.ts';
import { Lanes } from './lanes.ts';
import type { CallDesk } from './model-call.ts';
import { planConversations } from './plan-conversations.ts';
import { Recordings } from './recorded-tools.ts';
import { runCase } from './run-case.ts';
import { RunStop } from './run-stop.ts';

/** A model by its id, with its settings, or as a provider of one's own making. */
export type EngineModel = string | ModelChoice | Provider;

export interface EngineModels {
  readonly agent: EngineModel;
  /** The agent's model when absent. */
  readonly client?: EngineModel;
  /** Scores finished conversations with the specification's evaluator. */
  readonly judge?: EngineModel;
  readonly agents?: Readonly<Record<string, EngineModel>>;
}

export interface EngineOptions {
  /** Where prompt specifications are looked up before the shipped ones: `./prompts` unless told. */
  readonly specsFolder?: string;
  readonly files?: FilePort;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly enrichment?: NonNullable<ConversationSetup['enrichment']>;
  readonly onEvent?: (event: LaneEvent) => void;
  /** Where tools that replay a run find its answers. */
  readonly store?: Store;
}

export interface CallLimits {
  readonly maxTurns?: number;
  readonly timeoutSec?: number;
  /** Cancels the conversation: its result then says `aborted`, with the history so far. */
  readonly signal?: AbortSignal;
}

export class ConversationEngine {
  readonly #specification: string;
  readonly #models: EngineModels;
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #host: ConversationHost;
  readonly #lanes: Lanes;
  readonly #given = new Map<string, Provider>();
  readonly #open = new Map<string, Provider>();
  readonly #desk: CallDesk;
  readonly #recordings: Recordings | undefined;
  #snapshot: Promise<SpecificationSnapshot> | undefined;
  #played = 0;

  /** `models`: one model for all parts, or one per part. */
  constructor(
    models: EngineModel | EngineModels,
    promptSpecName: string = defaultSpecification,
    options: EngineOptions = {},
  ) {
    this.#models = isModel(models) ? { agent: models } : models;
    this.#specification = promptSpecName;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#recordings = options.store === undefined ? undefined : new Recordings(options.store);
    this.#host = openConversationHost({
      clock: this.#clock,
      env: options.env ?? environment(),
      folder: workingFolder(),
    });
    this.#lanes = new Lanes({
      clock: this.#clock,
      ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
    });
    this.#desk = {
      provider: async (name) => this.#provider(name),
      lanes: this.#lanes,
      budget: new Budget(undefined, 0),
      stop: new RunStop(this.#clock, 0),
      clock: this.#clock,
      estimators: new Map(),
      onFlight: () => {},
    };
  }

  /** A basic conversation without tools. */
  runConversation(scenario: Scenario, limits: CallLimits = {}): Promise<ConversationResult> {
    return this.#run(scenario, limits, false);
  }

  /** A conversation with tools and handoffs. */
  runConversationWithTools(scenario: Scenario, limits: CallLimits = {}): Promise<ConversationResult> {
    return this.#run(scenario, limits, true);
  }

  /** The lanes as they are now. */
  lanes(): LaneSnapshot[] {
    return this.#lanes.snapshot();
  }

  /** Lets go of connections, processes and timers; conversations that are still played end as aborted. */
  async close(): Promise<void> {
    this.#desk.stop.stop('interrupted');
    this.#lanes.abort('the engine was closed');
    this.#lanes.shutdown();
    await Promise.allSettled([...this.#open.values()].map((provider) => provider.cleanup?.()));
    await this.#host.close();
  }

  async #run(
    scenario: Scenario,
    { maxTurns, timeoutSec, signal }: CallLimits,
    useTools: boolean,
  ): Promise<ConversationResult> {
    const snapshot = await this.#snapshotOnce();
    const { enrichment } = this.#options;
    const batch = {
      snapshot,
      scenarios: [scenario],
      useTools,
      models: this.#choices(),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...(timeoutSec === undefined ? {} : { timeoutSec }),
      ...(enrichment === undefined ? {} : { enrichment }),
    };
    checkSetup({ ...batch, scenario });
    if (useTools) await this.#checkRecordings(snapshot);
    const [planned] = planConversations({
      ...batch,
      scenarios: [{ ...scenario, variables: scenario.variables ?? {} }],
    });
    if (planned === undefined)
      throw new ParlaneError('bug/no-case', 'A scenario gave no case.', 'This is a bug in Parlane.');
    this.#played += 1;
    const one: ConversationCase = {
      ...planned,
      index: caseIndex(this.#played),
      key: caseKey(`${planned.key}#${this.#played}`),
    };
    return this.#play(one, snapshot, signal);
  }

  async #checkRecordings(snapshot: SpecificationSnapshot): Promise<void> {
    const where = `The prompt specification "${snapshot.specification.name}"`;
    await refuseMissingRecordings(replayedTools(snapshot), this.#recordings, where);
  }

  async #play(
    one: ConversationCase,
    snapshot: SpecificationSnapshot,
    signal: AbortSignal | undefined,
  ): Promise<ConversationResult> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    let result: ConversationResult | undefined;
    const runner = conversationRunner({
      specifications: new Map([[snapshot.hash, snapshot]]),
      ports: this.#host.ports,
      ...(this.#recordings === undefined ? {} : { recordings: this.#recordings }),
      grading: this.#host.grading,
    });
    const end = await runCase(one, {
      desk: this.#desk,
      runners: {
        prompt: () => Promise.reject(new ParlaneError('bug/prompt-case', 'The engine plays conversations only.', '')),
        conversation: async (played, context) => {
          const outcome = await runner(played, context);
          result = outcome.detail as unknown as ConversationResult;
          return outcome;
        },
      },
      journal: memoryJournal(one.index),
      run: 'engine',
      registers: {},
      conversation: [],
      serial: false,
      timeoutMs: undefined,
      controller,
      progress: () => {},
      onFirstSend: () => {},
    });
    signal?.removeEventListener('abort', abort);
    if (result !== undefined) return result;
    const message =
      end.kind === 'row'
        ? (end.row.error?.message ?? 'The conversation gave no result.')
        : 'The conversation was cancelled before it began.';
    throw new ParlaneError('conversation/no-result', message, '', { scenario: one.name });
  }

  #snapshotOnce(): Promise<SpecificationSnapshot> {
    const folder = this.#options.specsFolder ?? join(workingFolder(), 'prompts');
    this.#snapshot ??= new PromptSpecificationManager(this.#options.files ?? realFiles, folder).snapshot(
      this.#specification,
    );
    return this.#snapshot;
  }

  #choices(): ConversationSetup['models'] & { readonly judge?: ModelChoice } {
    const { agent, client, judge, agents } = this.#models;
    return {
      agent: this.#choice(agent),
      client: this.#choice(client ?? agent),
      ...(judge === undefined ? {} : { judge: this.#choice(judge) }),
      ...(agents === undefined
        ? {}
        : { agents: Object.fromEntries(Object.entries(agents).map(([key, model]) => [key, this.#choice(model)])) }),
    };
  }

  #choice(model: EngineModel): ModelChoice {
    if (typeof model === 'string') return { provider: model };
    if (!('call' in model)) return model;
    const name = model.label ?? model.id;
    this.#given.set(name, model);
    return { provider: name };
  }

  #provider(name: string): Provider {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const provider = this.#given.get(name) ?? this.#host.provider(name);
    this.#open.set(name, provider);
    this.#lanes.open(provider);
    return provider;
  }
}

const isModel = (models: EngineModel | EngineModels): models is EngineModel =>
  typeof models === 'string' || !('agent' in models);
