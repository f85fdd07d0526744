import type { SeenRequest } from '../seen-request.ts';
import { inputOf } from './anthropic-messages.ts';
import type { CountedReply, ErrorClass, ReplyQuirks, ServerError, Wire } from './wire.ts';

const types: Readonly<Record<ErrorClass, string>> = {
  rate_limited: 'ThrottlingException',
  tokens_limited: 'ThrottlingException',
  daily: 'ThrottlingException',
  quota: 'ServiceQuotaExceededException',
  overloaded: 'ServiceUnavailableException',
  server: 'InternalServerException',
  timeout: 'ModelTimeoutException',
  conflict: 'ConflictException',
  auth: 'UnrecognizedClientException',
  region: 'AccessDeniedException',
  not_found: 'ResourceNotFoundException',
  context_length: 'ValidationException',
  content_filter: 'ValidationException',
  too_large: 'ValidationException',
  skewed_clock: 'InvalidSignatureException',
  invalid: 'ValidationException',
};

const stops: Readonly<Record<CountedReply['finish'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
  refusal: 'guardrail_intervened',
};

function contentOf(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object[] {
  if (quirks.empty) return [];
  const parts: object[] = [];
  if (reply.reasoning !== undefined) parts.push({ reasoningContent: { reasoningText: { text: reply.reasoning } } });
  if (!quirks.nullContent && reply.text !== '') parts.push({ text: reply.text });
  for (const [at, call] of (reply.toolCalls ?? []).entries()) {
    const toolUseId = call.id ?? `tooluse_${request.number}_${at}`;
    parts.push({ toolUse: { toolUseId, name: call.name, input: inputOf(call.arguments) } });
  }
  return parts;
}

function usageOf(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  const sign = quirk === 'negative' ? -1 : quirk === 'zero' ? 0 : 1;
  const cached = reply.usage?.cached;
  return {
    usage: {
      inputTokens: sign * reply.inputTokens,
      outputTokens: sign * reply.outputTokens,
      totalTokens: sign * (reply.inputTokens + reply.outputTokens),
      ...(cached ? { cacheReadInputTokens: cached, cacheWriteInputTokens: 0 } : {}),
    },
  };
}

const writeError = (error: ServerError): object => ({ message: error.message });

export const bedrockConverse: Wire = {
  name: 'bedrock-converse',
  write(reply, quirks, request) {
    if (quirks.failedInside) return { __type: 'ServiceUnavailableException', message: 'Upstream error' };
    return {
      output: quirks.empty ? {} : { message: { role: 'assistant', content: contentOf(reply, quirks, request) } },
      stopReason: stops[reply.finish],
      ...usageOf(reply, quirks.usage),
      metrics: { latencyMs: 1 },
    };
  },
  writeError,
  errorHeaders: (error) => ({ 'x-amzn-errortype': types[error.class] }),
};
