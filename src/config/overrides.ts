/** What a command line or a program says over the config. */
import type { Json, JsonObject } from '../domain/json.ts';
import type { Suite, SuitePrompt, SuiteProvider, SuiteTest } from '../domain/suite.ts';
import type { Assertion } from '../domain/verdict.ts';
import type { Loading } from './loading.ts';
import { named } from './read-providers.ts';

export interface SuiteOverrides {
  readonly description?: string;
  readonly prompts?: readonly string[];
  readonly providers?: readonly string[];
  readonly tests?: string;
  readonly vars?: string;
  readonly output?: readonly string[];
  readonly extension?: readonly string[];
  readonly promptPrefix?: string;
  readonly promptSuffix?: string;
  readonly grader?: string;
  /** `--var k=v`: over the default test's vars. */
  readonly var?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly filterProviders?: string;
  readonly filterPrompts?: string;
  /** `--set path=value`: over the last config file. */
  readonly set?: readonly string[];
  /** Standalone mode: these outputs are graded by these assertions. */
  readonly graded?: { readonly outputs: readonly Json[]; readonly assertions: readonly Assertion[] };
}

const textKeys = ['description', 'tests', 'vars', 'promptPrefix', 'promptSuffix', 'grader', 'filterPrompts'] as const;
const listKeys = ['prompts', 'providers', 'output', 'extension'] as const;
const mapKeys = ['var', 'tags'] as const;

/** What a config says by `commandLineOptions`; whoever types a flag has the last word. */
export function writtenOverrides(options: JsonObject): SuiteOverrides {
  const providers = options['filterProviders'] ?? options['filterTargets'];
  const found: [string, Json | undefined][] = [
    ...[...textKeys, ...mapKeys].map((key): [string, Json | undefined] => [key, options[key]]),
    ...listKeys.map((key): [string, Json | undefined] => [
      key,
      options[key] === undefined ? undefined : [options[key]].flat(),
    ]),
    ['filterProviders', providers],
  ];
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as SuiteOverrides;
}

/** Providers named on the command line take the config's settings when it has them. */
export function selectProviders(
  known: readonly SuiteProvider[],
  overrides: SuiteOverrides,
  loading: Loading,
): SuiteProvider[] {
  const chosen = overrides.providers?.map(
    (name): Omit<SuiteProvider, 'name'> =>
      known.find((provider) => provider.id === name) ??
      known.find((provider) => provider.label === name) ??
      known.find((provider) => provider.id.endsWith(`:${name}`)) ?? { id: name },
  );
  const all = chosen === undefined ? [...known] : named(chosen.map(({ ...provider }) => provider));
  const pattern = filterPattern('--filter-providers', overrides.filterProviders, loading);
  if (pattern === undefined) return all;
  const kept = all.filter(({ id, label }) => pattern.test(id) || (label !== undefined && pattern.test(label)));
  if (kept.length === 0) refuse('--filter-providers', `no provider matches "${overrides.filterProviders}"`, loading);
  return kept;
}

export function selectPrompts(
  prompts: readonly SuitePrompt[],
  overrides: SuiteOverrides,
  loading: Loading,
): SuitePrompt[] {
  const pattern = filterPattern('--filter-prompts', overrides.filterPrompts, loading);
  if (pattern === undefined) return [...prompts];
  const kept = prompts.filter(({ id, label }) => (id !== undefined && pattern.test(id)) || pattern.test(label));
  if (kept.length === 0) refuse('--filter-prompts', `no prompt matches "${overrides.filterPrompts}"`, loading);
  return kept;
}

const refuse = (file: string, message: string, loading: Loading): void =>
  loading.report({ file, line: 1, column: 1, message });

function filterPattern(option: string, text: string | undefined, loading: Loading): RegExp | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return new RegExp(text);
  } catch (error) {
    refuse(option, `not a regular expression: ${error instanceof Error ? error.message : String(error)}`, loading);
    return undefined;
  }
}

function overDefaultTest(test: SuiteTest, overrides: SuiteOverrides): SuiteTest {
  const given: Record<string, Json> = {
    ...(overrides.promptPrefix === undefined ? {} : { prefix: overrides.promptPrefix }),
    ...(overrides.promptSuffix === undefined ? {} : { suffix: overrides.promptSuffix }),
    ...(overrides.grader === undefined ? {} : { provider: overrides.grader }),
  };
  const options: JsonObject = { ...given, ...test.options };
  const vars = overrides.var === undefined ? test.vars : { ...test.vars, ...overrides.var };
  return {
    ...test,
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(vars === undefined ? {} : { vars }),
  };
}

/** The suite with the overrides laid over it. */
export function applyOverrides(suite: Suite, overrides: SuiteOverrides): Suite {
  const base: Suite = {
    ...suite,
    ...(overrides.description === undefined ? {} : { description: overrides.description }),
    tags: { ...suite.tags, ...overrides.tags },
    extensions: [...(overrides.extension ?? []), ...suite.extensions],
    outputPath: overrides.output ?? suite.outputPath,
    defaultTest: overDefaultTest(suite.defaultTest, overrides),
  };
  return overrides.graded === undefined ? base : standalone(base, overrides.graded);
}

/** Outputs that already exist become tests of their own, echoed and graded. */
function standalone(suite: Suite, { outputs, assertions }: NonNullable<SuiteOverrides['graded']>): Suite {
  const tests = outputs.map((output): SuiteTest => {
    if (typeof output === 'string') return { vars: { output }, assert: assertions };
    const { output: text, tags } = output as { output: Json; tags?: readonly string[] };
    return { vars: { output: text, ...(tags === undefined ? {} : { tags: tags.join(', ') }) }, assert: assertions };
  });
  const read = async function* (): AsyncGenerator<SuiteTest> {
    yield* tests;
  };
  return {
    ...suite,
    prompts: [{ raw: '{{output}}', label: '{{output}}' }],
    providers: named([{ id: 'echo' }]),
    tests: { count: tests.length, read },
  };
}
