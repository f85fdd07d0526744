/**
 * Config files -> Suite, or problems. The straight line of loading: find the files, read each, lay them over each
 * other, read the prompts, providers, tests and scenarios they name. All problems are collected; nothing is sent.
 */
import { dirname } from 'node:path';
import type { CodeRunner } from '../domain/code-runner.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite, SuitePrompt, SuiteProvider, SuiteScenario, SuiteTest, TestSource } from '../domain/suite.ts';
import { withoutNulls } from './check-config.ts';
import { checkReferences } from './check-references.ts';
import type { ConfigFiles } from './config-files.ts';
import { findConfigs } from './config-paths.ts';
import { readDuration } from './duration.ts';
import { loadReference } from './external-files.ts';
import { ConfigError, type Loading } from './loading.ts';
import { joinedList, lastOf, mergeDefaultTests, mergedMap, withoutDoubles } from './merge-configs.ts';
import { applyOverrides, type SuiteOverrides, selectPrompts, selectProviders, writtenOverrides } from './overrides.ts';
import { configEnvironment, type ReadConfig, readConfig } from './read-config.ts';
import { promptEntries, readPrompt } from './read-prompts.ts';
import { readProviders } from './read-providers.ts';
import { joined, readTest, readTests } from './read-tests.ts';
import { setValues } from './set-values.ts';
import { promptInConfig, type WrittenPrompt } from './written-prompt.ts';
import type { WrittenTest } from './written-test.ts';

export interface LoadSuiteOptions {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
  /** How a path is shown in problems; as it is when absent. */
  readonly shown?: (path: string) => string;
  /** `-c`: paths, patterns, folders. */
  readonly configs?: readonly string[];
  readonly overrides?: SuiteOverrides;
  /** Warnings are errors. */
  readonly strict?: boolean;
}

export interface LoadedSuite {
  readonly suite: Suite;
  readonly warnings: readonly Problem[];
  /** The files it came from. */
  readonly configs: readonly string[];
  /** Every test that stands in a file, with its place. */
  readonly written: readonly WrittenTest[];
  /** The same for prompts. */
  readonly prompts: readonly WrittenPrompt[];
}

/** A suite as far as it could be read, with everything that is wrong with it. */
export interface ReadSuite extends Omit<LoadedSuite, 'warnings'> {
  readonly problems: readonly Problem[];
}

/** Loads a suite. Throws a `ConfigError` with every problem when it cannot be run. */
export async function loadSuite(options: LoadSuiteOptions): Promise<LoadedSuite> {
  const { problems, ...loaded } = await readSuite(options);
  const strict = options.strict === true;
  // A key that resembles no other is likely a note of the author's own: only strictness asks about it.
  const told = problems.filter((problem) => strict || !isOwnNote(problem));
  if (told.some((problem) => strict || problem.severity !== 'warning')) throw new ConfigError(told);
  return { ...loaded, warnings: told };
}

/** Reads a suite and collects its problems; with errors among them it is good for finding more of them, not for running. */
export async function readSuite(options: Omit<LoadSuiteOptions, 'strict'>): Promise<ReadSuite> {
  const written: WrittenTest[] = [];
  const prompts: WrittenPrompt[] = [];
  const problems: Problem[] = [];
  const loading: Loading = {
    files: options.files,
    code: options.code,
    env: options.env,
    cwd: options.cwd,
    signal: options.signal ?? new AbortController().signal,
    shown: options.shown ?? ((path) => path),
    note: (test) => void written.push(test),
    notePrompt: (prompt) => void prompts.push(prompt),
    report: (problem) => {
      // What was wrong with the text itself is not told a second time by those who stumble over it.
      if (!assembling || !problems.some((known) => samePlace(known, problem))) problems.push(problem);
    },
  };
  let assembling = false;
  const paths = await findConfigs(options.configs ?? [], loading);
  const read: ReadConfig[] = [];
  for (const path of paths) {
    const config = await readConfig(path, loading);
    if (config !== undefined) read.push(config);
  }
  const last = read.at(-1);
  const { set = [] } = options.overrides ?? {};
  if (last !== undefined && set.length > 0)
    read.splice(-1, 1, { ...last, config: setValues(last.config, set, loading) });
  assembling = true;
  const suite = await assemble(read, options.overrides ?? {}, loading);
  if (!problems.some(({ severity }) => severity !== 'warning')) checkComplete(suite, read, loading);
  return { suite, problems, configs: paths, written, prompts };
}

const samePlace = (a: Problem, b: Problem): boolean =>
  a.file === b.file && a.line === b.line && a.column === b.column && a.severity !== 'warning';

const isOwnNote = ({ severity, message, hint }: Problem): boolean =>
  severity === 'warning' && hint === undefined && message.startsWith('unknown key');

