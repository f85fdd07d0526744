import { calcPrice } from '@pydantic/genai-prices';
import type { EpochMillis, UsdMicros } from '../domain/ids.ts';
import type { Usage } from '../domain/reply.ts';

/** A user's own price, in USD per million tokens. */
export interface PriceOverride {
  readonly input: number;
  readonly output: number;
  /** Cached input; as `input` unless told. */
  readonly cached?: number;
}

/** Where the bundled prices come from and how old they are. */
export const bundledPrices = { source: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' } as const;

export interface PriceTable {
  /** A function from usage to cost, or undefined when the price of this model is unknown. */
  priceOf(vendor: string, model: string): PriceFunction | undefined;
}

/** Undefined when the usage lacks what the price needs: unknown is not 0. */
export type PriceFunction = (usage: Usage) => UsdMicros | undefined;

/** The bundled, dated prices under the user's own (`prices:` of the config, by model or by `vendor:model`). */
export function createPriceTable(
  overrides: Readonly<Record<string, PriceOverride>> = {},
  now: EpochMillis = Date.parse(bundledPrices.date),
): PriceTable {
  const at = new Date(now);
  return {
    priceOf(vendor, model) {
      const own = overrides[`${vendor}:${model}`] ?? overrides[model];
      return own === undefined
        ? bundledPrice(vendor, model, at)
        : linear(own.input, own.output, own.cached ?? own.input, own.input);
    },
  };
}

/** Per million tokens to micro-dollars per token is the same number. */
const linear =
  (input: number, output: number, cached: number, cacheWrite: number): PriceFunction =>
  ({ inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }) => {
    if (inputTokens === undefined || outputTokens === undefined) return undefined;
    const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
    return plain * input + cachedInputTokens * cached + cacheWriteTokens * cacheWrite + outputTokens * output;
  };

function bundledPrice(vendor: string, model: string, timestamp: Date): PriceFunction | undefined {
  const lookUp = (usage: Record<string, number>) => calcPrice(usage, model, { providerId: vendor, timestamp });
  const found = lookUp({ input_tokens: 1, output_tokens: 0 }) ?? lookUp({ input_tokens: 1 });
  if (found === null || found.total_price === 0) return undefined;
  const prices = found.model_price;
  const {
    input_mtok: input,
    output_mtok: output = 0,
    cache_read_mtok: read = input,
    cache_write_mtok: write = input,
  } = prices;
  if (typeof input === 'number' && typeof output === 'number' && typeof read === 'number' && typeof write === 'number')
    return linear(input, output, read, write);
  return ({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens }) => {
    if (inputTokens === undefined || outputTokens === undefined) return undefined;
    const total = lookUp({
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      ...(cachedInputTokens === undefined ? {} : { cache_read_tokens: cachedInputTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cache_write_tokens: cacheWriteTokens }),
    })?.total_price;
    return total === undefined ? undefined : total * 1e6;
  };
}
