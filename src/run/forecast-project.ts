/** A project's forecast: its real cases and prompts, its lanes with their limits, and what earlier runs teach. */
import type { Case, ConversationCase, PromptCase } from '../domain/case.ts';
import type { Forecast } from '../domain/forecast.ts';
import type { LaneKey } from '../domain/ids.ts';
import type { Provider } from '../domain/provider.ts';
import { type ForecastInput, forecastRun } from '../forecast/forecast-run.ts';
import type { GuessedCall, PlannedCase, PlannedLane } from '../forecast/planned-work.ts';
import { whatIf } from '../forecast/what-if.ts';
import type { DefaultGraders } from '../grading/graders/grader-provider.ts';
import { type NeededGrader, neededGraders } from '../grading/graders/needed-graders.ts';
import type { RunRecord, Store } from '../store/store.ts';
import { detailOf } from './conversation-case.ts';
import { lanesLimits } from './eval-providers.ts';
import { learnPast } from './forecast-past.ts';
import { laneSpec } from './lane-spec.ts';
import { gradersOfCase } from './planned-assertions.ts';
import type { Project } from './project.ts';

export interface ForecastOptions {
  readonly store?: Store;
  /** `lane.rpm=1000`, one by one. */
  readonly whatIf?: readonly string[];
  /** Learn from this run alone: a pilot. */
  readonly pilot?: { readonly run: RunRecord; readonly cases: number };
  readonly pricesFrom?: string;
}

/** Where nobody knows better: an answer of a few sentences. */
const guessedOutput = 180;
const charactersPerToken = 4;
/** Where nobody knows better: half of all conversations are over by then. */
const guessedTurns = 7;
/** An agent with tools is asked again after a tool in two turns of three: 1.65 calls a turn in 200 public conversations. */
const toolTurns = 3;

export async function forecastProject(project: Project, options: ForecastOptions = {}): Promise<Forecast> {
  const cases: PlannedCase[] = [];
  const lanes = new Map<LaneKey, PlannedLane>();
  const meet = async (name: string): Promise<LaneKey> => {
    const provider = project.provider(name);
    if (!lanes.has(provider.laneKey)) lanes.set(provider.laneKey, await plannedLane(provider, project, options.store));
    return provider.laneKey;
  };
  const wanted = { prompts: new Set<string>(), providers: new Set<string>() };
  for await (const one of project.cases()) {
    wanted.prompts.add(one.column.prompt);
    wanted.providers.add(one.column.provider);
    cases.push(await plannedCase(one, meet, project));
  }
  const past = options.store === undefined ? undefined : await learnPast(options.store, wanted, options.pilot?.run);
  let planned: readonly PlannedLane[] = [...lanes.values()];
  for (const text of options.whatIf ?? []) planned = whatIf(planned, text);
  const input: ForecastInput = {
    cases,
    lanes: planned,
    ...(past === undefined ? {} : { past }),
    ...(project.globalCap === undefined ? {} : { globalCap: project.globalCap }),
    ...(options.pilot === undefined ? {} : { pastName: `a pilot of ${options.pilot.cases}` }),
    ...(options.pricesFrom === undefined ? {} : { pricesFrom: options.pricesFrom }),
  };
  return forecastRun(input);
}

async function plannedLane(provider: Provider, project: Project, store: Store | undefined): Promise<PlannedLane> {
  return {
    spec: laneSpec(provider, lanesLimits(project.suite)(provider), await store?.limits(provider.laneKey)),
    price: (usage) => provider.price(usage),
    ...(provider.expectedLatency === undefined ? {} : { latency: provider.expectedLatency }),
  };
}

async function plannedCase(
  one: Case,
  meet: (name: string) => Promise<LaneKey>,
  { graders, batches }: Project,
): Promise<PlannedCase> {
  const lane = await meet(one.column.provider);
  const guess =
    one.kind === 'prompt' ? await promptCalls(one, lane, meet, graders) : await turnCalls(one, meet, batches);
  return { lane, family: one.column.prompt, name: one.name, guess, expectedCalls: one.expectedCalls ?? 1 };
}

async function promptCalls(
  one: PromptCase,
  lane: LaneKey,
  meet: (name: string) => Promise<LaneKey>,
  graders: DefaultGraders,
): Promise<GuessedCall[]> {
  const text = one.prompt.length + JSON.stringify(one.vars).length;
  const answer = { lane, inputTokens: Math.ceil(text / charactersPerToken), outputTokens: guessedOutput };
  return [answer, ...(await gradingCalls(gradersOfCase(one), graders, 400 + guessedOutput, meet))];
}

async function gradingCalls(
  needed: readonly NeededGrader[],
  graders: DefaultGraders,
  inputTokens: number,
  meet: (name: string) => Promise<LaneKey>,
): Promise<GuessedCall[]> {
  const calls: GuessedCall[] = [];
  for (const { kind, name = graders[kind] } of needed) {
    if (name === undefined) continue;
    const lane = await meet(name);
    const short = { lane, inputTokens: guessedOutput, outputTokens: 0, closing: true } as const;
    if (kind === 'text') calls.push({ lane, inputTokens, outputTokens: 80, closing: true });
    // What is wanted and what was said are two texts.
    else calls.push(short, ...(kind === 'embedding' ? [short] : []));
  }
  return calls;
}

/** Turns go to and fro between agent and client; each call carries what was said before. */
async function turnCalls(
  one: ConversationCase,
  meet: (name: string) => Promise<LaneKey>,
  batches: Project['batches'],
): Promise<GuessedCall[]> {
  const { models, scenario, useTools, specification } = detailOf(one);
  const agent = await meet(models.agent.provider);
  const client = models.client === undefined ? [] : [await meet(models.client.provider)];
  // The most turns it may take say little about how many it takes.
  const most = (one.expectedCalls ?? 2 * guessedTurns) / 2;
  const turns = Math.max(1, scenario.expected_turns === undefined ? Math.min(most, guessedTurns) : most);
  const speakers = Array.from({ length: turns }, (_, turn) => [
    agent,
    ...(useTools && turn % toolTurns !== 0 ? [agent] : []),
    ...client,
  ]).flat();
  const calls = speakers.map((lane, at): GuessedCall => ({ lane, inputTokens: 600 + 60 * at, outputTokens: 60 }));
  const transcript = 600 + 60 * calls.length;
  // Without an evaluator's prompt there is nothing to ask the judge; checks may still ask its model.
  const { agents } = batches.find(({ snapshot }) => snapshot.hash === specification)?.snapshot.specification ?? {};
  if (models.judge !== undefined && agents?.['evaluator'] !== undefined)
    calls.push({
      lane: await meet(models.judge.provider),
      inputTokens: transcript,
      outputTokens: 80,
      closing: true,
    });
  const graders = models.judge === undefined ? {} : { text: models.judge.provider };
  return [...calls, ...(await gradingCalls(neededGraders(one.checks, undefined), graders, transcript, meet))];
}
