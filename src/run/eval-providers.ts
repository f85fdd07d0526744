/** Names in an eval -> providers: the suite's own with their settings, graders by label, definition or plain id. */
import type { CodeRunner } from '../domain/code-runner.ts';
import { isObject } from '../domain/json.ts';
import type { Provider } from '../domain/provider.ts';
import type { Suite, SuiteProvider } from '../domain/suite.ts';
import type { DefaultGraders } from '../grading/graders/grader-provider.ts';
import type { Clock } from '../platform/clock.ts';
import type { HttpClient } from '../providers/http-client.ts';
import { createPriceTable, type PriceOverride } from '../providers/prices.ts';
import type { ProviderContext, ProviderOptions } from '../providers/provider-factory.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import { functionProvider, type InProcessFunctions } from './in-process.ts';
import type { GroupedLimits } from './lane-spec.ts';

export interface EvalProviderParts {
  readonly suite: Suite;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly code: CodeRunner;
  readonly delayMs?: number;
  readonly functions?: InProcessFunctions;
}

/** Who is meant by a name: a column's provider, one of the suite's by id or label, a definition as JSON, or an id. */
export function definitionOf(name: string, suite: Suite): Omit<SuiteProvider, 'name'> {
  const own =
    suite.providers.find((provider) => provider.name === name) ??
    suite.providers.find((provider) => provider.label === name || provider.id === name);
  if (own !== undefined) return own;
  if (name.startsWith('{')) return JSON.parse(name) as Omit<SuiteProvider, 'name'>;
  return { id: name };
}

/** Makes each provider once per run. */
export function evalProviders(parts: EvalProviderParts): (name: string) => Provider {
  const { suite, clock, http, code } = parts;
  const known = new Map<string, Provider>();
  const prices = createPriceTable(suite.prices as unknown as Record<string, PriceOverride>);
  return (name) => {
    const made = known.get(name);
    if (made !== undefined) return made;
    const { id, label, config, delay, env } = definitionOf(name, suite);
    const delayMs = delay ?? parts.delayMs;
    const options: ProviderOptions = {
      id,
      ...(label === undefined ? {} : { label }),
      ...(config === undefined ? {} : { config }),
      ...(delayMs === undefined || delayMs === 0 ? {} : { delayMs }),
    };
    const context: ProviderContext = {
      clock,
      http,
      code,
      prices,
      env: { ...parts.env, ...suite.env, ...env },
      basePath: suite.folder,
    };
    const own = parts.functions?.providers.get(id);
    const provider = own === undefined ? resolveProvider(options, context) : functionProvider(options, own, clock);
    known.set(name, provider);
    return provider;
  };
}

/** The user's limits of a lane: under `lanes:` by lane key, provider id or label. */
export function lanesLimits(suite: Suite): (provider: Provider) => GroupedLimits | undefined {
  return (provider) => {
    const names = [provider.laneKey, provider.label ?? '', provider.id];
    const found = names.map((name) => suite.lanes[name]).find(isObject);
    return found as GroupedLimits | undefined;
  };
}

const graderKeys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'MISTRAL_API_KEY'];

/** There is a key for whoever grades when nobody is named. */
export const hasGraderKey = (env: Readonly<Record<string, string | undefined>>): boolean =>
  graderKeys.some((name) => (env[name] ?? '') !== '');

/** Who grades when nobody is named: the vendor whose key is there, OpenAI first. */
export function defaultGraders(
  env: Readonly<Record<string, string | undefined>>,
): DefaultGraders & { readonly text: string } {
  const openai = {
    text: 'openai:chat:gpt-4.1',
    embedding: 'openai:embedding:text-embedding-3-large',
    moderation: 'openai:moderation',
  };
  if (env['OPENAI_API_KEY']) return openai;
  if (env['ANTHROPIC_API_KEY']) return { ...openai, text: 'anthropic:messages:claude-sonnet-4-5' };
  if (env['GEMINI_API_KEY'] || env['GOOGLE_API_KEY']) return { ...openai, text: 'google:gemini-2.5-pro' };
  if (env['MISTRAL_API_KEY'])
    return { ...openai, text: 'mistral:mistral-large-latest', embedding: 'mistral:embedding:mistral-embed' };
  return openai;
}
