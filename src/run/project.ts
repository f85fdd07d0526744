/**
 * A project: the evals and conversations of one suite, planned together and played through the same lanes.
 *
 * Job: put plan, providers, lanes and runners together, for whoever runs, resumes, forecasts or looks. Not its job:
 * running (`run-plan.ts`), reading files (`config/`), telling people.
 */
import type { ConfigFiles } from '../config/config-files.ts';
import type { Case, ConversationCase, PromptCase } from '../domain/case.ts';
import { detailJson, evalDetail } from '../domain/eval-case.ts';
import type { Millis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { Suite } from '../domain/suite.ts';
import type { DefaultGraders } from '../grading/graders/grader-provider.ts';
import { evalColumns } from '../plan/columns.ts';
import type { Clock } from '../platform/clock.ts';
import type { ClosableCodeRunner } from '../platform/code-runner.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import type { HttpClient } from '../providers/http-client.ts';
import type { RunStore, Store } from '../store/store.ts';
import type { CaseRunners } from './case-runner.ts';
import { refuseMissingRecordings, replayedJson } from './check-recordings.ts';
import { promptFaults, refusePrompts } from './check-templates.ts';
import { rowComparer } from './compare-eval.ts';
import { conversationRunner, detailOf } from './conversation-case.ts';
import { openConversationHost } from './conversation-host.ts';
import { createHooks } from './eval-hooks.ts';
import { defaultGraders, evalProviders, lanesLimits } from './eval-providers.ts';
import { deriving, tellAfterAll } from './eval-results.ts';
import { evalRunner } from './eval-runner.ts';
import { type EvalSettings, evalSettings } from './eval-settings.ts';
import { evalParts } from './evaluate.ts';
import { extendSuite } from './extend-suite.ts';
import { Lanes } from './lanes.ts';
import { inOrderOfWork, planConversations, specificationsJson } from './plan-conversations.ts';
import { type EvalPlan, planEval, sha256 } from './plan-eval.ts';
import { AssertionSurvey, gradersOf } from './planned-assertions.ts';
import { type ProjectBatch, projectBatches } from './project-conversations.ts';
import { Recordings } from './recorded-tools.ts';
import { conversationFaults, graderFaults, refuseAssertions, unknownTypes } from './refuse-assertions.ts';
import type { RunSettings } from './run-settings.ts';
import { suiteJson } from './suite-snapshot.ts';

export interface ProjectOptions extends EvalSettings {
  readonly suite: Suite;
  readonly clock: Clock;
  readonly files: ConfigFiles;
  readonly code: ClosableCodeRunner;
  readonly http: HttpClient;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Where lengths of earlier runs are known; without one, conversations are expected to take their longest. */
  readonly store?: Store;
  readonly specsFolder?: string;
  readonly budgetUsd?: number;
  readonly maxDurationMs?: number;
  /** For models that take one; each repeat counts on from it. A scenario's own SEED wins. */
  readonly seed?: number;
  /** Keeps the cases whose name, number or tag it likes. */
  readonly keep?: (one: Case) => boolean;
}

export interface ProjectHost {
  provider(name: string): Provider;
  lanes(onEvent?: (event: LaneEvent) => void): Lanes;
  readonly runners: CaseRunners;
  /** Tells the `afterAll` hooks of its evals; gives back what went wrong with them. */
  finished(run: RunStore, durationMs: Millis): Promise<string | undefined>;
  /** Lets go of the network and of user code that conversations opened. */
  close(): Promise<void>;
}

export interface Project extends ProjectHost {
  readonly name: string;
  readonly suite: Suite;
  readonly evals: EvalPlan | undefined;
  readonly batches: readonly ProjectBatch[];
  readonly planned: number;
  /** How many of the planned cases are conversations. */
  readonly conversations: number;
  readonly traits: EvalPlan['traits'];
  readonly snapshot: Json;
  readonly settings: Partial<RunSettings>;
  readonly globalCap: number | undefined;
  /** Who grades its evals when nobody is named. */
  readonly graders: DefaultGraders;
  /** In the order in which they should be admitted; indexes are the plan's. */
  cases(): AsyncIterable<Case>;
}

const nothingToOrder = { serial: false, stateful: false };

const hasEvals = (suite: Suite): boolean => suite.providers.length > 0 && suite.prompts.length > 0;

export async function openProject(given: ProjectOptions): Promise<Project> {
  const hooks = createHooks(given.suite.extensions, given.code, given.suite.folder);
  const suite = await extendSuite(given.suite, hooks, given.signal);
  const options = { ...given, suite };
  const settings = evalSettings(suite, options, options.env);
  if (hasEvals(suite)) refusePrompts(promptFaults(suite, options.env));
  const evals = hasEvals(suite) ? await planEval(suite, { ...options, ...settings }) : undefined;
  const recordings = options.store === undefined ? undefined : new Recordings(options.store);
  await refuseMissingRecordings(evals?.replayed ?? [], recordings, 'The simulated conversations of this eval');
  const batches = await projectBatches(suite, options.store, options.specsFolder);
  const conversations = planBatches(batches, evals?.planned ?? 0, evals?.columns.length ?? 0, options.repeat);
  const host = projectHost(options, new Map(batches.map(({ snapshot }) => [snapshot.hash, snapshot])));
  nameProviders(evals, batches, host.provider);
  const kept = options.keep ?? (() => true);
  const chosen = conversations.filter(kept);
  const asked = options.keep === undefined ? evals : await surveyKept(evals, kept);
  const graders = defaultGraders({ ...options.env, ...suite.env });
  refuseAssertions([
    ...unknownTypes(asked?.assertions ?? []),
    ...graderFaults(gradersOf(asked?.assertions ?? []), graders, host.provider),
    ...conversationFaults(
      chosen.map((one) => ({ checks: one.checks, judge: detailOf(one).models.judge?.provider })),
      host.provider,
    ),
  ]);
  return {
    name: suite.description ?? (evals === undefined ? 'conversations' : 'eval'),
    suite,
    evals,
    batches,
    planned: (asked?.planned ?? 0) + chosen.length,
    graders,
    conversations: chosen.length,
    traits: evals?.traits ?? nothingToOrder,
    snapshot: {
      kind: 'project',
      suite: suiteJson(suite),
      specifications: specificationsJson(batches.map(({ snapshot }) => snapshot)),
      ...replayedJson(evals?.replayed ?? []),
    },
    settings: runSettings(suite, settings, options),
    globalCap: settings.maxConcurrency,
    async *cases() {
      for (const one of inOrderOfWork(chosen)) yield seeded(one, options.seed);
      for await (const one of keptCases(evals?.cases() ?? [], kept)) yield seeded(one, options.seed);
    },
    ...host,
  };
}

/** The case with its seed; who it is does not change by that, so that runs with different seeds can be compared. */
function seeded(one: Case, seed: number | undefined): Case {
  if (seed === undefined) return one;
  const own = seed + one.repeat;
  if (one.kind === 'prompt') return { ...one, detail: detailJson({ ...evalDetail(one), seed: own }) };
  const detail = detailOf(one);
  const variables = { SEED: own, ...detail.scenario.variables };
  return { ...one, detail: { ...detail, scenario: { ...detail.scenario, variables } } as unknown as Json };
}

/** Every provider that will be asked is made before anything is sent: a missing key is told at once. */
function nameProviders(
  evals: EvalPlan | undefined,
  batches: readonly ProjectBatch[],
  provider: (name: string) => Provider,
): void {
  for (const { column } of evals?.columns ?? []) provider(column.provider);
  for (const { models } of batches) {
    for (const choice of [models.agent, models.client, models.judge, ...Object.values(models.agents ?? {})]) {
      if (choice !== undefined) provider(choice.provider);
    }
  }
}

/** The cases that are kept; those of a test are compared with what is left of it. */
async function* keptCases(
  cases: AsyncIterable<PromptCase> | readonly PromptCase[],
  kept: (one: Case) => boolean,
): AsyncGenerator<PromptCase> {
  let together: PromptCase[] = [];
  const close = (): PromptCase[] => {
    const left = together.filter(kept);
    const comparedWith = left.map(({ index }) => index);
    together = [];
    return left.map((one) => (one.comparedWith === undefined ? one : { ...one, comparedWith }));
  };
  for await (const one of cases) {
    const [first] = together;
    if (first !== undefined && !(one.comparedWith?.includes(first.index) ?? false)) yield* close();
    together.push(one);
  }
  yield* close();
}

/** What is left of a plan: how many cases, and what they check. */
async function surveyKept(
  evals: EvalPlan | undefined,
  kept: (one: Case) => boolean,
): Promise<Pick<EvalPlan, 'planned' | 'assertions'>> {
  let planned = 0;
  const survey = new AssertionSurvey();
  for await (const one of evals?.cases() ?? []) {
    if (!kept(one)) continue;
    planned += 1;
    survey.noteCase(one);
  }
  return { planned, assertions: survey.list() };
}

function planBatches(
  batches: readonly ProjectBatch[],
  firstIndex: number,
  firstColumn: number,
  repeat: number | undefined,
): ConversationCase[] {
  const cases: ConversationCase[] = [];
  batches.forEach(({ name: _, written: _places, ...batch }, at) => {
    const position = { firstIndex: firstIndex + cases.length, column: firstColumn + at };
    cases.push(...planConversations({ ...batch, ...(repeat === undefined ? {} : { repeat }) }, position));
  });
  return cases;
}

function runSettings(suite: Suite, settings: EvalSettings, options: ProjectOptions): Partial<RunSettings> {
  const budgetUsd = options.budgetUsd ?? suite.budgetUsd;
  const maxDurationMs = options.maxDurationMs ?? settings.maxEvalTimeMs;
  return {
    serialize: suite.serialize ?? 'global',
    ...(settings.timeoutMs === undefined ? {} : { timeoutMs: settings.timeoutMs }),
    ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
    ...(budgetUsd === undefined ? {} : { budgetUsdMicros: Math.round(budgetUsd * 1_000_000) }),
    ...(suite.maxWaitMs === undefined ? {} : { maxWaitMs: suite.maxWaitMs }),
  };
}

function newLanes(suite: Suite, clock: Clock, settings: EvalSettings, onEvent?: (event: LaneEvent) => void): Lanes {
  return new Lanes({
    clock,
    limits: lanesLimits(suite),
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(settings.maxConcurrency === undefined ? {} : { globalCap: settings.maxConcurrency }),
    ...(suite.maxWaitMs === undefined ? {} : { maxWaitMs: suite.maxWaitMs }),
  });
}

/** What plays the cases of a suite: its providers, lanes and runners. Of a stored run too, from its snapshot alone. */
export function projectHost(
  options: Omit<ProjectOptions, 'specsFolder' | 'keep'>,
  specifications: ReadonlyMap<string, SpecificationSnapshot>,
): ProjectHost {
  const { suite, clock, env, signal } = options;
  const settings = evalSettings(suite, options, env);
  const provider = evalProviders({
    ...options,
    ...(settings.delayMs === undefined ? {} : { delayMs: settings.delayMs }),
  });
  const parts = evalParts(suite, options, signal);
  const host = specifications.size === 0 ? undefined : openConversationHost({ clock, env, folder: suite.folder });
  const recordings = options.store === undefined ? {} : { recordings: new Recordings(options.store) };
  return {
    provider,
    lanes: (onEvent) => newLanes(suite, clock, settings, onEvent),
    runners: {
      prompt: evalRunner(parts),
      compare: rowComparer(parts),
      conversation:
        host === undefined
          ? () => Promise.reject(new Error('this project holds no conversations'))
          : conversationRunner({ specifications, ports: host.ports, grading: host.grading, ...recordings }),
    },
    async finished(run, durationMs) {
      if (!hasEvals(suite)) return undefined;
      const hooks = createHooks(suite.extensions, options.code, suite.folder);
      const problems: string[] = [];
      const derive = deriving(suite, options.code, signal, (problem) => problems.push(problem));
      const columns = evalColumns(suite, sha256);
      const problem = await tellAfterAll(run, { suite, hooks, columns, derive, durationMs, signal });
      const all = [...problems, ...(problem === undefined ? [] : [problem])];
      return all.length === 0 ? undefined : all.join('\n');
    },
    close: async () => host?.close(),
  };
}
