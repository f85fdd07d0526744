import type { Json } from '../../domain/json.ts';
import type { FinishReason } from '../../domain/reply.ts';
import { asObject, at, textAt } from '../read-json.ts';
import { problem, type WireFormat } from '../wire-format.ts';
import type { ChatFormatOptions } from './chat.ts';
import { mergedConfig, ownSettings } from './chat-body.ts';
import { chatUsage } from './chat-reply.ts';

const defaults = { max_tokens: 1024, temperature: 0, top_p: 1, presence_penalty: 0, frequency_penalty: 0, best_of: 1 };
const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
};

/** `POST <base>/completions`: text in, text out, for the models before chat. */
export function openaiCompletion(options: ChatFormatOptions): WireFormat {
  return {
    build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a completion model cannot answer a request for ${request.kind}.`);
      const config = mergedConfig(options.config, request);
      const body: Record<string, Json> = {
        model: options.model,
        prompt: request.prompt ?? transcript(request.messages ?? []),
      };
      if (config['seed'] !== undefined) body['seed'] = config['seed'];
      for (const [key, value] of Object.entries(defaults)) body[key] = config[key] ?? value;
      body['stop'] = config['stop'] ?? ['<|im_end|>', '<|endoftext|>'];
      const { tools: _, ...own } = ownSettings(request, 'max_tokens');
      Object.assign(body, asObject(config['passthrough']) ?? {}, own);
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read({ body }) {
      const text = textAt(body, 'choices', 0, 'text');
      if (at(body, 'choices', 0) === undefined) return problem('empty_response', 'the answer holds no choices.');
      const raw = textAt(body, 'choices', 0, 'finish_reason');
      return {
        kind: 'draft',
        text: text ?? '',
        output: text ?? '',
        usage: chatUsage(body),
        finishReason: finishReasons[raw ?? 'stop'] ?? 'other',
        finishReasonRaw: raw,
        servedModel: textAt(body, 'model'),
      };
    },
  };
}

const transcript = (messages: readonly { readonly role: string; readonly content: string }[]): string =>
  messages.map(({ role, content }) => `${role}: ${content}`).join('\n');
