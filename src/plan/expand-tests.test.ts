import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PromptCase } from '../domain/case.ts';
import { evalDetail } from '../domain/eval-case.ts';
import type { SuitePrompt, SuiteProvider, SuiteTest } from '../domain/suite.ts';
import { type ExpandOptions, testExpander } from './expand-tests.ts';
import { scenarioTests, withDefaultVars } from './merge-test.ts';
import { combinationCount, varCombinations } from './var-combinations.ts';

const provider = (id: string, more: Partial<SuiteProvider> = {}): SuiteProvider => ({
  name: more.label ?? id,
  id,
  ...more,
});
const prompt = (raw: string, label = raw): SuitePrompt => ({ raw, label });
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Given {
  readonly providers?: readonly SuiteProvider[];
  readonly prompts?: readonly SuitePrompt[];
  readonly defaultTest?: SuiteTest;
  readonly tests: readonly SuiteTest[];
  readonly options?: Partial<ExpandOptions>;
}

function plan({
  providers = [provider('a')],
  prompts = [prompt('p')],
  defaultTest = {},
  tests,
  options,
}: Given): PromptCase[] {
  const settings: ExpandOptions = { hash, readsConversation: (text) => text.includes('_conversation'), ...options };
  const expander = testExpander({ providers, prompts, defaultTest }, settings);
  return tests.flatMap((test) => [...expander.expand(withDefaultVars(test, defaultTest))]);
}
const places = (cases: readonly PromptCase[]): string[] =>
  cases.map((one) => `${evalDetail(one).testIdx}:${evalDetail(one).promptIdx}`);

describe('columns', () => {
  it('are, for each provider, each prompt it answers', () => {
    const cases = plan({
      providers: [provider('a'), provider('b', { prompts: ['q'] })],
      prompts: [prompt('p'), prompt('q')],
      tests: [{}],
    });
    expect(cases.map(({ column }) => [column.position, column.provider, column.prompt])).toEqual([
      [0, 'a', 'p'],
      [1, 'a', 'q'],
      [2, 'b', 'q'],
    ]);
  });

  it('let prompts through by label, id, Group:* and the Group before a colon', () => {
    const prompts = [prompt('1', 'G:x'), prompt('2', 'G:y'), { ...prompt('3', 'other'), id: 'id3' }];
    const allowed = (reference: string): string[] =>
      plan({ providers: [provider('a', { prompts: [reference] })], prompts, tests: [{}] }).map((one) => one.prompt);
    expect(allowed('G:x')).toEqual(['1']);
    expect(allowed('G:*')).toEqual(['1', '2']);
    expect(allowed('G')).toEqual(['1', '2']);
    expect(allowed('id3')).toEqual(['3']);
    expect(allowed('none')).toEqual([]);
  });

  it('of a test are narrowed by its providers and prompts, and keep their positions', () => {
    const given = {
      providers: [provider('v:a'), provider('w:b', { label: 'L' })],
      prompts: [prompt('p'), prompt('q')],
    };
    expect(
      places(
        plan({ ...given, tests: [{ providers: ['L'] }, { providers: ['v:*'], prompts: ['q'] }, { providers: [] }] }),
      ),
    ).toEqual(['0:2', '0:3', '1:1']);
  });

  it('have the hash of the prompt label as prompt id', () => {
    expect(evalDetail(plan({ prompts: [prompt('raw', 'label')], tests: [{}] })[0] as PromptCase).promptId).toBe(
      hash('label'),
    );
  });
});

describe('order', () => {
  it('is tests, then repeats, then combinations, and inside a row provider by provider', () => {
    const cases = plan({
      providers: [provider('a'), provider('b')],
      tests: [{ vars: { x: ['1', '2'] } }, { vars: { x: '3' } }],
      options: { repeat: 2 },
    });
    expect(
      cases.map((one) => `${evalDetail(one).testIdx}${one.column.provider}${one.repeat}${String(one.vars['x'])}`),
    ).toEqual(['0a01', '0b01', '1a02', '1b02', '2a11', '2b11', '3a12', '3b12', '4a03', '4b03', '5a13', '5b13']);
    expect(cases.map(({ index }) => index)).toEqual(cases.map((_, at) => at));
  });

  it('counts a test’s own repeat over the run’s', () => {
    expect(plan({ tests: [{ options: { repeat: 3 } }, {}], options: { repeat: 2 } })).toHaveLength(5);
  });
});

