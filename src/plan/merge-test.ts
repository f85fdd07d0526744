import type { JsonObject } from '../domain/json.ts';
import type { SuiteScenario, SuiteTest } from '../domain/suite.ts';

const laid = (...maps: readonly (JsonObject | undefined)[]): JsonObject => Object.assign({}, ...maps) as JsonObject;

/** The tests of a suite's scenarios: every config entry with every test, each entry a conversation of its own. */
export function* scenarioTests(scenarios: readonly SuiteScenario[], defaults: SuiteTest): Generator<SuiteTest> {
  let number = 0;
  for (const scenario of scenarios) {
    for (const data of scenario.config) {
      for (const test of scenario.tests ?? [{}]) yield scenarioTest(defaults, data, test, number);
      number += 1;
    }
  }
}

function scenarioTest(defaults: SuiteTest, data: SuiteTest, test: SuiteTest, number: number): SuiteTest {
  const metadata = laid(defaults.metadata, data.metadata, test.metadata);
  return {
    ...defaults,
    ...data,
    ...test,
    vars: laid(defaults.vars, data.vars, test.vars),
    options: laid(defaults.options, data.options, test.options),
    // The default test's own assertions are added when the test inherits, like everybody's.
    assert: [...(data.assert ?? []), ...(test.assert ?? [])],
    metadata: { ...metadata, conversationId: metadata['conversationId'] ?? `__scenario_${number}__` },
  };
}

/** Vars under the test's own, before anything is expanded. */
export const withDefaultVars = (test: SuiteTest, defaults: SuiteTest): SuiteTest => ({
  ...test,
  vars: laid(defaults.vars, test.vars),
});

/** What a test takes from the default test; its vars are already its own. */
export function inherit(test: SuiteTest, defaults: SuiteTest): SuiteTest {
  const bare = test.options?.['disableDefaultAsserts'] === true;
  const filled: Partial<Record<keyof SuiteTest, unknown>> = {
    threshold: test.threshold ?? defaults.threshold,
    prompts: test.prompts ?? defaults.prompts,
    provider: test.provider ?? defaults.provider,
    providers: test.providers ?? defaults.providers,
    assertScoringFunction: test.assertScoringFunction ?? defaults.assertScoringFunction,
  };
  const said = Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== undefined));
  return {
    ...test,
    ...said,
    assert: bare ? (test.assert ?? []) : [...(defaults.assert ?? []), ...(test.assert ?? [])],
    options: laid(defaults.options, test.options),
    metadata: laid(defaults.metadata, test.metadata),
  };
}
