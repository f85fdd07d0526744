import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bundledPrices, createPriceTable } from './prices.ts';

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };

test('the date that is shown belongs to the prices that are bundled', () => {
  const entry = createRequire(import.meta.url).resolve(bundledPrices.source);
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8'));
  expect(version).toBe(bundledPrices.version);
});

test('prices of a user win, by model or by vendor and model', () => {
  const prices = createPriceTable({ 'gpt-4.1': { input: 1, output: 2 }, 'groq:x': { input: 3, output: 4, cached: 1 } });
  expect(prices.priceOf('openai', 'gpt-4.1')?.(million)).toBe(3_000_000);
  expect(prices.priceOf('groq', 'x')?.({ ...million, cachedInputTokens: 500_000 })).toBe(6_000_000);
  expect(prices.priceOf('openai', 'x')).toBeUndefined();
});

test('cached tokens cost less, and a missing count makes the cost unknown', () => {
  const price = createPriceTable().priceOf('anthropic', 'claude-sonnet-4-6');
  expect(price?.({ ...million, cachedInputTokens: 1_000_000 })).toBeLessThan(price?.(million) ?? 0);
  expect(price?.({ inputTokens: 5 })).toBeUndefined();
});
