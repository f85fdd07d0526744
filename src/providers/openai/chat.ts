import type { CodeRunner } from '../../domain/code-runner.ts';
import type { Json } from '../../domain/json.ts';
import type { HeaderValue } from '../http-client.ts';
import { asObject, at } from '../read-json.ts';
import { runCallback } from '../tool-callbacks.ts';
import { problem, type ReplyDraft, type WireFormat } from '../wire-format.ts';
import { type ChatRequest, type ChatSettings, chatBody, chatMessages, isProblem, mergedConfig } from './chat-body.ts';
import { readChat } from './chat-reply.ts';

export interface ChatFormatOptions extends ChatSettings {
  readonly url: URL;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly basePath: string;
  readonly code: CodeRunner | undefined;
}

/** `POST <base>/chat/completions`: OpenAI's format, which most vendors speak. */
export function openaiChat(options: ChatFormatOptions): WireFormat {
  const bodyOf = bodyMaker(options);
  return {
    build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a chat model cannot answer a request for ${request.kind}.`);
      const body = bodyOf(request);
      if ('kind' in body && body['kind'] === 'problem') return body as ReturnType<typeof problem>;
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read(answer, request, { signal }) {
      const config = mergedConfig(options.config, request as ChatRequest);
      const draft = readChat(answer.body, {
        parsesJson: at(config, 'response_format', 'type') === 'json_schema',
        showThinking: config['showThinking'] !== false,
        callsFirst: options.traits?.callsFirst === true,
      });
      const callbacks = asObject(config['functionToolCallbacks']);
      if (draft.kind === 'problem' || callbacks === undefined || (draft.toolCalls ?? []).length === 0) return draft;
      return withCallbacks(draft, callbacks, { code: options.code, basePath: options.basePath, signal });
    },
  };
}

/** Most calls differ in their messages only: everything else is worked out once per kind of prompt. */
function bodyMaker(options: ChatFormatOptions): (request: ChatRequest) => ReturnType<typeof chatBody> {
  const isFixed = !/\{[{%#]|file:\/\//.test(JSON.stringify(options.config));
  const bases: { prompt?: ReturnType<typeof chatBody>; messages?: ReturnType<typeof chatBody> } = {};
  return (request) => {
    const { params, tools, temperature, seed, maxTokens } = request;
    if (!isFixed || (params ?? tools ?? temperature ?? seed ?? maxTokens) !== undefined)
      return chatBody(options, request);
    const messages = chatMessages(request);
    if (isProblem(messages)) return messages;
    const kind = request.messages === undefined ? 'prompt' : 'messages';
    bases[kind] ??= chatBody(options, request);
    return { ...bases[kind], messages };
  };
}

async function withCallbacks(
  draft: ReplyDraft,
  callbacks: { readonly [name: string]: Json },
  surroundings: Parameters<typeof runCallback>[2],
): Promise<ReplyDraft> {
  const results: string[] = [];
  for (const call of draft.toolCalls ?? []) {
    if (callbacks[call.function.name] === undefined) continue;
    const result = await runCallback(call, callbacks, surroundings);
    if (result === undefined) return draft;
    results.push(result);
  }
  return results.length === 0 ? draft : { ...draft, output: results.join('\n') };
}
