/**
 * Tests -> cases, one test at a time: defaults, repeats, combinations of values, columns.
 *
 * 1. Rows are numbered in the order of tests, repeats and combinations; a row's cases follow the columns.
 * 2. An index belongs to its case for good: resume, filters on results and retries never renumber.
 * 3. Nothing of an earlier test is kept but the keys that were given out.
 */
import type { PromptCase } from '../domain/case.ts';
import { detailJson } from '../domain/eval-case.ts';
import { caseIndex, caseKey } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Suite, SuiteTest } from '../domain/suite.ts';
import { isAllowed, matchesPrompt, matchesProvider } from '../domain/suite-names.ts';
import { canonical, keyCounter, providerIdentity } from './case-key.ts';
import { type EvalColumn, evalColumns, type Hash } from './columns.ts';
import { inherit } from './merge-test.ts';
import { combinationCount, varCombinations } from './var-combinations.ts';

export interface ExpandOptions {
  readonly hash: Hash;
  /** Whether a prompt reads `_conversation`. */
  readonly readsConversation: (template: string) => boolean;
  /** Repeats of tests that say nothing themselves. */
  readonly repeat?: number;
  /** Lists in vars are one value each. */
  readonly disableVarExpansion?: boolean;
  readonly disableConversationVar?: boolean;
  /** Whether an assertion of this type compares the answers of all columns. */
  readonly looksAtRows?: (type: string) => boolean;
}

export interface TestExpander {
  readonly columns: readonly EvalColumn[];
  /** How many cases a test makes, without making them. */
  count(test: SuiteTest): number;
  /** The test's cases, in order; call it once per test, in order. */
  expand(test: SuiteTest): Generator<PromptCase>;
}

const wholeRepeat = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 1 ? Math.floor(value) : otherwise;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Makes the expander of one plan. Tests come with the default vars already under their own. */
export function testExpander(
  suite: Pick<Suite, 'providers' | 'prompts' | 'defaultTest'>,
  options: ExpandOptions,
): TestExpander {
  const columns = evalColumns(suite, options.hash);
  const identities = columns.map(({ provider, prompt }) =>
    options.hash(JSON.stringify([providerIdentity(provider), prompt.raw, canonical(prompt.config)])),
  );
  const numbered = keyCounter();
  const reads = columns.map(({ prompt }) => prompt.code === undefined && options.readsConversation(prompt.raw));
  let nextIndex = 0;
  let nextRow = 0;

  const columnsOf = (test: SuiteTest): EvalColumn[] =>
    columns.filter(
      ({ provider, prompt }) =>
        isAllowed(provider, test.providers, matchesProvider) && isAllowed(prompt, test.prompts, matchesPrompt),
    );
  const repeatsOf = (test: SuiteTest): number => wholeRepeat(test.options?.['repeat'], wholeRepeat(options.repeat, 1));
  const expands = (test: SuiteTest): boolean =>
    options.disableVarExpansion !== true && test.options?.['disableVarExpansion'] !== true;

  const comparedWith = (test: SuiteTest, columnCount: number): Pick<PromptCase, 'comparedWith'> => {
    const { looksAtRows = () => false } = options;
    if (!(test.assert ?? []).some(({ type }) => looksAtRows(type))) return {};
    const first = nextIndex;
    return { comparedWith: Array.from({ length: columnCount }, (_, at) => caseIndex(first + at)) };
  };

  const makeCase = (column: EvalColumn, test: SuiteTest, content: string, row: number, repeat: number): PromptCase => {
    const { options: settings = {}, vars = {}, assert = [] } = test;
    const position = column.column.position;
    const prompt = `${text(settings['prefix'])}${column.prompt.raw}${text(settings['suffix'])}`;
    const reading = reads[position] === true || (prompt !== column.prompt.raw && options.readsConversation(prompt));
    const conversation = reading ? conversationKey(column, test) : undefined;
    const off = options.disableConversationVar === true || settings['disableConversationVar'] === true;
    const storeAs = settings['storeOutputAs'];
    const { raw, label, id, config, code } = column.prompt;
    const { provider } = column;
    const index = nextIndex;
    nextIndex += 1;
    return {
      kind: 'prompt',
      index: caseIndex(index),
      key: caseKey(numbered(options.hash(`${identities[position]}|${content}|${repeat}`).slice(0, 32))),
      name: test.description ?? `Row #${row + 1}`,
      column: column.column,
      repeat,
      ...(settings['runSerially'] === true ? { serial: true } : {}),
      checks: assert,
      ...(typeof test.threshold === 'number' ? { threshold: test.threshold } : {}),
      prompt,
      vars,
      ...(conversation === undefined ? {} : { conversationKey: conversation }),
      ...(typeof storeAs === 'string' && storeAs !== '' ? { storeAs } : {}),
      detail: detailJson({
        testIdx: row,
        promptIdx: position,
        promptId: column.promptId,
        provider: {
          id: provider.id,
          ...(provider.label === undefined ? {} : { label: provider.label }),
          ...(provider.transform === undefined ? {} : { transform: provider.transform }),
        },
        prompt: {
          label,
          template: raw,
          ...(id === undefined ? {} : { id }),
          ...(config === undefined ? {} : { config }),
          ...(code === undefined ? {} : { code }),
        },
        test,
        repeats: repeatsOf(test),
        usesConversation: reading && !off,
      }),
    };
  };

  return {
    columns,
    count(test) {
      const whole = inherit(test, suite.defaultTest);
      return repeatsOf(whole) * (expands(whole) ? combinationCount(whole.vars ?? {}) : 1) * columnsOf(whole).length;
    },
    *expand(test) {
      const whole = inherit(test, suite.defaultTest);
      const { vars = {}, ...rest } = whole;
      const outside = options.hash(JSON.stringify(canonical(rest as unknown as JsonObject)));
      const allowed = columnsOf(whole);
      for (let repeat = 0; repeat < repeatsOf(whole); repeat += 1) {
        for (const values of expands(whole) ? varCombinations(vars) : [vars]) {
          const content = `${outside}|${JSON.stringify(values)}`;
          const row = nextRow;
          nextRow += 1;
          const others = comparedWith(whole, allowed.length);
          for (const column of allowed) {
            yield { ...makeCase(column, { ...whole, vars: values }, content, row, repeat), ...others };
          }
        }
      }
    },
  };
}

/** Cases with this key see each other's exchanges: same column, same conversation. */
function conversationKey(column: EvalColumn, test: SuiteTest): string {
  const { provider, prompt } = column;
  const identity = provider.label ?? provider.id;
  return JSON.stringify([
    identity,
    prompt.id ?? null,
    column.column.position,
    test.metadata?.['conversationId'] ?? null,
  ]);
}