function checkComplete(suite: Suite, read: readonly ReadConfig[], loading: Loading): void {
  const [first] = read;
  const at = (message: string, hint: string): Problem =>
    first?.document.at([], message, hint) ?? { file: loading.shown(loading.cwd), line: 1, column: 1, message, hint };
  if (first === undefined && suite.prompts.length === 0 && suite.providers.length === 0) {
    loading.report(at('there is no config here', 'name one: -c <file>, or make one: parlane init'));
    return;
  }
  const evals = suite.conversations.length === 0 || suite.providers.length > 0 || suite.tests.count > 0;
  if (!evals) return;
  if (suite.providers.length === 0)
    loading.report(at('there is no provider', 'for example providers: [openai:chat:gpt-4.1]'));
  if (suite.prompts.length === 0) loading.report(at('there is no prompt', 'add prompts: to the config'));
  for (const problem of checkReferences(suite, first?.document)) loading.report(problem);
}

async function assemble(read: readonly ReadConfig[], given: SuiteOverrides, base: Loading): Promise<Suite> {
  const configs = read.map(({ config }) => config);
  const overrides = { ...writtenOverrides(mergedMap(configs, 'commandLineOptions')), ...given };
  const folder = read[0] === undefined ? base.cwd : dirname(read[0].path);
  const merged = { env: mergedMap(configs, 'env') };
  const loading = { ...base, env: configEnvironment(merged, base.env) };
  const providers = await suiteProviders(read, overrides, folder, loading);
  const prompts = await suitePrompts(read, overrides, loading);
  const descriptions = configs.map((config) => config['description']).filter((text) => typeof text === 'string');
  const budget = lastOf(configs, 'budget');
  const serialize = lastOf(configs, 'serialize');
  const maxWait = readDuration(lastOf(configs, 'maxWait'));
  const suite: Suite = {
    ...(descriptions.length === 0 ? {} : { description: descriptions.join(', ') }),
    tags: textMap(mergedMap(configs, 'tags')),
    folder,
    providers,
    prompts,
    tests: await suiteTests(read, overrides, loading),
    ...(await suiteScenarios(read, loading)),
    defaultTest: await suiteDefaultTest(read, folder, loading),
    env: textMap(merged.env),
    nunjucksFilters: textMap(mergedMap(configs, 'nunjucksFilters')),
    derivedMetrics: joinedList(configs, 'derivedMetrics').filter(isObject),
    extensions: joinedList(configs, 'extensions').map(String),
    outputPath: joinedList(configs, 'outputPath').map(String),
    evaluateOptions: mergedMap(configs, 'evaluateOptions'),
    commandLineOptions: mergedMap(configs, 'commandLineOptions'),
    metadata: mergedMap(configs, 'metadata'),
    ...(lastOf(configs, 'tracing') === undefined ? {} : { tracing: lastOf(configs, 'tracing') ?? null }),
    conversations: joinedList(configs, 'conversations').filter(isObject),
    lanes: mergedMap(configs, 'lanes'),
    ...(serialize === 'global' || serialize === 'conversation' ? { serialize } : {}),
    prices: mergedMap(configs, 'prices'),
    ...(typeof budget === 'number' ? { budgetUsd: budget } : {}),
    ...(maxWait === undefined ? {} : { maxWaitMs: maxWait }),
  };
  return applyOverrides(suite, overrides);
}

const textMap = (map: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));

async function suiteProviders(
  read: readonly ReadConfig[],
  overrides: SuiteOverrides,
  folder: string,
  loading: Loading,
): Promise<SuiteProvider[]> {
  const entries = withoutDoubles(
    read.flatMap((source) => listOf(source.config['providers']).map((entry, at) => ({ entry, at, source }))),
    ({ entry }) => JSON.stringify(entry),
  );
  const fault = (position: number) => (message: string, hint?: string) => {
    const found = entries[position];
    const key =
      found?.source.document.value !== undefined &&
      isObject(found.source.document.value) &&
      'targets' in found.source.document.value
        ? 'targets'
        : 'providers';
    if (found !== undefined) loading.report(found.source.document.at([key, found.at], message, hint));
  };
  const known = await readProviders(
    entries.map(({ entry }) => entry),
    folder,
    loading,
    fault,
  );
  return selectProviders(known, overrides, loading);
}