describe('combinations of values', () => {
  const all = (vars: Record<string, never[] | unknown>) => [...varCombinations(vars as never)];

  it('are made over lists whose first element is text, the last list changing fastest', () => {
    expect(all({ a: ['1', '2'], b: 'x', c: ['3', '4'] })).toEqual([
      { a: '1', b: 'x', c: '3' },
      { a: '1', b: 'x', c: '4' },
      { a: '2', b: 'x', c: '3' },
      { a: '2', b: 'x', c: '4' },
    ]);
  });

  it('leave every other list as one value', () => {
    expect(all({ a: [1, 2], b: [{ c: 1 }], d: [] })).toEqual([{ a: [1, 2], b: [{ c: 1 }], d: [] }]);
  });

  it('are counted without being made', () => {
    expect(combinationCount({ a: ['1', '2', '3'], b: ['x', 'y'], c: [1, 2] })).toBe(6);
  });

  it('are not made when a test or the run says so', () => {
    const vars = { a: ['1', '2'] };
    expect(plan({ tests: [{ vars, options: { disableVarExpansion: true } }] })[0]?.vars).toEqual(vars);
    expect(plan({ tests: [{ vars }], options: { disableVarExpansion: true } })).toHaveLength(1);
  });
});

describe('inheritance from the default test', () => {
  const defaultTest: SuiteTest = {
    vars: { a: 'd', b: 'd' },
    assert: [{ type: 'contains', value: 'd' }],
    options: { prefix: 'P', transform: 't' },
    metadata: { m: 1 },
    threshold: 0.5,
    provider: 'grader',
    prompts: ['p'],
  };

  it('puts vars under the test’s own and assertions before them', () => {
    const [one] = plan({ defaultTest, tests: [{ vars: { a: 't' }, assert: [{ type: 'equals', value: 't' }] }] });
    expect(one?.vars).toEqual({ a: 't', b: 'd' });
    expect(one?.checks.map(({ type }) => type)).toEqual(['contains', 'equals']);
  });

  it('leaves the default assertions out when disableDefaultAsserts is set', () => {
    const [one] = plan({ defaultTest, tests: [{ options: { disableDefaultAsserts: true } }] });
    expect(one?.checks).toEqual([]);
  });

  it('spreads options and metadata, and fills threshold, prompts and provider when absent', () => {
    const [one] = plan({ defaultTest, tests: [{ options: { transform: 'own' }, metadata: { n: 2 }, threshold: 0 }] });
    const { test } = evalDetail(one as PromptCase);
    expect(test.options).toEqual({ prefix: 'P', transform: 'own' });
    expect(test.metadata).toEqual({ m: 1, n: 2 });
    expect([one?.threshold, test.provider, test.prompts]).toEqual([0, 'grader', ['p']]);
  });

  it('wraps the prompt in prefix and suffix', () => {
    expect(plan({ defaultTest, tests: [{ options: { suffix: 'S' } }] })[0]?.prompt).toBe('PpS');
  });
});

describe('scenarios', () => {
  it('are every config entry with every test, each entry a conversation of its own', () => {
    const scenarios = [
      {
        config: [{ vars: { a: 1 } }, { vars: { a: 2 }, metadata: { conversationId: 'own' } }],
        tests: [{ vars: { b: 1 } }, { vars: { b: 2 } }],
      },
    ];
    const tests = [...scenarioTests(scenarios, { vars: { c: 0 } })];
    expect(tests.map(({ vars }) => vars)).toEqual([
      { c: 0, a: 1, b: 1 },
      { c: 0, a: 1, b: 2 },
      { c: 0, a: 2, b: 1 },
      { c: 0, a: 2, b: 2 },
    ]);
    expect(tests.map(({ metadata }) => metadata?.['conversationId'])).toEqual([
      '__scenario_0__',
      '__scenario_0__',
      'own',
      'own',
    ]);
  });

  it('join assertions of entry and test, the default test’s coming once', () => {
    const assert = (value: string) => [{ type: 'contains', value }];
    const defaultTest = { assert: assert('d') };
    const tests = [
      ...scenarioTests([{ config: [{ assert: assert('c') }], tests: [{ assert: assert('t') }] }], defaultTest),
    ];
    expect(plan({ defaultTest, tests })[0]?.checks.map(({ value }) => value)).toEqual(['d', 'c', 't']);
  });

  it('without tests use each entry as a test', () => {
    expect([...scenarioTests([{ config: [{ vars: { a: 1 } }] }], {})]).toHaveLength(1);
  });
});

