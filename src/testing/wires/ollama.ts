import { inputOf } from './anthropic-messages.ts';
import { vectorOf } from './openai-vectors.ts';
import type { CountedReply, ReplyQuirks, ServerError, Wire } from './wire.ts';

const writeError = (error: ServerError): object => ({ error: error.message });

function countsOf(reply: CountedReply, quirk: ReplyQuirks['usage']): object {
  if (quirk === 'absent') return {};
  const sign = quirk === 'negative' ? -1 : quirk === 'zero' ? 0 : 1;
  return { prompt_eval_count: sign * reply.inputTokens, eval_count: sign * reply.outputTokens };
}

const doneReason = (reply: CountedReply): string => (reply.finish === 'length' ? 'length' : 'stop');

export const ollamaChat: Wire = {
  name: 'ollama-chat',
  write(reply, quirks, request) {
    if (quirks.failedInside) return { error: 'model runner has unexpectedly stopped' };
    const calls = reply.toolCalls?.map((call) => ({
      function: { name: call.name, arguments: inputOf(call.arguments) },
    }));
    const message = {
      role: 'assistant',
      content: quirks.nullContent ? '' : reply.text,
      ...(reply.reasoning === undefined ? {} : { thinking: reply.reasoning }),
      ...(calls ? { tool_calls: calls } : {}),
    };
    return {
      model: reply.model,
      created_at: new Date(request.at).toISOString(),
      ...(quirks.empty ? {} : { message }),
      done: true,
      done_reason: doneReason(reply),
      ...countsOf(reply, quirks.usage),
    };
  },
  writeError,
};

export const ollamaGenerate: Wire = {
  name: 'ollama-generate',
  write(reply, quirks, request) {
    if (quirks.failedInside) return { error: 'model runner has unexpectedly stopped' };
    return {
      model: reply.model,
      created_at: new Date(request.at).toISOString(),
      ...(quirks.empty ? {} : { response: quirks.nullContent ? '' : reply.text }),
      ...(reply.reasoning === undefined ? {} : { thinking: reply.reasoning }),
      done: true,
      done_reason: doneReason(reply),
      ...countsOf(reply, quirks.usage),
    };
  },
  writeError,
};

export const ollamaEmbeddings: Wire = {
  name: 'ollama-embeddings',
  write: (reply, quirks, request) => {
    if (quirks.failedInside) return { error: 'model runner has unexpectedly stopped' };
    const vector = vectorOf(request.prompt);
    return quirks.empty ? { model: reply.model } : { model: reply.model, embedding: vector, embeddings: [vector] };
  },
  writeError,
};