async function suitePrompts(
  read: readonly ReadConfig[],
  overrides: SuiteOverrides,
  loading: Loading,
): Promise<SuitePrompt[]> {
  if (overrides.prompts !== undefined) {
    const place = (message: string): Problem => ({ file: '--prompts', line: 1, column: 1, message });
    const shell = (message: string): void => loading.report(place(message));
    const entries = promptEntries(overrides.prompts);
    for (const { raw } of entries) loading.notePrompt(promptInConfig(raw, place));
    const found = await Promise.all(entries.map((entry) => readPrompt(entry, loading.cwd, loading, shell)));
    return selectPrompts(found.flat(), overrides, loading);
  }
  const entries = read.flatMap((source) =>
    promptEntries(source.config['prompts'] ?? ['{{prompt}}']).map((entry, at) => ({ entry, at, source })),
  );
  const prompts: SuitePrompt[] = [];
  for (const { entry, at, source } of withoutDoubles(entries, ({ entry, source }) =>
    promptIdentity(entry.raw, entry, source.path),
  )) {
    const fault = (message: string, hint?: string): void =>
      loading.report(source.document.at(['prompts', at], message, hint));
    loading.notePrompt(
      promptInConfig(entry.raw, (message, hint) => source.document.at(['prompts', at, 'raw'], message, hint)),
    );
    prompts.push(...(await readPrompt(entry, dirname(source.path), loading, fault)));
  }
  return selectPrompts(prompts, overrides, loading);
}

/** Equal texts are one prompt; equal files are when they are in one folder. Maps are never merged away. */
function promptIdentity(raw: string, entry: object, path: string): string {
  const plain = Object.keys(entry).length === 1;
  const folder = raw.startsWith('file://') ? dirname(path) : '';
  return plain ? `${folder}|${raw}` : `${path}|${JSON.stringify(entry)}`;
}

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

async function suiteTests(
  read: readonly ReadConfig[],
  overrides: SuiteOverrides,
  loading: Loading,
): Promise<TestSource> {
  const shell = overrides.tests ?? overrides.vars;
  if (shell !== undefined) {
    const fault = () => (message: string) => loading.report({ file: '--tests', line: 1, column: 1, message });
    return readTests(shell, { folder: loading.cwd, loading, fault });
  }
  const sources: TestSource[] = [];
  for (const source of read) {
    const fault = (at: number | undefined) => (message: string, hint?: string) =>
      loading.report(source.document.at(at === undefined ? ['tests'] : ['tests', at], message, hint));
    sources.push(await readTests(source.config['tests'], { folder: dirname(source.path), loading, fault }));
  }
  return joined(sources);
}

async function suiteDefaultTest(read: readonly ReadConfig[], folder: string, loading: Loading): Promise<SuiteTest> {
  const given = read.map(({ config }) => config['defaultTest']).filter((test) => test !== undefined) as (
    | JsonObject
    | string
  )[];
  const merged = mergeDefaultTests(given);
  const document = read.findLast(({ config }) => config['defaultTest'] !== undefined)?.document;
  const fault = (message: string, hint?: string): void => {
    if (document !== undefined) loading.report(document.at(['defaultTest'], message, hint));
  };
  const value = typeof merged === 'string' ? await loadReference(merged, folder, loading, fault) : merged;
  const test = isObject(value) ? await readTest(value, folder, loading, fault, true) : undefined;
  const metadata = mergedMap(
    read.map(({ config }) => config),
    'metadata',
  );
  return { ...(Object.keys(metadata).length > 0 ? { metadata } : {}), ...test };
}

async function suiteScenarios(
  read: readonly ReadConfig[],
  loading: Loading,
): Promise<{ scenarios?: readonly SuiteScenario[] }> {
  if (read.every(({ config }) => config['scenarios'] === undefined)) return {};
  const scenarios: SuiteScenario[] = [];
  for (const source of read) {
    for (const [at, entry] of listOf(source.config['scenarios']).entries()) {
      const fault = (message: string, hint?: string): void =>
        loading.report(source.document.at(['scenarios', at], message, hint));
      const loaded =
        typeof entry === 'string' ? await loadReference(entry, dirname(source.path), loading, fault) : entry;
      for (const scenario of listOf(loaded)) {
        if (isObject(scenario)) scenarios.push(await readScenario(scenario, dirname(source.path), loading, fault));
      }
    }
  }
  return { scenarios };
}

async function readScenario(
  scenario: JsonObject,
  folder: string,
  loading: Loading,
  fault: (message: string, hint?: string) => void,
): Promise<SuiteScenario> {
  const source = await readTests(scenario['tests'], { folder, loading, fault: () => fault });
  const tests: SuiteTest[] = [];
  for await (const test of source.read()) tests.push(test);
  const config = listOf(scenario['config'])
    .filter(isObject)
    .map((entry) => withoutNulls(entry) as SuiteTest);
  const description = scenario['description'];
  return {
    ...(typeof description === 'string' ? { description } : {}),
    config,
    ...(scenario['tests'] === undefined ? {} : { tests }),
  };
}
