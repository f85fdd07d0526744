/** The `conversations:` of a config -> batches: scenarios, specification, models and limits, or every problem there is. */
import { isAbsolute, join } from 'node:path';
import type { WrittenTest } from '../config/written-test.ts';
import { checkSetup, type ModelChoice } from '../conversation/setup.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import type { Assertion } from '../domain/verdict.ts';
import { realFiles } from '../platform/files.ts';
import { loadScenarios } from '../prompts/load-scenarios.ts';
import type { SpecificationSnapshot } from '../prompts/load-specification.ts';
import { PromptSpecificationManager, problemsError } from '../prompts/specification-manager.ts';
import type { Store } from '../store/store.ts';
import { recordingFaults, replayedTools } from './check-recordings.ts';
import type { ConversationBatch } from './plan-conversations.ts';
import { Recordings } from './recorded-tools.ts';

export interface ProjectBatch extends ConversationBatch {
  readonly name: string;
  /** Where the checks of its scenarios stand, when those are in a file of their own. */
  readonly written: readonly WrittenTest[];
}

/** Reads every batch of a suite. Nothing is sent; what cannot be played is told here. */
export async function projectBatches(
  suite: Suite,
  store: Store | undefined,
  specsFolder?: string,
): Promise<ProjectBatch[]> {
  const manager = new PromptSpecificationManager(realFiles, specsFolder ?? join(suite.folder, 'prompts'));
  const batches: ProjectBatch[] = [];
  for (const [at, entry] of suite.conversations.entries())
    batches.push(await batchOf(entry, at, suite, manager, store));
  return batches;
}

/** Tells a problem with a key of the batch at this position. */
export type BatchPlace = (at: number, key: string, message: string, hint?: string) => Problem;

/** Everything wrong with the batches of a suite, where `projectBatches` stops at the first thing. */
export async function batchProblems(suite: Suite, place: BatchPlace, specsFolder?: string): Promise<Problem[]> {
  const manager = new PromptSpecificationManager(realFiles, specsFolder ?? join(suite.folder, 'prompts'));
  const problems: Problem[] = [];
  for (const [at, entry] of suite.conversations.entries()) {
    const attempt = async <T>(key: string, work: () => T | Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        problems.push(...problemsOf(error, (message, hint) => place(at, key, message, hint)));
        return undefined;
      }
    };
    const snapshot = await attempt('spec', () => manager.snapshot(entry['spec'] as string | undefined));
    const models = await attempt('models', () => modelsOf(entry, at, suite));
    const { scenarios = [] } = entry;
    const readable =
      typeof scenarios !== 'string' || (await attempt('scenarios', () => readScenarios(scenarios, suite.folder)));
    if (snapshot === undefined || models === undefined || readable === undefined) continue;
    await attempt('scenarios', () => batchOf(entry, at, suite, manager, undefined));
  }
  return problems;
}

/** The problems that an error lists, or the error itself as one; scenarios inside the config have the config's place. */
function problemsOf(error: unknown, place: (message: string, hint?: string) => Problem): Problem[] {
  if (!(error instanceof ParlaneError)) throw error;
  const listed = error.fields['problems'];
  if (Array.isArray(listed))
    return (listed as Problem[]).map((one) => (one.file === inConfig ? place(one.message, one.hint) : one));
  return [place(error.what.replace(/\.$/, ''), error.cure.replace(/\.$/, ''))];
}

/** Stands for the file of scenarios that the config itself holds. */
const inConfig = 'conversations';

async function batchOf(
  entry: JsonObject,
  at: number,
  suite: Suite,
  manager: PromptSpecificationManager,
  store: Store | undefined,
): Promise<ProjectBatch> {
  const spec = entry['spec'] as string | undefined;
  const snapshot = await manager.snapshot(spec);
  const useTools = entry['use_tools'] !== false;
  if (useTools && store !== undefined) await checkRecordings(manager, spec, snapshot, store);
  const models = modelsOf(entry, at, suite);
  const enrichment = entry['enrichment'] as ConversationBatch['enrichment'];
  const { scenarios, written } = await scenariosOf(
    entry['scenarios'] ?? [],
    suite.folder,
    snapshot,
    enrichment !== undefined,
    models.judge !== undefined,
  );
  const lengths = (await store?.lengths(snapshot.specification.name)) ?? [];
  const batch: ProjectBatch = {
    name: (entry['name'] as string | undefined) ?? snapshot.specification.name,
    snapshot,
    scenarios,
    written,
    useTools,
    models,
    batch: said({
      maxTurns: entry['max_turns'],
      timeoutSec: entry['timeout_sec'],
      firstSpeaker: entry['first_speaker'],
    }),
    ...(enrichment === undefined ? {} : { enrichment }),
    ...(entry['repeat'] === undefined ? {} : { repeat: entry['repeat'] as number }),
    checks: (entry['checks'] ?? []) as unknown as readonly Assertion[],
    expectedCalls: new Map(lengths.map(({ name, calls }) => [name, calls])),
  };
  for (const scenario of scenarios) checkSetup({ ...batch, scenario });
  return batch;
}

