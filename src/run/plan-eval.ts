/**
 * Suite -> plan of an eval. Tests are read as they are needed, so that a table of a hundred thousand rows makes its first
 * case at once and is never held as a whole; with filters the tests (not the cases) are held, because a filter needs all.
 */
import { hash } from 'node:crypto';
import type { ConfigFiles } from '../config/config-files.ts';
import { type PrepareOptions, prepareTest } from '../config/prepare-test.ts';
import type { PromptCase } from '../domain/case.ts';
import type { CodeRunner } from '../domain/code-runner.ts';
import type { Json } from '../domain/json.ts';
import type { Suite, SuiteScenario, SuiteTest } from '../domain/suite.ts';
import { looksAtRows } from '../grading/grade.ts';
import { type EvalColumn, evalColumns } from '../plan/columns.ts';
import { type ExpandOptions, testExpander } from '../plan/expand-tests.ts';
import { filterTests, isFiltered, parseRange, scenarioSeed, type TestFilters } from '../plan/filter-tests.ts';
import { inherit, scenarioTests, withDefaultVars } from '../plan/merge-test.ts';
import { readsVariable } from '../prompts/eval-template.ts';
import { type ReplayedTool, replayedToolsOf } from './check-recordings.ts';
import { AssertionSurvey, type PlannedAssertion } from './planned-assertions.ts';

export interface PlanEvalOptions {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly signal: AbortSignal;
  readonly filters?: TestFilters;
  readonly repeat?: number;
  readonly disableVarExpansion?: boolean;
  readonly disableConversationVar?: boolean;
}

export interface EvalPlan {
  readonly columns: readonly EvalColumn[];
  /** How many cases there are. */
  readonly planned: number;
  /** How cases depend on each other, known before the first one is made. */
  readonly traits: { readonly serial: boolean; readonly stateful: boolean };
  /** Tools of simulated conversations that answer from the recording of an earlier run. */
  readonly replayed: readonly ReplayedTool[];
  /** What will be checked: one assertion of each type and grader. */
  readonly assertions: readonly PlannedAssertion[];
  /** The cases: those of the serial phase first, everything else in the plan's order. Indexes are the plan's. */
  cases(): AsyncIterable<PromptCase>;
}

export const sha256 = (text: string): string => hash('sha256', text);

/** The suite's tests in order, filtered, scenarios after them. */
async function* testsOf(suite: Suite, filters: TestFilters): AsyncGenerator<SuiteTest> {
  const none = suite.tests.count === 0;
  if (none && suite.scenarios === undefined) {
    yield* filterTests([{}], filters);
    return;
  }
  if (!isFiltered(filters)) {
    yield* suite.tests.read();
    yield* scenarioTests(suite.scenarios ?? [], suite.defaultTest);
    return;
  }
  const all: SuiteTest[] = [];
  for await (const test of suite.tests.read()) all.push(test);
  if (suite.scenarios === undefined) {
    yield* filterTests(all, filters);
    return;
  }
  // With scenarios a range counts over both lists together, and everything else over each of them.
  const { range, ...others } = filters;
  const joined = [
    ...filterTests(all, others),
    ...scenarioTests(suite.scenarios.map(filteredBy(others)), suite.defaultTest),
  ];
  const { start, end } = range === undefined ? { start: 0, end: undefined } : parseRange(range);
  yield* joined.slice(start, end);
}

const filteredBy =
  ({ metadata: _, ...filters }: TestFilters) =>
  (scenario: SuiteScenario, at: number): SuiteScenario => {
    if (scenario.tests === undefined) return scenario;
    const seed = filters.sampleSeed === undefined ? {} : { sampleSeed: scenarioSeed(filters.sampleSeed, at) };
    return { ...scenario, tests: filterTests(scenario.tests, { ...filters, ...seed }) };
  };

