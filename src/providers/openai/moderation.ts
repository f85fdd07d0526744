import { at, objectAt, textAt } from '../read-json.ts';
import { problem, type WireFormat } from '../wire-format.ts';
import type { ChatFormatOptions } from './chat.ts';

/** `POST <base>/moderations`: which categories a text falls into. */
export function openaiModeration(options: ChatFormatOptions): WireFormat {
  return {
    build(request) {
      const input =
        request.kind === 'moderation' ? request.input : request.kind === 'chat' ? request.prompt : undefined;
      if (input === undefined)
        return problem('invalid_request', `a moderation model cannot answer a request for ${request.kind}.`);
      const body = {
        model: options.model,
        input: options.model.startsWith('omni-') ? [{ type: 'text', text: input }] : input,
      };
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read({ body }) {
      const result = objectAt(body, 'results', 0);
      if (result === undefined) return problem('empty_response', 'the answer holds no result.');
      const scores = Object.fromEntries(
        Object.entries(objectAt(result, 'categories') ?? {})
          .filter(([, hit]) => hit === true)
          .map(([name]) => [name, Number(at(result, 'category_scores', name) ?? 0)]),
      );
      return {
        kind: 'draft',
        text: '',
        output: result,
        flagged: result['flagged'] === true,
        scores,
        finishReason: 'stop',
        servedModel: textAt(body, 'model'),
        // Moderation is free and says nothing about tokens.
        usage: { inputTokens: 0, outputTokens: 0 },
      };
    },
  };
}
