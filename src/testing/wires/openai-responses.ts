import type { SeenRequest } from '../seen-request.ts';
import { openaiError } from './openai-errors.ts';
import type { CountedReply, ReplyQuirks, Wire } from './wire.ts';

function usageOf(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  const sign = quirk === 'negative' ? -1 : quirk === 'zero' ? 0 : 1;
  return {
    usage: {
      input_tokens: sign * reply.inputTokens,
      input_tokens_details: { cached_tokens: reply.usage?.cached ?? 0 },
      output_tokens: sign * reply.outputTokens,
      output_tokens_details: { reasoning_tokens: reply.usage?.reasoning ?? 0 },
      total_tokens: sign * (reply.inputTokens + reply.outputTokens),
    },
  };
}

function outputOf(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object[] {
  if (quirks.empty) return [];
  const items: object[] = [];
  if (reply.reasoning !== undefined) {
    const summary = [{ type: 'summary_text', text: reply.reasoning }];
    items.push({ type: 'reasoning', id: `rs_${request.number}`, summary });
  }
  const part =
    reply.finish === 'refusal'
      ? { type: 'refusal', refusal: reply.text }
      : { type: 'output_text', text: reply.text, annotations: [] };
  if (!quirks.nullContent && (reply.text !== '' || !reply.toolCalls?.length)) {
    items.push({
      type: 'message',
      id: `msg_${request.number}`,
      status: 'completed',
      role: 'assistant',
      content: [part],
    });
  }
  for (const [at, call] of (reply.toolCalls ?? []).entries()) {
    items.push({
      type: 'function_call',
      id: `fc_${request.number}_${at}`,
      call_id: call.id ?? `call_${request.number}_${at}`,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    });
  }
  return items;
}

const incomplete: Readonly<Partial<Record<CountedReply['finish'], string>>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

export const openaiResponses: Wire = {
  name: 'openai-responses',
  write(reply, quirks, request) {
    if (quirks.failedInside === 'error') return { error: { code: 'server_error', message: 'Upstream error' } };
    const failed = quirks.failedInside !== undefined;
    const reason = incomplete[reply.finish];
    return {
      id: `resp_${request.number}`,
      object: 'response',
      created_at: Math.floor(request.at / 1000),
      status: failed ? 'failed' : reason ? 'incomplete' : 'completed',
      error: failed ? { code: 'server_error', message: 'Upstream error' } : null,
      incomplete_details: reason ? { reason } : null,
      model: reply.model,
      output: failed ? [] : outputOf(reply, quirks, request),
      ...usageOf(reply, quirks.usage),
    };
  },
  writeError: openaiError,
};
