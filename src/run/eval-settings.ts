/** How an eval runs: the caller's word over `commandLineOptions`, over `evaluateOptions`, over the environment. */
import { isOn } from '../config/read-config.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Suite } from '../domain/suite.ts';
import type { TestFilters } from '../plan/filter-tests.ts';

export interface EvalSettings {
  /** Most calls in flight over all lanes; absent: the lanes' own ceilings. */
  readonly maxConcurrency?: number;
  readonly repeat?: number;
  /** Least time between two calls of a lane; with it the whole run makes one call after the other. */
  readonly delayMs?: number;
  readonly cache?: boolean;
  /** Working time of a case. */
  readonly timeoutMs?: number;
  /** Time of the whole run. */
  readonly maxEvalTimeMs?: number;
  readonly filters?: TestFilters;
  readonly disableVarExpansion?: boolean;
  readonly disableConversationVar?: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const number = (value: Json | string | undefined): number | undefined => {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined;
};
const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;
const list = (value: Json | undefined): readonly string[] | undefined =>
  value === undefined || value === null ? undefined : (Array.isArray(value) ? value : [value]).map(String);

/** Leaves out what is not said. */
const said = <T extends object>(parts: T): T =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as T;

function filtersIn(options: JsonObject): TestFilters {
  const pattern = options['filterPattern'];
  const range = options['filterRange'];
  return said({
    metadata: list(options['filterMetadata']),
    pattern: typeof pattern === 'string' ? pattern : undefined,
    range: typeof range === 'string' ? range : undefined,
    firstN: number(options['filterFirstN']),
    sample: number(options['filterSample']),
    sampleSeed: number(options['filterSampleSeed']),
  }) as TestFilters;
}

/** The settings of a run. */
export function evalSettings(suite: Suite, given: EvalSettings, env: Env): EvalSettings {
  const config: JsonObject = { ...suite.evaluateOptions, ...suite.commandLineOptions };
  const fromConfig = said({
    maxConcurrency: positive(number(config['maxConcurrency'])),
    repeat: positive(number(config['repeat'])),
    delayMs: number(config['delay']) ?? number(env['PROMPTFOO_DELAY_MS']),
    cache: typeof config['cache'] === 'boolean' ? config['cache'] : undefined,
    timeoutMs: positive(number(config['timeoutMs']) ?? number(env['PROMPTFOO_EVAL_TIMEOUT_MS'])),
    maxEvalTimeMs: positive(number(config['maxEvalTimeMs']) ?? number(env['PROMPTFOO_MAX_EVAL_TIME_MS'])),
    disableVarExpansion: isOn(env['PROMPTFOO_DISABLE_VAR_EXPANSION']) || undefined,
    disableConversationVar: isOn(env['PROMPTFOO_DISABLE_CONVERSATION_VAR']) || undefined,
  }) as EvalSettings;
  const settings = { ...fromConfig, ...said(given), filters: { ...filtersIn(config), ...said(given.filters ?? {}) } };
  // A delay of the whole run is asked for by those who want one call after the other; a provider's own is its lane's.
  return (settings.delayMs ?? 0) > 0 ? { ...settings, maxConcurrency: 1 } : settings;
}
