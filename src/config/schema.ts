/**
 * The shape of a config, once: problems with their places and the JSON Schema for editors both come from here.
 * The pieces are strict, so that a key nobody knows is found; which pieces a value is made of is decided by its form
 * (`check-config.ts`), because a union's error says less than the piece that was meant.
 */
import { z } from 'zod';
import type { Json } from '../domain/json.ts';

const json = z.json() as z.ZodType<Json>;
const textList = z.union([z.string(), z.array(z.string())]);
const anyMap = z.record(z.string(), json);
const flag = z.boolean();
const whole = z.number().int();

const assertionKeys = {
  type: z.string().min(1),
  value: json.optional(),
  threshold: z.number().optional(),
  weight: z.number().optional(),
  metric: z.string().optional(),
  provider: json.optional(),
  rubricPrompt: json.optional(),
  transform: z.string().optional(),
  contextTransform: z.string().optional(),
  config: anyMap.optional(),
};

/** One check of a test. */
export const assertionSchema = z.strictObject(assertionKeys);
/** Several checks that count as one. */
export const assertSetSchema = z.strictObject({
  type: z.literal('assert-set'),
  assert: z.array(assertionSchema),
  weight: z.number().optional(),
  metric: z.string().optional(),
  threshold: z.number().optional(),
  config: anyMap.optional(),
});

/** Options of a test; what is not listed belongs to the provider. */
const testOptionsSchema = z.looseObject({
  prefix: z.string().optional(),
  suffix: z.string().optional(),
  transform: z.string().optional(),
  postprocess: z.string().optional(),
  transformVars: z.string().optional(),
  storeOutputAs: z.string().optional(),
  runSerially: flag.optional(),
  repeat: whole.positive().optional(),
  disableVarExpansion: flag.optional(),
  disableConversationVar: flag.optional(),
  disableDefaultAsserts: flag.optional(),
  provider: json.optional(),
  rubricPrompt: json.optional(),
  factuality: z.looseObject({}).optional(),
});

const testKeys = {
  description: z.string().optional(),
  vars: z.union([anyMap, textList]).optional(),
  provider: json.optional(),
  providers: z.array(z.string()).optional(),
  prompts: z.array(z.string()).optional(),
  providerOutput: json.optional(),
  assert: z.array(json).optional(),
  assertScoringFunction: z.string().optional(),
  options: testOptionsSchema.optional(),
  threshold: z.number().optional(),
  metadata: anyMap.optional(),
};

/** One test. Its assertions are checked one by one, see `assertionSchema`. */
export const testSchema = z.strictObject(testKeys);
/** Tests that come from code: `{path, config}`. */
export const generatorSchema = z.strictObject({ path: z.string().min(1), config: anyMap.optional() });
export const scenarioSchema = z.strictObject({
  description: z.string().optional(),
  config: z.array(json),
  tests: z.union([z.string(), z.array(json)]).optional(),
});

const laneSchema = z.strictObject({
  rpm: z.number().positive().optional(),
  tpm: z.number().positive().optional(),
  inputTpm: z.number().positive().optional(),
  outputTpm: z.number().positive().optional(),
  maxConcurrent: whole.positive().optional(),
  minGapMs: z.number().nonnegative().optional(),
  maxRetries: whole.nonnegative().optional(),
  maxRateLimited: whole.nonnegative().optional(),
  group: z.string().optional(),
});

const envMap = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** One provider with its settings; `config` belongs to the vendor. */
export const providerSchema = z.strictObject({
  id: z.string().min(1).optional(),
  label: z.string().optional(),
  config: json.optional(),
  prompts: z.array(z.string()).optional(),
  transform: z.string().optional(),
  delay: z.number().nonnegative().optional(),
  env: envMap.optional(),
  inputs: json.optional(),
});

export const promptSchema = z.strictObject({
  id: z.string().optional(),
  label: z.string().optional(),
  raw: z.string().optional(),
  config: json.optional(),
  template: z.string().optional(),
  display: z.string().optional(),
});

const evaluateOptionsSchema = z.strictObject({
  cache: flag.optional(),
  delay: z.number().optional(),
  generateSuggestions: flag.optional(),
  suggestionsCount: whole.positive().optional(),
  interactiveProviders: flag.optional(),
  maxConcurrency: z.number().positive().optional(),
  repeat: z.number().positive().optional(),
  showProgressBar: flag.optional(),
  timeoutMs: z.number().nonnegative().optional(),
  maxEvalTimeMs: z.number().nonnegative().optional(),
  silent: flag.optional(),
  filterRange: z.string().optional(),
  isRedteam: flag.optional(),
});

const numeric = z.union([z.number(), z.string().regex(/^-?\d+$/, 'expected a whole number')]);
const textMap = z.record(z.string(), z.string());

