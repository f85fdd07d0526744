/** A suite after its `beforeAll` hooks: they may change prompts, tests, scenarios, defaults, filters and metrics. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Suite, SuitePrompt, SuiteScenario, SuiteTest, TestSource } from '../domain/suite.ts';
import type { EvalHooks } from './eval-hooks.ts';
import { suiteJson } from './suite-snapshot.ts';

const testList = (tests: readonly SuiteTest[]): TestSource => ({
  count: tests.length,
  async *read() {
    yield* tests;
  },
});

function promptOf(value: Json): SuitePrompt[] {
  if (typeof value === 'string') return [{ raw: value, label: value }];
  if (!isObject(value) || typeof value['raw'] !== 'string') return [];
  const { raw, label } = value;
  return [{ ...(value as unknown as SuitePrompt), raw, label: typeof label === 'string' ? label : raw }];
}

function changedBy(said: JsonObject, suite: Suite): Suite {
  const { prompts, tests, scenarios, defaultTest, nunjucksFilters, derivedMetrics } = said;
  return {
    ...suite,
    ...(Array.isArray(prompts) ? { prompts: prompts.flatMap(promptOf) } : {}),
    ...(Array.isArray(tests) ? { tests: testList(tests.filter(isObject) as unknown as SuiteTest[]) } : {}),
    ...(Array.isArray(scenarios) ? { scenarios: scenarios.filter(isObject) as unknown as SuiteScenario[] } : {}),
    ...(isObject(defaultTest) ? { defaultTest: defaultTest as unknown as SuiteTest } : {}),
    ...(isObject(nunjucksFilters) ? { nunjucksFilters: nunjucksFilters as unknown as Record<string, string> } : {}),
    ...(Array.isArray(derivedMetrics) ? { derivedMetrics: derivedMetrics.filter(isObject) } : {}),
  };
}

/** Runs the hooks. A suite without any is given back as it is, its tests unread. */
export async function extendSuite(suite: Suite, hooks: EvalHooks, signal: AbortSignal): Promise<Suite> {
  if (!hooks.wants('beforeAll')) return suite;
  const tests: SuiteTest[] = [];
  for await (const test of suite.tests.read()) tests.push(test);
  const shown: JsonObject = {
    ...suiteJson(suite),
    tests: tests as unknown as Json,
    ...(suite.scenarios === undefined ? {} : { scenarios: suite.scenarios as unknown as Json }),
  };
  return changedBy(await hooks.beforeAll(shown, signal), suite);
}
