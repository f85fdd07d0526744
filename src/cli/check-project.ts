/** Everything that is wrong with a project's files, in one pass, each at its place. Nothing is sent. */
import { type ReadSuite, readSuite } from '../config/load-suite.ts';
import type { SuiteOverrides } from '../config/overrides.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import { shownPath } from '../platform/config-files.ts';
import { promptFaults } from '../run/check-templates.ts';
import { unusedVariables } from '../run/check-variables.ts';
import { latencyWarnings, writtenProblems } from '../run/check-written.ts';
import { defaultGraders, evalProviders } from '../run/eval-providers.ts';
import { evalSettings } from '../run/eval-settings.ts';
import { variablePlaces } from '../run/place-variable.ts';
import { type EvalPlan, planEval } from '../run/plan-eval.ts';
import { gradersOf } from '../run/planned-assertions.ts';
import { batchProblems, type ProjectBatch, projectBatches } from '../run/project-conversations.ts';
import { type AssertionFault, conversationFaults, graderFaults } from '../run/refuse-assertions.ts';
import type { CliContext } from './cli-context.ts';
import { configPlaces } from './config-places.ts';
import type { Workshop } from './open-workshop.ts';
import { assertionProblems, promptProblems, providerProblems, wordsOf } from './place-provider-error.ts';

export interface CheckedProject {
  readonly problems: readonly Problem[];
  /** How many cases there are; none when they cannot be counted. */
  readonly planned: number;
  /** Nothing that keeps it from running, nor a key that nobody knows. */
  readonly sound: boolean;
}

const isError = ({ severity }: Problem): boolean => severity !== 'warning';

const placeOf = ({ file, line, column }: Problem): string => JSON.stringify([file, line, column]);

/** What follows from a mistake that was told already is not told once more. */
function beyond(known: readonly Problem[], found: readonly Problem[]): Problem[] {
  const told = new Set(known.map(placeOf));
  return found.filter((problem, at) => {
    const isSame = (other: Problem): boolean =>
      placeOf(other) === placeOf(problem) && other.message === problem.message;
    return !told.has(placeOf(problem)) && found.findIndex(isSame) === at;
  });
}

/** Both together; where one of the later is an error, an earlier warning about the same spot says too little. */
function joined(known: readonly Problem[], found: readonly Problem[]): Problem[] {
  const wrong = new Set(found.filter(isError).map(placeOf));
  const kept = known.filter((problem) => isError(problem) || !wrong.has(placeOf(problem)));
  return [...kept, ...beyond(kept, found)];
}

export async function checkProject(
  configs: readonly string[],
  workshop: Workshop,
  context: CliContext,
  overrides: SuiteOverrides = {},
): Promise<CheckedProject> {
  const { files, code, env } = workshop;
  const { cwd } = context;
  const shown = (path: string): string => shownPath(path, cwd);
  return checkRead(await readSuite({ files, code, env, cwd, configs, shown, overrides }), workshop, context);
}

/** The same for a suite that was read. */
export async function checkRead(read: ReadSuite, workshop: Workshop, context: CliContext): Promise<CheckedProject> {
  const { files, code, clock, http, env } = workshop;
  const shown = (path: string): string => shownPath(path, context.cwd);
  const inShown = (problem: Problem): Problem => ({ ...problem, file: shown(problem.file) });
  const { suite, written } = read;
  const places = await configPlaces(read.configs, context);
  const surroundings = { clock, env: { ...env, ...suite.env }, basePath: suite.folder, http, code };
  const found = [
    ...(await providerProblems(suite, places, surroundings)),
    ...promptProblems(promptFaults(suite, env), places, read.prompts),
    ...(await writtenProblems(written, { files, folder: suite.folder })),
    ...(await afterProblems(read.problems, () =>
      batchProblems(suite, (at, key, message, hint) => places.entry('conversations', at, key, message, hint)),
    )),
  ].map(inShown);
  const own = joined(read.problems, found);
  const plan = await planned(suite, workshop).catch((error: unknown): Problem => {
    if (!(error instanceof ParlaneError) && !own.some(isError)) throw error;
    const { message, hint } = error instanceof ParlaneError ? wordsOf(error) : { message: '' };
    return places.key('tests', message, hint);
  });
  if ('message' in plan) return { problems: own.length > 0 ? own : [plan], planned: 0, sound: false };
  const inScenarios = plan.batches.flatMap((batch) => batch.written);
  const checks = (await writtenProblems(inScenarios, { files, folder: suite.folder })).map(inShown);
  const told = [...own, ...beyond(own, checks)];
  const ungraded = assertionProblems(ungradedAssertions(plan, suite, workshop), places, [...written, ...inScenarios]);
  // An unknown type was told at its own word already.
  const isNews = ({ file, message }: Problem): boolean =>
    !told.some((one) => one.file === file && one.message === message);
  const wrong = [...told, ...beyond(told, ungraded.map(inShown).filter(isNews))];
  if (wrong.length > 0) return { problems: wrong, planned: 0, sound: false };
  const cached = evalSettings(suite, {}, env).cache !== false;
  const problems = [
    ...(plan.evals === undefined ? [] : await unusedVariables(suite, await variablePlaces(read.configs, files, shown))),
    ...(plan.evals === undefined || !cached ? [] : latencyWarnings(written)),
  ];
  return { problems, planned: plan.count, sound: !problems.some(isError) };
}

/** Graders that nobody named and nobody could ask. Keys of those that are named are for whoever runs it. */
function ungradedAssertions({ evals, batches }: Planned, suite: Suite, workshop: Workshop): AssertionFault[] {
  const provider = evalProviders({ ...workshop, suite });
  const defaults = defaultGraders({ ...workshop.env, ...suite.env });
  const conversations = batches.flatMap(({ checks = [], scenarios, models }) =>
    scenarios.map((one) => ({ checks: [...checks, ...(one.checks ?? [])], judge: models.judge?.provider })),
  );
  return [
    ...graderFaults(gradersOf(evals?.assertions ?? []), defaults, provider),
    ...conversationFaults(conversations, provider),
  ].filter(({ missingKey }) => missingKey !== true);
}

/** Of files that are wrong already, what cannot even be looked at says nothing. */
async function afterProblems(known: readonly Problem[], look: () => Promise<Problem[]>): Promise<Problem[]> {
  try {
    return await look();
  } catch (error) {
    if (known.some(isError)) return [];
    throw error;
  }
}

interface Planned {
  readonly count: number;
  readonly batches: readonly ProjectBatch[];
  readonly evals?: EvalPlan;
}

async function planned(suite: Suite, { files, code }: Workshop): Promise<Planned> {
  const batches = await projectBatches(suite, undefined);
  const conversations = batches.reduce((sum, { scenarios, repeat = 1 }) => sum + scenarios.length * repeat, 0);
  // Without a provider there is nothing but conversations.
  if (suite.providers.length === 0) return { count: conversations, batches };
  const { signal } = new AbortController();
  const evals = await planEval(suite, { files, code, signal });
  return { count: evals.planned + conversations, batches, evals };
}