describe('order between cases', () => {
  it('is asked for by runSerially and storeOutputAs', () => {
    const cases = plan({ tests: [{ options: { runSerially: true } }, { options: { storeOutputAs: 'r' } }] });
    expect(cases.map(({ serial, storeAs }) => [serial, storeAs])).toEqual([
      [true, undefined],
      [undefined, 'r'],
    ]);
  });

  it('joins cases of one column and conversation when the prompt reads _conversation', () => {
    const tests = [
      { metadata: { conversationId: 'x' } },
      { metadata: { conversationId: 'y' } },
      { metadata: { conversationId: 'x' } },
    ];
    const cases = plan({ providers: [provider('a'), provider('a')], prompts: [prompt('{{ _conversation }}')], tests });
    const keys = cases.map(({ conversationKey }) => conversationKey);
    expect(keys[0]).toBe(keys[4]);
    expect(new Set(keys).size).toBe(4);
    expect(evalDetail(cases[0] as PromptCase).usesConversation).toBe(true);
  });

  it('leaves _conversation empty where it is disabled, and others without it alone', () => {
    const prompts = [prompt('{{ _conversation }}')];
    const [one] = plan({ prompts, tests: [{ options: { disableConversationVar: true } }] });
    expect(evalDetail(one as PromptCase).usesConversation).toBe(false);
    expect(plan({ tests: [{}] })[0]?.conversationKey).toBeUndefined();
  });
});

describe('identity', () => {
  const key = (given: Given): string => plan(given)[0]?.key ?? '';
  const test: SuiteTest = { vars: { a: '1' }, assert: [{ type: 'contains', value: 'x' }] };

  it('does not depend on where a case stands', () => {
    expect(plan({ tests: [{ vars: { z: 1 } }, test] })[1]?.key).toBe(key({ tests: [test] }));
    expect(key({ providers: [provider('z'), provider('a')], tests: [{ ...test, providers: ['a'] }] })).toBe(
      key({ tests: [{ ...test, providers: ['a'] }] }),
    );
  });

  it('changes with provider config, prompt, vars, assertions and repeat', () => {
    const base = key({ tests: [test] });
    const others = [
      key({ tests: [test], providers: [provider('a', { config: { temperature: 1 } })] }),
      key({ tests: [test], prompts: [prompt('other')] }),
      key({ tests: [{ ...test, vars: { a: '2' } }] }),
      key({ tests: [{ ...test, assert: [] }] }),
      plan({ tests: [test], options: { repeat: 2 } })[1]?.key,
    ];
    expect(new Set([base, ...others]).size).toBe(6);
  });

  it('does not change with a secret or the order of keys', () => {
    const one = provider('a', { config: { apiKey: 'one', max_tokens: 5, headers: { Authorization: 'x' } } });
    const two = provider('a', { config: { headers: { Authorization: 'y' }, max_tokens: 5, apiKey: 'two' } });
    const three = provider('a', { config: { max_tokens: 6 } });
    expect(key({ tests: [test], providers: [one] })).toBe(key({ tests: [test], providers: [two] }));
    expect(key({ tests: [test], providers: [one] })).not.toBe(key({ tests: [test], providers: [three] }));
  });

  it('numbers equal cases', () => {
    const keys = plan({ tests: [test, test, test] }).map((one) => String(one.key));
    expect(keys).toEqual([keys[0], `${keys[0]}#2`, `${keys[0]}#3`]);
  });
});

it('counts the cases of a test without making them', () => {
  const expander = testExpander(
    { providers: [provider('a'), provider('b')], prompts: [prompt('p')], defaultTest: {} },
    { hash, readsConversation: () => false, repeat: 2 },
  );
  expect(expander.count({ vars: { a: ['1', '2', '3'] } })).toBe(12);
});
