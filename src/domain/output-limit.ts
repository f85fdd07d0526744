/** The most output tokens that settings of a model ask for, under whatever name its vendor has for it. */
import type { Tokens } from './ids.ts';
import { isObject, type JsonObject } from './json.ts';

const names = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'maxTokens',
  'maxOutputTokens',
  'num_predict',
] as const;

const nested = ['generationConfig', 'options', 'parameters', 'inferenceConfig'] as const;

/** Undefined when the settings say nothing about it; the largest counts when several do. */
export function outputLimit(settings: JsonObject): Tokens | undefined {
  const places = [settings, ...nested.map((name) => settings[name]).filter(isObject)];
  const found = places.flatMap((place) => names.map((name) => Number(place[name] ?? Number.NaN)));
  const limits = found.filter((value) => Number.isFinite(value) && value > 0);
  return limits.length === 0 ? undefined : Math.max(...limits);
}
