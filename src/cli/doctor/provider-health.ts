/** Whether the providers of a project could be asked: the key each needs, where it stands in the config, what it answers. */
import { readFileSync } from 'node:fs';
import type { LoadedSuite } from '../../config/load-suite.ts';
import { ParlaneError } from '../../domain/errors.ts';
import { isObject, type JsonObject } from '../../domain/json.ts';
import type { LearnedLimit } from '../../domain/lane.ts';
import type { Provider } from '../../domain/provider.ts';
import type { RateHints, RateReading } from '../../domain/reply.ts';
import type { Suite } from '../../domain/suite.ts';
import { type LearnedRate, LimitLearner } from '../../lanes/limit-learner.ts';
import { resolveProvider } from '../../providers/resolve-provider.ts';
import { assertionPlace } from '../../run/check-written.ts';
import { defaultGraders, definitionOf } from '../../run/eval-providers.ts';
import { planEval } from '../../run/plan-eval.ts';
import { gradersOf } from '../../run/planned-assertions.ts';
import { isSecretName } from '../known-secrets.ts';
import type { Workshop } from '../open-workshop.ts';

export interface Named {
  readonly id: string;
  readonly config?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
  /** The assertion it grades by default, and where that stands: nobody named it. */
  readonly grades?: string;
  /** It answers no chat: it embeds, moderates or classifies. */
  readonly silent?: true;
}

export interface ProviderHealth {
  readonly id: string;
  readonly grades?: string;
  readonly silent?: true;
  readonly status: 'ready' | 'missing-key' | 'broken';
  /** The variable its key comes from; absent when it needs none or the config holds it. */
  readonly variable?: string;
  /** `parlane.yaml:12` */
  readonly where?: string;
  readonly problem?: string;
  /** Present when it could be made. */
  readonly provider?: Provider;
}

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

/** The graders that its tests need and that `known` does not have, in the order they are met. */
export async function neededGraders(
  { suite, written }: Pick<LoadedSuite, 'suite' | 'written'>,
  known: readonly Named[],
  { files, code, env }: Workshop,
): Promise<Named[]> {
  if (suite.providers.length === 0) return [];
  const { signal } = new AbortController();
  // A plan that cannot be made is told by those who want to run it.
  const plan = await planEval(suite, { files, code, signal }).catch((error: unknown): undefined => {
    if (!(error instanceof ParlaneError)) throw error;
  });
  const defaults = defaultGraders({ ...env, ...suite.env });
  const graders = new Map<string, Named>();
  for (const { kind, name, assertion } of gradersOf(plan?.assertions ?? [])) {
    const asked = name ?? defaults[kind];
    if (asked === undefined || graders.has(asked)) continue;
    const place = assertionPlace(written, assertion)?.('');
    const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
    const grades = name === undefined ? { grades: `${assertion.type}${where}` } : {};
    const silent = kind === 'text' ? {} : ({ silent: true } as const);
    graders.set(asked, { ...definitionOf(asked, suite), ...grades, ...silent });
  }
  return [...graders.values()].filter(({ id }) => !known.some((one) => one.id === id));
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
  const { id, grades, silent } = named;
  const role = { ...(grades === undefined ? {} : { grades }), ...(silent === undefined ? {} : { silent }) };
  const about = { id, ...role, ...(where === undefined ? {} : { where }) };
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
