import type { SeenRequest } from '../seen-request.ts';
import type { CountedReply, ErrorClass, ReplyQuirks, ServerError, Wire } from './wire.ts';

const types: Readonly<Record<ErrorClass, string>> = {
  rate_limited: 'rate_limit_error',
  tokens_limited: 'rate_limit_error',
  daily: 'rate_limit_error',
  quota: 'rate_limit_error',
  overloaded: 'overloaded_error',
  server: 'api_error',
  timeout: 'timeout_error',
  conflict: 'conflict_error',
  auth: 'authentication_error',
  region: 'permission_error',
  not_found: 'not_found_error',
  context_length: 'invalid_request_error',
  content_filter: 'invalid_request_error',
  too_large: 'rate_limit_error',
  skewed_clock: 'authentication_error',
  invalid: 'invalid_request_error',
};

function writeError(error: ServerError): object {
  const details = error.class === 'quota' ? { details: { error_code: 'enforced_spend_limit_reached' } } : {};
  return { type: 'error', error: { type: types[error.class], message: error.message, ...details } };
}

/** Raw argument strings: an object goes out as it is, everything else is put where a broken input would stand. */
export function inputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function contentOf(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object[] {
  if (quirks.empty) return [];
  const parts: object[] = [];
  if (reply.reasoning !== undefined) parts.push({ type: 'thinking', thinking: reply.reasoning, signature: 'sig' });
  if (!quirks.nullContent && reply.text !== '') parts.push({ type: 'text', text: reply.text });
  for (const [at, call] of (reply.toolCalls ?? []).entries()) {
    const id = call.id ?? `toolu_${request.number}_${at}`;
    parts.push({ type: 'tool_use', id, name: call.name, input: inputOf(call.arguments) });
  }
  return parts;
}

const stops: Readonly<Record<CountedReply['finish'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
};

function usageOf(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  const sign = quirk === 'negative' ? -1 : quirk === 'zero' ? 0 : 1;
  const cached = reply.usage?.cached ?? 0;
  return {
    usage: {
      input_tokens: sign * Math.max(0, reply.inputTokens - cached),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: sign * reply.outputTokens,
    },
  };
}

export const anthropicMessages: Wire = {
  name: 'anthropic-messages',
  write(reply, quirks, request) {
    if (quirks.failedInside) return writeError({ status: 529, class: 'overloaded', message: 'Overloaded' });
    return {
      id: `msg_${request.number}`,
      type: 'message',
      role: 'assistant',
      model: reply.model,
      content: contentOf(reply, quirks, request),
      stop_reason: stops[reply.finish],
      stop_sequence: null,
      ...usageOf(reply, quirks.usage),
    };
  },
  writeError,
};
