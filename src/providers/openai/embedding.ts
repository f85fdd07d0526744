import { asObject, countAt, listAt, textAt } from '../read-json.ts';
import { problem, usageOf, type WireFormat } from '../wire-format.ts';
import type { ChatFormatOptions } from './chat.ts';

/** `POST <base>/embeddings`. */
export function openaiEmbedding(options: ChatFormatOptions): WireFormat {
  return {
    build(request) {
      const input = request.kind === 'embedding' ? request.input : request.kind === 'chat' ? request.prompt : undefined;
      if (input === undefined)
        return problem('invalid_request', `an embedding model cannot answer a request for ${request.kind}.`);
      const body = { input, model: options.model, ...asObject(options.config['passthrough']) };
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read({ body }) {
      const embedding = listAt(body, 'data', 0, 'embedding').filter(
        (value): value is number => typeof value === 'number',
      );
      if (embedding.length === 0) return problem('empty_response', 'the answer holds no embedding.');
      const tokens = countAt(body, 'usage', 'prompt_tokens');
      return {
        kind: 'draft',
        text: '',
        output: embedding,
        embedding,
        usage: tokens === undefined ? undefined : usageOf({ inputTokens: tokens, outputTokens: 0 }),
        finishReason: 'stop',
        servedModel: textAt(body, 'model'),
      };
    },
  };
}
