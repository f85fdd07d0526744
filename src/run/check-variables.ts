/** Variables that prompts read and no test sets, and that tests set and no prompt reads. */
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import { templateVars } from '../prompts/eval-template.ts';
import { didYouMean } from '../prompts/nearest-name.ts';
import type { VariablePlaces } from './place-variable.ts';

const given = new Set(['env', '_conversation', '__evalId', '__evalStepId', '__repeatIndex', 'loop']);
const root = (name: string): string => /^[A-Za-z_]\w*/.exec(name)?.[0] ?? '';

/** Looks at all tests once. Prompts made by code are not looked into, and then nothing is called unused. */
export async function unusedVariables(suite: Suite, places: VariablePlaces): Promise<Problem[]> {
  const set = new Set(Object.keys(suite.defaultTest.vars ?? {}));
  // Assertions and provider settings read vars, too.
  const texts: string[] = [JSON.stringify([suite.defaultTest, suite.providers])];
  for await (const test of suite.tests.read()) {
    for (const [name, value] of Object.entries(test.vars ?? {})) {
      set.add(name);
      if (typeof value === 'string' && value.includes('{{')) texts.push(value);
    }
    texts.push(JSON.stringify([test.assert ?? [], test.options ?? {}, test.provider ?? '']));
    const kept = test.options?.['storeOutputAs'];
    if (typeof kept === 'string') set.add(kept);
  }
  for (const scenario of suite.scenarios ?? []) {
    for (const test of [...scenario.config, ...(scenario.tests ?? [])]) {
      for (const name of Object.keys(test.vars ?? {})) set.add(name);
      texts.push(JSON.stringify(test.assert ?? []));
    }
  }
  // A simulated user reads these without being told to.
  if (texts.some((text) => text.includes('promptfoo:simulated-user')))
    texts.push('instructions initialMessages sessionId');
  const coded = suite.prompts.some(({ code }) => code !== undefined);
  const prompts = suite.prompts.filter(({ code }) => code === undefined).map(({ raw }) => raw);
  const read = new Set(prompts.flatMap(templateVars).map(root));
  return [...read]
    .filter((name) => name !== '' && !given.has(name) && !set.has(name))
    .map((name) => places.read(name, `a prompt reads "${name}", which no test sets`, didYouMean(name, set)))
    .concat(
      [...set]
        .filter((name) => !coded && !prompts.concat(texts).some((text) => text.includes(name)))
        .map((name) => places.set(name, `tests set "${name}", which no prompt reads`)),
    );
}
