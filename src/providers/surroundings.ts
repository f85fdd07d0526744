import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { LaneLimits } from '../domain/lane.ts';
import type { HttpClient } from './http-client.ts';
import { createPriceTable, type PriceFunction } from './prices.ts';
import type { ProviderContext, ProviderOptions } from './provider-factory.ts';
import { asObject, countAt } from './read-json.ts';
import { createRender, type Render } from './render-settings.ts';
import type { Environment } from './target.ts';

/** What every network adapter needs, taken once from options and context. */
export interface Surroundings {
  readonly config: JsonObject;
  readonly env: Environment;
  readonly basePath: string;
  readonly http: HttpClient;
  readonly code: CodeRunner | undefined;
  readonly render: Render;
  readonly limits: LaneLimits | undefined;
  readonly timeoutMs: number | undefined;
  readonly priceOf: (vendor: string, model: string) => PriceFunction | undefined;
}

export function surroundingsOf(options: ProviderOptions, context: ProviderContext): Surroundings {
  if (context.http === undefined) {
    throw new ParlaneError(
      'provider/no-network',
      `${options.id} needs an HTTP client and was given none.`,
      'Pass `http: createHttpClient(...)` in the context.',
      { provider: options.id },
    );
  }
  const config = withEnvironment(options.config ?? {}, context);
  const limits = options.limits ?? limitsIn(config);
  const prices = context.prices ?? createPriceTable();
  return {
    config,
    env: context.env,
    basePath: context.basePath,
    http: context.http,
    code: context.code,
    render: context.render ?? createRender(context.env),
    limits,
    timeoutMs: countAt(config, 'timeoutMs') ?? numberOf(context.env['REQUEST_TIMEOUT_MS']),
    priceOf: (vendor, model) => ownPrice(config) ?? prices.priceOf(vendor, model),
  };
}

/** Where calls go and with which key may be written as `{{ env.NAME }}`. */
function withEnvironment(config: JsonObject, { env }: ProviderContext): JsonObject {
  const named = ['apiKey', 'apiBaseUrl', 'apiHost', 'organization', 'region'].filter((key) =>
    /\{\{/.test(String(config[key])),
  );
  if (named.length === 0) return config;
  const render = createRender(env);
  return { ...config, ...Object.fromEntries(named.map((key) => [key, render(String(config[key]), {})])) };
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/** `config.lane` of a promptfoo config: the same names as under `lanes:`. */
function limitsIn(config: JsonObject): LaneLimits | undefined {
  const lane = asObject(config['lane']);
  return lane === undefined ? undefined : (lane as LaneLimits);
}

/** promptfoo's `cost`, `inputCost`, `outputCost`: USD per token. */
function ownPrice(config: JsonObject): PriceFunction | undefined {
  const both = countAt(config, 'cost');
  const input = countAt(config, 'inputCost') ?? both;
  const output = countAt(config, 'outputCost') ?? both;
  if (input === undefined || output === undefined) return undefined;
  return ({ inputTokens, outputTokens }) =>
    inputTokens === undefined || outputTokens === undefined
      ? undefined
      : (inputTokens * input + outputTokens * output) * 1e6;
}
