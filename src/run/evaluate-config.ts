/**
 * `evaluate` as a program calls it: with a loaded suite and everything it works with, or with a config written down on
 * the spot, functions included, and sensible parts for all that is not said.
 */
import { join } from 'node:path';
import { loadSuite } from '../config/load-suite.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Suite } from '../domain/suite.ts';
import { realClock } from '../platform/clock.ts';
import { createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { configFiles } from '../platform/config-files.ts';
import { environment, workingFolder } from '../platform/environment.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { openStore } from '../store/open-store.ts';
import { wholeResults } from './eval-results.ts';
import { type EvalOutcome, type EvaluateOptions, evaluate as evaluateSuite } from './evaluate.ts';
import { type InProcessFunction, nameFunctions, withFunctions, withTexts } from './in-process.ts';

type OneOrMany<T> = T | readonly T[];

/** A config as `promptfooconfig.yaml` holds it; functions may stand wherever a file of code may be named. */
export interface EvalConfig {
  readonly prompts?: OneOrMany<string | object | InProcessFunction>;
  readonly providers?: OneOrMany<string | object | InProcessFunction>;
  readonly targets?: OneOrMany<string | object | InProcessFunction>;
  readonly tests?: string | readonly (string | object)[] | InProcessFunction;
  readonly defaultTest?: string | object;
  readonly scenarios?: readonly (string | object)[];
  readonly [key: string]: unknown;
}

export interface EvaluateConfigOptions extends Partial<EvaluateOptions> {
  /** Where relative files start; the working folder unless told. */
  readonly folder?: string;
}

export interface EvalSummaryResult {
  readonly version: 3;
  readonly results: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly stats: JsonObject;
}

export interface ConfigOutcome extends EvalOutcome {
  /** Everything at once, in promptfoo's shapes. */
  toEvaluateSummary(): Promise<EvalSummaryResult>;
}

const isSuite = (value: Suite | EvalConfig): value is Suite =>
  typeof (value.tests as { read?: unknown } | undefined)?.read === 'function' && 'folder' in value;

async function evaluateConfig(config: EvalConfig, options: EvaluateConfigOptions): Promise<ConfigOutcome> {
  const { clock = realClock, env = environment(), folder = workingFolder() } = options;
  const { data, functions } = nameFunctions(config, folder);
  const path = join(folder, 'in-process-config.json');
  const stubs = [...functions.code].map(([file, call]) => [file, String(call)] as const);
  const files = withTexts(options.files ?? configFiles, new Map([[path, JSON.stringify(data)], ...stubs]));
  const own = options.code ?? createCodeRunner({ env: scrubbedEnvironment(env), cwd: folder });
  const http = options.http ?? createHttpClient({ clock });
  const code = withFunctions(own, functions, clock);
  const startedAt = clock.now();
  try {
    const signal = options.abortSignal === undefined ? {} : { signal: options.abortSignal };
    const shown = (file: string): string => (file === path ? 'config' : file);
    const { suite, warnings } = await loadSuite({ files, code, env, cwd: folder, configs: [path], shown, ...signal });
    for (const { message } of warnings)
      for (const observe of options.observers ?? []) observe({ type: 'warning', at: clock.now(), message });
    const store = options.store ?? (await openStore({ at: ':memory:' }));
    const outcome = await evaluateSuite(suite, { ...options, store, clock, env, files, code, http, functions });
    // Metrics may be code of the config's author, which is let go of here.
    const prompts = await outcome.prompts();
    const durationMs = clock.now() - startedAt;
    return {
      ...outcome,
      prompts: async () => prompts,
      toEvaluateSummary: async () => {
        const whole = await wholeResults(outcome.rows(), outcome.columns, async (named) => named, durationMs);
        return { version: 3, ...whole, prompts };
      },
    };
  } finally {
    if (options.http === undefined) await http.close();
    if (options.code === undefined) await own.close();
  }
}

/** Runs an eval and gives back its table; throws when there is nothing to run or a provider cannot be made. */
export function evaluate(suite: Suite, options: EvaluateOptions): Promise<EvalOutcome>;
/** Runs a config as it stands; results are kept in memory unless a store is given. */
export function evaluate(config: EvalConfig, options?: EvaluateConfigOptions): Promise<ConfigOutcome>;
export function evaluate(given: Suite | EvalConfig, options: EvaluateConfigOptions = {}): Promise<EvalOutcome> {
  return isSuite(given) ? evaluateSuite(given, options as EvaluateOptions) : evaluateConfig(given, options);
}
