import type { UserCode } from './code-runner.ts';
import type { Json, JsonObject } from './json.ts';
import type { Assertion } from './verdict.ts';

/** A provider as the suite names it. */
export interface SuiteProvider {
  /** Label or id, with `#2` and so on among equals: what a case's column and the run call it. */
  readonly name: string;
  readonly id: string;
  readonly label?: string;
  readonly config?: JsonObject;
  /** Labels or ids of the prompts it answers; absent: all. */
  readonly prompts?: readonly string[];
  readonly transform?: string;
  readonly delay?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly inputs?: Json;
}

/** Code that makes a prompt when a case starts. A program gets its context as JSON argument and prints the prompt. */
export type PromptCode = UserCode | { readonly kind: 'program'; readonly command: string };

export interface SuitePrompt {
  readonly id?: string;
  /** The template, or the source text of the code that makes it. */
  readonly raw: string;
  readonly label: string;
  /** Merged into the provider's config for this prompt. */
  readonly config?: JsonObject;
  readonly code?: PromptCode;
}

/** One test as its author wrote it. Options beyond the known ones belong to the provider. */
export interface SuiteTest {
  readonly description?: string;
  readonly vars?: JsonObject;
  readonly provider?: Json;
  readonly providers?: readonly string[];
  readonly prompts?: readonly string[];
  readonly providerOutput?: Json;
  readonly assert?: readonly Assertion[];
  readonly assertScoringFunction?: string;
  readonly options?: JsonObject;
  readonly threshold?: number;
  readonly metadata?: JsonObject;
}

export interface SuiteScenario {
  readonly description?: string;
  readonly config: readonly SuiteTest[];
  readonly tests?: readonly SuiteTest[];
}

/** The tests of a suite, read from the start each time: a table of a hundred thousand rows is never held as a whole. */
export interface TestSource {
  /** How many there are. */
  readonly count: number;
  /** Every test has the same vars with one text each and nothing that changes how often or in which order it runs. */
  readonly uniform?: boolean;
  /** One assertion of each type that its rows have, where they were looked at. */
  readonly samples?: readonly Assertion[];
  read(): AsyncIterable<SuiteTest>;
}

/** What one or several config files describe together, with every file loaded that is not a test table. */
export interface Suite {
  readonly description?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The folder that relative paths in tests and assertions start from. */
  readonly folder: string;
  readonly providers: readonly SuiteProvider[];
  readonly prompts: readonly SuitePrompt[];
  readonly tests: TestSource;
  readonly scenarios?: readonly SuiteScenario[];
  readonly defaultTest: SuiteTest;
  readonly env: Readonly<Record<string, string>>;
  readonly nunjucksFilters: Readonly<Record<string, string>>;
  readonly derivedMetrics: readonly JsonObject[];
  readonly extensions: readonly string[];
  readonly outputPath: readonly string[];
  readonly evaluateOptions: JsonObject;
  readonly commandLineOptions: JsonObject;
  readonly metadata?: JsonObject;
  readonly tracing?: Json;
  /** Parlane's own keys. */
  readonly conversations: readonly JsonObject[];
  readonly lanes: JsonObject;
  readonly serialize?: 'global' | 'conversation';
  readonly prices: JsonObject;
  readonly budgetUsd?: number;
  readonly maxWaitMs?: number;
}
