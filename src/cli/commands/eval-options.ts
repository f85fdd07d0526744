/** The flags of `parlane eval`: those of promptfoo, read into what the library takes. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import type { SuiteOverrides } from '../../config/overrides.ts';
import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Assertion } from '../../domain/verdict.ts';
import type { TestFilters } from '../../plan/filter-tests.ts';
import type { EvalSettings } from '../../run/eval-settings.ts';
import { storeOption } from '../open-project-store.ts';
import { addDeclinedFlags } from './eval-declined.ts';

export interface EvalFlags {
  readonly config?: readonly string[];
  readonly assertions?: string;
  readonly prompts?: readonly string[];
  readonly providers?: readonly string[];
  readonly tests?: string;
  readonly vars?: string;
  readonly modelOutputs?: string;
  readonly promptPrefix?: string;
  readonly promptSuffix?: string;
  readonly var?: readonly string[];
  readonly tag?: readonly string[];
  readonly maxConcurrency?: string;
  readonly repeat?: string;
  readonly delay?: string;
  readonly cache?: boolean;
  readonly filterFirstN?: string;
  readonly filterPattern?: string;
  readonly filterRange?: string;
  readonly filterPrompts?: string;
  readonly filterProviders?: string;
  readonly filterTargets?: string;
  readonly filterSample?: string;
  readonly filterSampleSeed?: string;
  readonly filterMetadata?: readonly string[];
  readonly output?: readonly string[];
  readonly table?: boolean;
  readonly tableCellMaxLength?: string;
  readonly filterFailing?: string;
  readonly filterFailingOnly?: string;
  readonly filterErrorsOnly?: string;
  readonly resume?: string | true;
  readonly retryErrors?: string | true;
  readonly verbose?: boolean;
  readonly grader?: string;
  readonly extension?: readonly string[];
  readonly description?: string;
  readonly progressBar?: boolean;
  readonly write?: boolean;
  readonly strict?: boolean;
  readonly store?: string;
  readonly envFile?: string;
  readonly budget?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
}

/** Adds the flags to the command. */
export function addEvalFlags(command: Command): Command {
  return addDeclinedFlags(command)
    .option('-c, --config <paths...>', 'config files, patterns or folders (default: the one in this folder)')
    .option('-a, --assertions <path>', 'grade outputs that exist already by these assertions; needs --model-outputs')
    .option('--model-outputs <path>', 'a JSON list of outputs to grade')
    .option('-p, --prompts <paths...>', 'prompt files or texts instead of those of the config')
    .option('-r, --providers <names...>', 'providers to call; settings come from the config when it has them')
    .option('-t, --tests <path>', 'a file of tests instead of those of the config')
    .option('-v, --vars <path>', 'the same, as older scripts call it')
    .option('--prompt-prefix <text>', 'goes before every prompt')
    .option('--prompt-suffix <text>', 'goes after every prompt')
    .option('--var <k=v...>', 'a variable for all tests')
    .option('--tag <k=v...>', 'a tag of this run')
    .option('-j, --max-concurrency <n>', 'most calls at a time over all lanes')
    .option('--repeat <n>', 'how often each test runs')
    .option('--delay <ms>', 'least time between two calls of one lane')
    .option('--no-cache', 'neither use nor keep answers of earlier runs')
    .option('-n, --filter-first-n <n>', 'only the first n tests')
    .option('--filter-pattern <regex>', 'only tests whose description matches')
    .option('--filter-range <start:end>', 'only tests from start up to, without, end')
    .option('--filter-prompts <regex>', 'only prompts whose id or label matches')
    .option('--filter-providers <regex>', 'only providers whose id or label matches')
    .option('--filter-targets <regex>', 'the same')
    .option('--filter-sample <n>', 'n tests at random')
    .option('--filter-sample-seed <n>', 'makes the sample repeatable')
    .option('--filter-metadata <k=v...>', 'only tests with this metadata')
    .option('--filter-failing <file|run>', 'only tests that did not pass there')
    .option('--filter-failing-only <file|run>', 'only tests whose checks failed there, errors left out')
    .option('--filter-errors-only <file|run>', 'only tests that ended in an error there')
    .option('-o, --output <paths...>', 'write results: .json .jsonl .csv .html .xml .junit.xml .yaml .txt')
    .option('--no-table', 'do not print the table')
    .option('--table-cell-max-length <n>', 'most characters of a cell of the table (default: 60)')
    .option('--resume [run]', 'go on with a stopped eval, the newest unless named, by the flags it was started with')
    .option('--retry-errors [run]', 'run the error rows of an eval again, of the newest unless named')
    .option('--grader <id>', 'who grades when nobody is named')
    .option('-x, --extension <paths...>', 'hooks: file://x.js:afterEach')
    .option('--description <text>', 'what this run is about')
    .option('--no-progress-bar', 'no lines about progress')
    .option('--verbose', 'a line for every row')
    .option('--no-write', 'keep nothing of this run')
    .option('--strict', 'refuse unknown keys and assertions')
    .option('--env-file <path>', 'a file of KEY=value lines, under the environment')
    .option('--budget <usd>', 'stop, resumable, before more is spent')
    .option(...storeOption);
}