/** Plans an eval: reads the tests once to count cases and to see which need order. */
export async function planEval(suite: Suite, options: PlanEvalOptions): Promise<EvalPlan> {
  const filters = options.filters ?? {};
  const defaultTransform = suite.defaultTest.options?.['transformVars'];
  const prepare: PrepareOptions = {
    files: options.files,
    code: options.code,
    folder: suite.folder,
    signal: options.signal,
    ...(typeof defaultTransform === 'string' ? { defaultTransformVars: defaultTransform } : {}),
    ...(options.disableVarExpansion === undefined ? {} : { disableVarExpansion: options.disableVarExpansion }),
  };
  // Code that changes vars runs once per test, so what it gave is held; without such code nothing is.
  const held = new Map<number, SuiteTest>();
  const tests = async function* (): AsyncGenerator<SuiteTest> {
    let position = 0;
    for await (const test of testsOf(suite, filters)) {
      const known = held.get(position);
      const ready = known ?? (await prepareTest(withDefaultVars(test, suite.defaultTest), prepare));
      const coded = test.options?.['transformVars'] ?? defaultTransform;
      if (known === undefined && typeof coded === 'string') held.set(position, ready);
      position += 1;
      yield ready;
    }
  };
  const settings: ExpandOptions = {
    hash: sha256,
    looksAtRows,
    readsConversation: (template) => readsVariable(template, '_conversation'),
    ...(options.repeat === undefined ? {} : { repeat: options.repeat }),
    ...(options.disableVarExpansion === undefined ? {} : { disableVarExpansion: options.disableVarExpansion }),
    ...(options.disableConversationVar === undefined ? {} : { disableConversationVar: options.disableConversationVar }),
  };
  const uniform = suite.tests.uniform === true && suite.scenarios === undefined && !isFiltered(filters);
  const facts = await surveyTests(suite, tests(), settings, uniform && defaultTransform === undefined);
  const expand = async function* (wanted: boolean | undefined): AsyncGenerator<PromptCase> {
    const expander = testExpander(suite, settings);
    for await (const test of tests()) {
      for (const planned of expander.expand(test)) {
        if (wanted === undefined || (planned.serial === true) === wanted) yield planned;
      }
    }
  };
  const columns = evalColumns(suite, sha256);
  const reads = columns.some(({ prompt }) => settings.readsConversation(prompt.raw));
  return {
    columns,
    planned: facts.planned,
    replayed: facts.replayed,
    assertions: facts.assertions,
    traits: { serial: facts.hasSerial, stateful: facts.keepsOutputs || reads },
    async *cases() {
      if (!facts.hasSerial) yield* expand(undefined);
      else {
        yield* expand(true);
        yield* expand(false);
      }
    },
  };
}

async function surveyTests(
  suite: Suite,
  tests: AsyncIterable<SuiteTest>,
  settings: ExpandOptions,
  uniform: boolean,
): Promise<Pick<EvalPlan, 'planned' | 'replayed' | 'assertions'> & { keepsOutputs: boolean; hasSerial: boolean }> {
  const expander = testExpander(suite, settings);
  const defaults = suite.defaultTest.options ?? {};
  let planned = 0;
  let keepsOutputs = Boolean(defaults['storeOutputAs']);
  let hasSerial = defaults['runSerially'] === true;
  const replayed = new Map<string, ReplayedTool>();
  const note = (provider: Json | undefined): void => {
    for (const one of replayedToolsOf(provider)) replayed.set(JSON.stringify(one), one);
  };
  note(suite.defaultTest.provider);
  const survey = new AssertionSurvey();
  for await (const test of tests) {
    const count = expander.count(test);
    planned += count;
    const { assert = [], options } = inherit(test, suite.defaultTest);
    if (count > 0) survey.note(assert, options?.['provider']);
    keepsOutputs ||= Boolean(test.options?.['storeOutputAs']);
    hasSerial ||= test.options?.['runSerially'] === true;
    note(test.provider);
    // The first row of such a table stands for all of them.
    if (uniform) {
      planned *= suite.tests.count;
      survey.note(suite.tests.samples ?? [], options?.['provider']);
      break;
    }
  }
  return { planned, keepsOutputs, hasSerial, replayed: [...replayed.values()], assertions: survey.list() };
}
