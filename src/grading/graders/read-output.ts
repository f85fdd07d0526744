/** Reads embeddings, classes and moderation from the output of providers that know only answers: programs and plain http. */
import { isObject, type Json } from '../../domain/json.ts';
import type { Reply } from '../../domain/reply.ts';

/** Output that is JSON in text counts as data. */
function dataOf({ output }: Reply): Json {
  if (typeof output !== 'string') return output;
  try {
    return JSON.parse(output) as Json;
  } catch {
    return output;
  }
}

const isNumbers = (value: Json): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');

export function embeddingIn(reply: Reply): readonly number[] | undefined {
  if (reply.embedding !== undefined && reply.embedding.length > 0) return reply.embedding;
  const data = dataOf(reply);
  return isNumbers(data) ? data : undefined;
}

/** `{label: score}`, or `[{label, score}]`, once or twice in a list. */
export function scoresIn(reply: Reply): Readonly<Record<string, number>> | undefined {
  if (reply.scores !== undefined) return reply.scores;
  const data = dataOf(reply);
  const list = Array.isArray(data) ? data.flat() : [];
  const entries = isObject(data)
    ? Object.entries(data)
    : list.filter(isObject).map((item): [string, Json] => [String(item['label']), item['score'] ?? null]);
  const scored = entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return scored.length === 0 ? undefined : Object.fromEntries(scored);
}

export interface Moderated {
  readonly flagged: boolean;
  readonly categories: readonly string[];
}

/** The moderation verdict, or `{flagged, categories}` in the output. */
export function moderationIn(reply: Reply): Moderated | undefined {
  if (reply.flagged !== undefined) return { flagged: reply.flagged, categories: Object.keys(reply.scores ?? {}) };
  const data = dataOf(reply);
  if (!isObject(data) || typeof data['flagged'] !== 'boolean') return undefined;
  const { flagged, categories } = data;
  return { flagged, categories: Array.isArray(categories) ? categories.map(String) : [] };
}
