import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Usage } from '../../domain/reply.ts';
import { type ChatRequest, mergedConfig } from '../openai/chat-body.ts';
import { at, countAt, listAt, textAt } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { type FormatProblem, problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';
import { converseBody } from './converse-body.ts';
import type { Signer } from './sign.ts';

export interface ConverseOptions {
  readonly config: JsonObject;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly url: URL;
  readonly loader: SettingsLoader;
  readonly signer: Signer;
}

/** `POST <endpoint>/model/<model>/converse`, signed. */
export function bedrockConverse(options: ConverseOptions): WireFormat {
  return {
    async build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a chat model cannot answer a request for ${request.kind}.`);
      const body = JSON.stringify(converseBody(options.config, options.loader, options.env, request));
      return { method: 'POST', url: options.url, headers: await options.signer.sign(options.url, body), body };
    },
    read: ({ body }, request) =>
      readConverse(body, mergedConfig(options.config, request as ChatRequest)['showThinking'] !== false),
    onError: (head) => options.signer.learnTime(head),
  };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

/** `inputTokens` is only what was not cached; ours is all of it. */
function converseUsage(body: Json): Usage | undefined {
  const fresh = countAt(body, 'usage', 'inputTokens');
  const read = countAt(body, 'usage', 'cacheReadInputTokens');
  const written = countAt(body, 'usage', 'cacheWriteInputTokens');
  return usageOf({
    inputTokens: fresh === undefined ? undefined : fresh + (read ?? 0) + (written ?? 0),
    outputTokens: countAt(body, 'usage', 'outputTokens'),
    cachedInputTokens: read,
    cacheWriteTokens: written,
  });
}

function readConverse(body: Json, showThinking: boolean): ReplyDraft | FormatProblem {
  const content = listAt(body, 'output', 'message', 'content');
  const raw = textAt(body, 'stopReason');
  const finishReason = finishReasons[raw ?? ''] ?? (raw === undefined ? 'stop' : 'other');
  if (content.length === 0 && finishReason !== 'content_filter' && finishReason !== 'length')
    return problem('empty_response', 'the answer holds no message.');
  const text = content
    .map((block) => textAt(block, 'text') ?? '')
    .filter((part) => part !== '')
    .join('\n\n');
  const thoughts = content
    .map((block) => textAt(block, 'reasoningContent', 'reasoningText', 'text') ?? '')
    .filter((part) => part !== '')
    .join('\n');
  return {
    kind: 'draft',
    text,
    output: content
      .map((block) => shownBlock(block, showThinking))
      .filter((part) => part !== '')
      .join('\n\n'),
    toolCalls: content.filter((block) => at(block, 'toolUse') !== undefined).map(toolCall),
    reasoning: thoughts === '' ? undefined : thoughts,
    usage: converseUsage(body),
    finishReason,
    finishReasonRaw: raw,
    ...(finishReason === 'content_filter' ? { flagged: true } : {}),
  };
}

const toolCall = (block: Json): ToolCall => ({
  id: textAt(block, 'toolUse', 'toolUseId') ?? '',
  type: 'function',
  function: {
    name: textAt(block, 'toolUse', 'name') ?? '',
    arguments: JSON.stringify(at(block, 'toolUse', 'input') ?? {}),
  },
});

function shownBlock(block: Json, showThinking: boolean): string {
  const text = textAt(block, 'text');
  if (text !== undefined) return text;
  const use = at(block, 'toolUse');
  if (use !== undefined)
    return JSON.stringify({
      type: 'tool_use',
      id: at(use, 'toolUseId'),
      name: at(use, 'name'),
      input: at(use, 'input'),
    });
  const reasoning = at(block, 'reasoningContent');
  if (reasoning === undefined || !showThinking) return '';
  const thought = textAt(reasoning, 'reasoningText', 'text') ?? '';
  if (thought.trim() === '')
    return at(reasoning, 'redactedContent') === undefined ? '' : '<thinking>[Redacted]</thinking>';
  const signature = textAt(reasoning, 'reasoningText', 'signature');
  return `<thinking>\n${thought}\n</thinking>${signature ? `\n\nSignature: ${signature}` : ''}`;
}
