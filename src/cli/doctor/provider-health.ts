/** Whether the providers of a project could be asked: the key each needs, where it stands in the config, what it answers. */
import { readFileSync } from 'node:fs';
import { ParlaneError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { LearnedLimit } from '../../domain/lane.ts';
import type { Provider } from '../../domain/provider.ts';
import type { RateHints, RateReading } from '../../domain/reply.ts';
import type { Suite } from '../../domain/suite.ts';
import { type LearnedRate, LimitLearner } from '../../lanes/limit-learner.ts';
import { resolveProvider } from '../../providers/resolve-provider.ts';
import { isSecretName } from '../known-secrets.ts';
import type { Workshop } from '../open-workshop.ts';

export interface Named {
  readonly id: string;
  readonly config?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProviderHealth {
  readonly id: string;
  readonly status: 'ready' | 'missing-key' | 'broken';
  /** The variable its key comes from; absent when it needs none or the config holds it. */
  readonly variable?: string;
  /** `parlane.yaml:12` */
  readonly where?: string;
  readonly problem?: string;
  /** Present when it could be made. */
  readonly provider?: Provider;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every provider that the config names: columns, and the models of its conversations. */
export function namedProviders(suite: Suite): Named[] {
  const all = new Map<string, Named>(suite.providers.map((one) => [one.name, one]));
  const known = new Set(suite.providers.flatMap(({ name, id, label }) => [name, id, label ?? id]));
  for (const { models } of suite.conversations) {
    for (const model of Object.values(isObject(models) ? models : {})) {
      const id = isObject(model) ? (model['id'] ?? model['provider']) : model;
      if (typeof id === 'string' && !known.has(id)) all.set(id, { id });
    }
  }
  return [...all.values()];
}

/** The first line of the config files that names it. */
function placeOf(id: string, configs: readonly string[], shown: (path: string) => string): string | undefined {
  for (const path of configs) {
    const line = readFileSync(path, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes(id) && !text.trimStart().startsWith('#'));
    if (line >= 0) return `${shown(path)}:${line + 1}`;
  }
  return undefined;
}

/** Tells afterwards which variables with secrets were looked at and there. */
function watchedEnvironment(env: Readonly<Record<string, string | undefined>>) {
  const used = new Set<string>();
  const watched = new Proxy(env, {
    get(target, name) {
      const value = typeof name === 'string' ? target[name] : undefined;
      if (typeof name === 'string' && value !== undefined && value !== '' && isSecretName(name)) used.add(name);
      return value;
    },
  });
  return { watched, used };
}

export interface Surroundings {
  readonly workshop: Workshop;
  readonly suite: Suite;
  readonly configs: readonly string[];
  readonly shown: (path: string) => string;
}

export function examine(named: Named, { workshop, suite, configs, shown }: Surroundings): ProviderHealth {
  const { watched, used } = watchedEnvironment({ ...workshop.env, ...suite.env, ...named.env });
  const where = placeOf(named.id, configs, shown);
  const about = { id: named.id, ...(where === undefined ? {} : { where }) };
  try {
    const provider = resolveProvider(named.config === undefined ? named.id : { id: named.id, config: named.config }, {
      ...workshop,
      env: watched,
      basePath: suite.folder,
    });
    const [variable] = used;
    return { ...about, status: 'ready', provider, ...(variable === undefined ? {} : { variable }) };
  } catch (error) {
    if (!(error instanceof ParlaneError)) throw error;
    const variable = error.fields['variable'];
    const status = error.code === 'provider/missing-key' ? 'missing-key' : 'broken';
    return { ...about, status, problem: error.message, ...(typeof variable === 'string' ? { variable } : {}) };
  }
}

export interface Probe {
  readonly answers: boolean;
  readonly message: string;
  readonly readings: readonly RateReading[];
}

const patienceMs = 30_000;

/** One tiny call, and what its headers say about limits. */
export async function probe(provider: Provider): Promise<Probe> {
  let head: RateHints | undefined;
  const outcome = await provider.call(
    { kind: 'chat', prompt: 'Say ok.', maxTokens: 16 },
    {
      signal: AbortSignal.timeout(patienceMs),
      onHead: (hints) => {
        head = hints;
      },
    },
  );
  const readings = (outcome.hints ?? head)?.readings ?? [];
  if (outcome.kind === 'reply') return { answers: true, message: outcome.servedModel ?? provider.model, readings };
  return { answers: false, message: outcome.message, readings };
}

/** What the lanes would make of one reading; undefined when it does not tell a rate. */
export function rateOf({ limit, remaining, resetMs, windowMs }: RateReading): LearnedRate | undefined {
  if (limit === undefined) return undefined;
  return new LimitLearner().observe(limit, remaining ?? limit, resetMs ?? 0, 0, windowMs);
}

/** What a probe found, in the form that lanes and forecasts remember; odd readings are left for a run to confirm. */
export const learnedFrom = (readings: readonly RateReading[]): LearnedLimit[] =>
  readings.flatMap((reading) => {
    const learned = rateOf(reading);
    if (learned === undefined || !learned.sure) return [];
    const { rate, limit, windowMs } = learned;
    return [{ resource: reading.resource, ratePerMinute: rate * 60_000, capacity: limit, windowMs }];
  });
