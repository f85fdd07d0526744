import { expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { outputLimit } from './output-limit.ts';

it.each<[JsonObject, number | undefined]>([
  [{}, undefined],
  [{ temperature: 0 }, undefined],
  [{ max_tokens: 50 }, 50],
  [{ max_completion_tokens: '4000' }, 4000],
  [{ max_tokens: 50, max_output_tokens: 70 }, 70],
  [{ generationConfig: { maxOutputTokens: 900 } }, 900],
  [{ options: { num_predict: -1 } }, undefined],
  [{ max_tokens: '{{most}}' }, undefined],
])('of %j is %s', (settings, limit) => {
  expect(outputLimit(settings)).toBe(limit);
});
