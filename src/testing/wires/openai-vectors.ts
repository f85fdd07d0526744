import { hashText } from '../../domain/hash-text.ts';
import { openaiError } from './openai-errors.ts';
import type { Wire } from './wire.ts';

/** Eight numbers of length 1 out of a text: equal texts are near, different ones are not. */
export function vectorOf(text: string): number[] {
  const hash = hashText(text);
  const raw = Array.from({ length: 8 }, (_, at) => ((hash >>> (4 * at)) & 15) + 1);
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

const inputsOf = (input: unknown): string[] =>
  Array.isArray(input) ? input.map((item) => String(item)) : [String(input ?? '')];

export const openaiEmbeddings: Wire = {
  name: 'openai-embeddings',
  write(reply, quirks, request) {
    if (quirks.failedInside) return { error: { code: 502, message: 'Upstream error', type: 'server_error' } };
    const data = inputsOf(request.body['input']).map((text, index) => ({
      object: 'embedding',
      index,
      embedding: vectorOf(text),
    }));
    const tokens = quirks.usage === 'zero' ? 0 : (quirks.usage === 'negative' ? -1 : 1) * reply.inputTokens;
    const usage = quirks.usage === 'absent' ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
    return { object: 'list', data: quirks.empty ? [] : data, model: reply.model, ...usage };
  },
  writeError: openaiError,
};

const categories = ['hate', 'harassment', 'self-harm', 'sexual', 'violence'];

/** Flags what holds the word `forbidden`, as violence. */
export const openaiModerations: Wire = {
  name: 'openai-moderations',
  write(reply, quirks, request) {
    if (quirks.failedInside) return { error: { code: 502, message: 'Upstream error', type: 'server_error' } };
    const results = inputsOf(request.body['input']).map((text) => {
      const flagged = text.includes('forbidden');
      const hit = (name: string): boolean => flagged && name === 'violence';
      return {
        flagged,
        categories: Object.fromEntries(categories.map((name) => [name, hit(name)])),
        category_scores: Object.fromEntries(categories.map((name) => [name, hit(name) ? 0.9 : 0.01])),
      };
    });
    return { id: `modr-${request.number}`, model: reply.model, results: quirks.empty ? [] : results };
  },
  writeError: openaiError,
};
