import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Outcome, ProviderFailure, Reply, Usage } from '../../domain/reply.ts';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A failure of a user's program: this call's own, and no other's. */
export const programFailure = (id: string, message: string, raw?: string): ProviderFailure => ({
  kind: 'failure',
  code: 'program',
  message: `${id}: ${message}`,
  retryable: false,
  billed: 'maybe',
  ...(raw === undefined ? {} : { raw }),
});

const numberAt = (value: Record<string, unknown>, name: string): number | undefined => {
  const number = value[name];
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
};

function usageOf(response: Record<string, unknown>): Usage | undefined {
  const told = response['tokenUsage'];
  if (!isObject(told)) return undefined;
  const parts = {
    inputTokens: numberAt(told, 'prompt'),
    outputTokens: numberAt(told, 'completion'),
    cachedInputTokens: numberAt(told, 'cached'),
  };
  const said = Object.entries(parts).filter(([, count]) => count !== undefined);
  return said.length === 0 ? undefined : (Object.fromEntries(said) as Usage);
}

const reasons: readonly FinishReason[] = ['stop', 'length', 'tool_calls', 'content_filter', 'refusal'];

function finishOf(response: Record<string, unknown>, calls: number): FinishReason {
  if (response['isRefusal'] === true) return 'refusal';
  const told = response['finishReason'];
  if (typeof told !== 'string') return calls > 0 ? 'tool_calls' : 'stop';
  return reasons.find((reason) => reason === told) ?? 'other';
}

const toolCallsIn = (value: unknown): ToolCall[] =>
  Array.isArray(value)
    ? value.filter(
        (call): call is ToolCall =>
          isObject(call) && isObject(call['function']) && typeof call['function']['arguments'] === 'string',
      )
    : [];

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json;
const describe = (value: unknown): string => {
  const text = value === undefined ? 'undefined' : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
};

/** What else a response may carry, each where a reply has a place for it. */
function extrasOf(response: Record<string, unknown>): Partial<Reply> {
  const { metadata, cost, raw, reasoning, guardrails, embedding, classification } = response;
  const usage = usageOf(response);
  return {
    ...(isObject(metadata) ? { metadata: json(metadata) as JsonObject } : {}),
    ...(typeof cost === 'number' ? { costUsdMicros: cost * 1e6 } : {}),
    ...(usage === undefined ? {} : { usage }),
    ...(raw === undefined ? {} : { raw: typeof raw === 'string' ? raw : describe(raw) }),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(isObject(guardrails) && typeof guardrails['flagged'] === 'boolean' ? { flagged: guardrails['flagged'] } : {}),
    ...(Array.isArray(embedding) ? { embedding: embedding.map(Number) } : {}),
    ...(isObject(classification) ? { scores: classification as Record<string, number> } : {}),
  };
}

/** Whatever a program returned becomes a reply or a typed failure. `want` is the field that an answer must have. */
export function readResponse(id: string, value: unknown, want: 'output' | 'embedding' | 'classification'): Outcome {
  const shape = `it must return an object with "${want}" or "error"`;
  if (!isObject(value)) return programFailure(id, `${shape}, not ${describe(value)}.`);
  const { error } = value;
  if (error !== undefined && error !== null && error !== '') {
    return programFailure(id, typeof error === 'string' ? error : describe(error), describe(value));
  }
  if (value[want] === undefined || value[want] === null) return programFailure(id, `${shape}, not ${describe(value)}.`);
  const output = json(value['output'] ?? '');
  const toolCalls = toolCallsIn(value['toolCalls'] ?? value['tool_calls']);
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return {
    kind: 'reply',
    text,
    output,
    toolCalls,
    finishReason: finishOf(value, toolCalls.length),
    status: 200,
    raw: JSON.stringify(value) ?? '',
    flags: [],
    cached: value['cached'] === true,
    ...extrasOf(value),
  };
}