/** What was typed, without what flags are when nobody types them. */
export const typedFlags = (command: Command): EvalFlags =>
  Object.fromEntries(
    Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) !== 'default'),
  ) as EvalFlags;

const switches = ['table', 'write', 'progressBar', 'verbose'] as const;
const texts = ['tableCellMaxLength', 'filterFailing', 'filterFailingOnly', 'filterErrorsOnly'] as const;

/** What a config's `commandLineOptions` say to the command itself; the rest of them is the suite's business. */
export const fromConfig = (options: JsonObject): EvalFlags =>
  present({
    ...Object.fromEntries(switches.map((key) => [key, options[key]])),
    ...Object.fromEntries(texts.map((key) => [key, options[key] === undefined ? undefined : String(options[key])])),
  });

const bad = (option: string, text: string, what: string): ParlaneError =>
  new ParlaneError('cli/bad-option', `${option}: "${text}" is not ${what}.`, 'See parlane eval --help.', { option });

function count(option: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw bad(option, text, `a whole number of at least ${least}`);
  return Number(text);
}

function pairs(option: string, list: readonly string[] | undefined): Record<string, string> | undefined {
  if (list === undefined) return undefined;
  return Object.fromEntries(
    list.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw bad(option, text, 'key=value');
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

const present = <T extends object>(parts: T): T =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as T;

function graded(flags: EvalFlags, cwd: string): SuiteOverrides['graded'] {
  if (flags.assertions === undefined) return undefined;
  if (flags.modelOutputs === undefined) {
    throw new ParlaneError(
      'cli/missing-option',
      '--assertions needs --model-outputs.',
      'Name a JSON file with a list of outputs.',
    );
  }
  const read = (path: string): Json => parse(readFileSync(resolve(cwd, path), 'utf8')) as Json;
  const assertions = read(flags.assertions);
  const outputs = read(flags.modelOutputs);
  if (!Array.isArray(assertions) || !Array.isArray(outputs)) {
    throw new ParlaneError('cli/bad-file', 'Assertions and model outputs are lists.', '');
  }
  return { assertions: assertions as unknown as readonly Assertion[], outputs };
}

export const overridesOf = (flags: EvalFlags, cwd: string): SuiteOverrides =>
  present({
    description: flags.description,
    prompts: flags.prompts,
    providers: flags.providers,
    tests: flags.tests,
    vars: flags.vars,
    output: flags.output,
    extension: flags.extension,
    promptPrefix: flags.promptPrefix,
    promptSuffix: flags.promptSuffix,
    grader: flags.grader,
    var: pairs('--var', flags.var),
    tags: pairs('--tag', flags.tag),
    filterProviders: flags.filterProviders ?? flags.filterTargets,
    filterPrompts: flags.filterPrompts,
    graded: graded(flags, cwd),
  }) as SuiteOverrides;

/** The width of the table's cells. */
export const cellWidth = (flags: EvalFlags): number | undefined =>
  count('--table-cell-max-length', flags.tableCellMaxLength, 4);

export const settingsOf = (flags: EvalFlags, earlier: Pick<TestFilters, 'earlier'> = {}): EvalSettings =>
  present({
    maxConcurrency: count('--max-concurrency', flags.maxConcurrency),
    repeat: count('--repeat', flags.repeat),
    delayMs: count('--delay', flags.delay, 0),
    cache: flags.cache === false ? false : undefined,
    filters: present({
      ...earlier,
      metadata: flags.filterMetadata,
      pattern: flags.filterPattern,
      range: flags.filterRange,
      firstN: count('--filter-first-n', flags.filterFirstN),
      sample: count('--filter-sample', flags.filterSample),
      sampleSeed: count('--filter-sample-seed', flags.filterSampleSeed, 0),
      random: flags.filterSample === undefined ? undefined : Math.random,
    }) as TestFilters,
  }) as EvalSettings;