const commandLineOptionsSchema = z
  .strictObject({
    ...{
      description: z.string(),
      vars: z.string(),
      tests: z.string(),
      assertions: z.string(),
      modelOutputs: z.string(),
    },
    ...{ grader: z.string(), filterErrorsOnly: z.string(), filterFailing: z.string(), filterFailingOnly: z.string() },
    ...{ filterPattern: z.string(), filterPrompts: z.string(), filterProviders: z.string(), filterTargets: z.string() },
    ...{ filterRange: z.string(), promptPrefix: z.string(), promptSuffix: z.string(), filterMetadata: textList },
    ...{
      prompts: textList,
      providers: textList,
      output: textList,
      config: textList,
      extension: textList,
      envPath: textList,
    },
    ...{ maxConcurrency: numeric, repeat: numeric, delay: numeric, tableCellMaxLength: numeric, filterFirstN: numeric },
    ...{ filterSample: numeric, filterSampleSeed: numeric, suggestionsCount: numeric, var: textMap, tags: textMap },
    ...{
      verbose: flag,
      write: flag,
      cache: flag,
      table: flag,
      share: flag,
      noShare: flag,
      progressBar: flag,
      watch: flag,
    },
    ...{ generateSuggestions: flag, retryErrors: flag },
  })
  .partial();

const duration = z.union([
  z.number().nonnegative(),
  z.string().regex(/^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/, 'expected a time like 90s, 15m or 2h'),
]);

/** One batch of simulated conversations. */
export const conversationSchema = z.strictObject({
  name: z.string().min(1).optional(),
  spec: z.string().min(1).optional(),
  scenarios: z.union([z.string(), z.array(json)]),
  use_tools: flag.optional(),
  models: z.record(z.string(), json).optional(),
  repeat: whole.positive().optional(),
  max_turns: whole.positive().optional(),
  timeout_sec: z.number().positive().optional(),
  first_speaker: z.enum(['agent', 'client']).optional(),
  enrichment: z
    .strictObject({
      url: z.string(),
      policy: z.enum(['fail', 'continue', 'skip']).optional(),
      session_url: z.string().optional(),
      timeout_sec: z.number().positive().optional(),
    })
    .optional(),
  checks: z.array(json).optional(),
});

const priceSchema = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cachedInput: z.number().nonnegative().optional(),
});

/** Keys that Parlane adds to a promptfoo config; mistakes in them are errors. */
export const ownKeys = {
  conversations: z.array(conversationSchema).optional(),
  lanes: z.record(z.string(), laneSchema).optional(),
  serialize: z.enum(['global', 'conversation']).optional(),
  prices: z.record(z.string(), priceSchema).optional(),
  budget: z.number().positive().optional(),
  maxWait: duration.optional(),
};

/** The top of a config, with the parts that have several forms left open. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  description: z.string().optional(),
  tags: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  providers: json.optional(),
  targets: json.optional(),
  prompts: json.optional(),
  tests: json.optional(),
  defaultTest: json.optional(),
  scenarios: json.optional(),
  outputPath: textList.optional(),
  evaluateOptions: evaluateOptionsSchema.optional(),
  commandLineOptions: commandLineOptionsSchema.optional(),
  env: envMap.optional(),
  nunjucksFilters: textMap.optional(),
  derivedMetrics: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
  extensions: z.array(z.string()).optional(),
  metadata: anyMap.optional(),
  sharing: json.optional(),
  tracing: json.optional(),
  redteam: json.optional(),
  plugins: json.optional(),
  strategies: json.optional(),
  writeLatestResults: flag.optional(),
  ...ownKeys,
});

/** The JSON Schema that editors complete and check against. */
export function editorSchema(): Record<string, unknown> {
  const test = z.strictObject({ ...testKeys, assert: z.array(z.union([assertSetSchema, assertionSchema])).optional() });
  const provider = z.union([z.string(), providerSchema, z.record(z.string(), providerSchema)]);
  const scenario = z.strictObject({
    ...scenarioSchema.shape,
    config: z.array(test),
    tests: z.union([z.string(), z.array(test)]).optional(),
  });
  const whole = configSchema.extend({
    providers: z.union([z.string(), z.array(provider)]).optional(),
    targets: z.union([z.string(), z.array(provider)]).optional(),
    prompts: z.union([z.string(), z.array(z.union([z.string(), promptSchema])), textMap]).optional(),
    tests: z.union([z.string(), z.array(z.union([z.string(), generatorSchema, test])), generatorSchema]).optional(),
    defaultTest: z.union([z.string().regex(/^file:\/\//), test]).optional(),
    scenarios: z.array(z.union([z.string(), scenario])).optional(),
  });
  const schema = z.toJSONSchema(whole, { target: 'draft-7', unrepresentable: 'any' }) as Record<string, unknown>;
  return { ...schema, title: 'Parlane config', description: 'The keys of a promptfoo config, and those of Parlane.' };
}