/** Refuses tools that replay what nobody recorded, each at its line of the specification. */
export async function checkRecordings(
  manager: PromptSpecificationManager,
  name: string | undefined,
  snapshot: SpecificationSnapshot,
  store: Store,
): Promise<void> {
  const faults = await recordingFaults(replayedTools(snapshot), new Recordings(store));
  if (faults.length === 0) return;
  const document = await manager.document(name);
  const problems = faults.map(({ tool, message, hint }) =>
    document.at(['tools', tool, 'backend', 'replay'], message, hint),
  );
  throw problemsError(`The prompt specification "${snapshot.specification.name}" cannot be used.`, problems);
}

const said = <T extends object>(parts: T): object =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));

async function scenariosOf(
  given: Json,
  folder: string,
  snapshot: SpecificationSnapshot,
  enriched: boolean,
  scored: boolean,
): Promise<Pick<ProjectBatch, 'scenarios' | 'written'>> {
  const setting = { specification: snapshot.specification, enriched, scored };
  const [file, text] =
    typeof given === 'string' ? await readScenarios(given, folder) : [inConfig, JSON.stringify(given)];
  const { scenarios, problems, written } = loadScenarios(file, text, setting);
  if (problems.length > 0) throw problemsError('The scenarios cannot be played.', problems);
  return { scenarios, written: file === inConfig ? [] : written };
}

async function readScenarios(reference: string, folder: string): Promise<[string, string]> {
  const named = reference.replace(/^file:\/\//, '');
  const path = isAbsolute(named) ? named : join(folder, named);
  const text = await realFiles.read(path).catch((): undefined => undefined);
  if (text !== undefined) return [path, text];
  throw new ParlaneError(
    'run/no-scenarios',
    `There is no scenario file ${named}.`,
    'Check the path after scenarios:; it starts at the config.',
    { path },
  );
}

const parts = ['agent', 'client', 'judge'] as const;

/** `{agent: openai:gpt-4.1, client: {id: ..., temperature: 0}}`; agents of the specification may be named too. */
function modelsOf(entry: JsonObject, at: number, suite: Suite): ConversationBatch['models'] & { judge?: ModelChoice } {
  const given = (entry['models'] ?? {}) as JsonObject;
  const fallback = suite.providers[0]?.name;
  const agent = given['agent'] === undefined ? fallback && { provider: fallback } : choiceOf(given['agent']);
  if (!agent) {
    throw new ParlaneError(
      'run/no-agent-model',
      `conversations[${at}] names no model for the agent.`,
      'Add models: {agent: openai:gpt-4.1, client: openai:gpt-4.1-mini}.',
    );
  }
  const client = given['client'] === undefined ? agent : choiceOf(given['client']);
  const agents = Object.entries(given).filter(([name]) => !parts.includes(name as (typeof parts)[number]));
  return {
    agent,
    client,
    ...(given['judge'] === undefined ? {} : { judge: choiceOf(given['judge']) }),
    ...(agents.length === 0
      ? {}
      : { agents: Object.fromEntries(agents.map(([name, model]) => [name, choiceOf(model)])) }),
  };
}

/** A definition with settings of its own travels as its JSON text; the run resolves it. */
function choiceOf(model: Json): ModelChoice {
  if (typeof model === 'string') return { provider: model };
  const { id, provider, temperature, params, config } = model as JsonObject;
  const name = String(id ?? provider ?? '');
  return {
    provider: config === undefined ? name : JSON.stringify({ id: name, config }),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(params === undefined ? {} : { params: params as JsonObject }),
  };
}
