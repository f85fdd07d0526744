import { inputOf } from './anthropic-messages.ts';
import { vectorOf } from './openai-vectors.ts';
import type { CountedReply, ErrorClass, ReplyQuirks, ServerError, Wire } from './wire.ts';

const statuses: Readonly<Record<ErrorClass, string>> = {
  rate_limited: 'RESOURCE_EXHAUSTED',
  tokens_limited: 'RESOURCE_EXHAUSTED',
  daily: 'RESOURCE_EXHAUSTED',
  quota: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  server: 'INTERNAL',
  timeout: 'DEADLINE_EXCEEDED',
  conflict: 'ABORTED',
  auth: 'UNAUTHENTICATED',
  region: 'FAILED_PRECONDITION',
  not_found: 'NOT_FOUND',
  context_length: 'INVALID_ARGUMENT',
  content_filter: 'INVALID_ARGUMENT',
  too_large: 'INVALID_ARGUMENT',
  skewed_clock: 'UNAUTHENTICATED',
  invalid: 'INVALID_ARGUMENT',
};

const quotaIds: Readonly<Partial<Record<ErrorClass, string>>> = {
  rate_limited: 'GenerateRequestsPerMinutePerProjectPerModel',
  tokens_limited: 'GenerateContentInputTokensPerModelPerMinute',
  daily: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
};

function detailsOf(error: ServerError): object {
  const quotaId = quotaIds[error.class];
  const details: object[] = [];
  if (quotaId) {
    const quotaMetric = 'generativelanguage.googleapis.com/generate_content_requests';
    details.push({ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaMetric, quotaId }] });
  }
  if (quotaId && error.retryAfterMs !== undefined) {
    const retryDelay = `${error.retryAfterMs / 1000}s`;
    details.push({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
  }
  return details.length > 0 ? { details } : {};
}

const writeError = (error: ServerError): object => ({
  error: { code: error.status, message: error.message, status: statuses[error.class], ...detailsOf(error) },
});

const finishes: Readonly<Record<CountedReply['finish'], string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
};

function partsOf(reply: CountedReply, quirks: ReplyQuirks): object[] {
  const parts: object[] = [];
  if (reply.reasoning !== undefined) parts.push({ text: reply.reasoning, thought: true });
  if (!quirks.nullContent && reply.text !== '') parts.push({ text: reply.text });
  for (const call of reply.toolCalls ?? []) {
    parts.push({ functionCall: { name: call.name, args: inputOf(call.arguments) } });
  }
  return parts;
}

function usageOf(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  const sign = quirk === 'negative' ? -1 : quirk === 'zero' ? 0 : 1;
  return {
    usageMetadata: {
      promptTokenCount: sign * reply.inputTokens,
      candidatesTokenCount: sign * reply.outputTokens,
      totalTokenCount: sign * (reply.inputTokens + reply.outputTokens),
      ...(reply.usage?.cached ? { cachedContentTokenCount: reply.usage.cached } : {}),
      ...(reply.usage?.reasoning ? { thoughtsTokenCount: reply.usage.reasoning } : {}),
    },
  };
}

export const gemini: Wire = {
  name: 'gemini',
  write(reply, quirks) {
    if (quirks.failedInside)
      return writeError({ status: 503, class: 'overloaded', message: 'The model is overloaded.' });
    const content = { role: 'model', parts: partsOf(reply, quirks) };
    const candidate = { index: 0, content, finishReason: finishes[reply.finish] };
    return {
      ...(quirks.empty ? {} : { candidates: [candidate] }),
      ...usageOf(reply, quirks.usage),
      modelVersion: reply.model,
    };
  },
  writeError,
  statusOf: (error) => (error.class === 'region' ? 400 : error.status),
};

export const geminiEmbeddings: Wire = {
  name: 'gemini-embeddings',
  write: (_reply, quirks, request) => (quirks.empty ? {} : { embedding: { values: vectorOf(request.prompt) } }),
  writeError,
};
