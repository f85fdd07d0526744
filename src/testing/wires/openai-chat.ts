import type { SeenRequest } from '../seen-request.ts';
import { azureError, openaiError } from './openai-errors.ts';
import type { CountedReply, ReplyQuirks, Wire } from './wire.ts';

export function openaiUsage(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  if (quirk === 'zero') return { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } };
  const sign = quirk === 'negative' ? -1 : 1;
  return {
    usage: {
      prompt_tokens: sign * reply.inputTokens,
      completion_tokens: sign * reply.outputTokens,
      total_tokens: sign * (reply.inputTokens + reply.outputTokens),
      prompt_tokens_details: { cached_tokens: reply.usage?.cached ?? 0 },
      completion_tokens_details: { reasoning_tokens: reply.usage?.reasoning ?? 0 },
    },
  };
}

export const toolCallsOf = (reply: CountedReply, request: SeenRequest): object[] | undefined =>
  reply.toolCalls?.map((call, at) => ({
    id: call.id ?? `call_${request.number}_${at}`,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));

function messageOf(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object {
  const calls = toolCallsOf(reply, request);
  const refused = reply.finish === 'refusal';
  const silent = quirks.nullContent || refused || (calls !== undefined && reply.text === '');
  return {
    role: 'assistant',
    content: silent ? null : reply.text,
    refusal: refused ? reply.text : null,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(calls ? { tool_calls: calls } : {}),
  };
}

function writeChat(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object {
  if (quirks.failedInside === 'error') return { error: { code: 502, message: 'Upstream error', type: 'server_error' } };
  const finish = quirks.failedInside ? 'error' : reply.finish === 'refusal' ? 'stop' : reply.finish;
  const choice = { index: 0, message: messageOf(reply, quirks, request), logprobs: null, finish_reason: finish };
  return {
    id: `chatcmpl-${request.number}`,
    object: 'chat.completion',
    created: Math.floor(request.at / 1000),
    model: reply.model,
    system_fingerprint: 'fp_fault_server',
    choices: quirks.empty ? [] : [choice],
    ...openaiUsage(reply, quirks.usage),
  };
}

export const openaiChat: Wire = { name: 'openai-chat', write: writeChat, writeError: openaiError };
export const azureChat: Wire = { name: 'azure-chat', write: writeChat, writeError: azureError };

const upstreamFailed = { error: { code: 502, message: 'Upstream error', type: 'server_error' } };

export const openaiCompletions: Wire = {
  name: 'openai-completions',
  write(reply, quirks, request) {
    if (quirks.failedInside) return upstreamFailed;
    return {
      id: `cmpl-${request.number}`,
      object: 'text_completion',
      created: Math.floor(request.at / 1000),
      model: reply.model,
      choices: quirks.empty ? [] : [{ index: 0, text: reply.text, logprobs: null, finish_reason: reply.finish }],
      ...openaiUsage(reply, quirks.usage),
    };
  },
  writeError: openaiError,
};
