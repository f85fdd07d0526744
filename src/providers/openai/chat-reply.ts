import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Usage } from '../../domain/reply.ts';
import { asObject, at, countAt, listAt, objectAt, textAt } from '../read-json.ts';
import { type FormatProblem, problem, type ReplyDraft, usageOf } from '../wire-format.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** What vendors of this format say they counted. */
export const chatUsage = (body: Json): Usage | undefined =>
  usageOf({
    inputTokens: countAt(body, 'usage', 'prompt_tokens'),
    outputTokens: countAt(body, 'usage', 'completion_tokens'),
    cachedInputTokens:
      countAt(body, 'usage', 'prompt_tokens_details', 'cached_tokens') ??
      countAt(body, 'usage', 'cached_tokens') ??
      countAt(body, 'usage', 'prompt_cache_hit_tokens'),
    reasoningTokens: countAt(body, 'usage', 'completion_tokens_details', 'reasoning_tokens'),
  });

/** Tool calls as the model wrote them: arguments are text and stay text. */
export function toolCallsOf(message: JsonObject): readonly ToolCall[] {
  const calls = listAt(message, 'tool_calls').map((call) =>
    toolCall(textAt(call, 'id') ?? '', objectAt(call, 'function')),
  );
  const legacy = objectAt(message, 'function_call');
  return legacy === undefined ? calls : [...calls, toolCall('', legacy)];
}

function toolCall(id: string, call: JsonObject | undefined): ToolCall {
  const args = call?.['arguments'];
  const text = typeof args === 'string' ? args : args === undefined ? '' : JSON.stringify(args);
  return { id, type: 'function', function: { name: textAt(call, 'name') ?? '', arguments: text } };
}

export interface ChatReading {
  /** The answer was asked to follow a JSON schema, so an eval grades it as data. */
  readonly parsesJson: boolean;
  readonly showThinking: boolean;
  /** Tool calls are the output even beside words, and thoughts stand in for missing words (OpenRouter). */
  readonly callsFirst?: boolean;
}

/** A chat completion as a reply, with an eval's output as promptfoo forms it. */
export function readChat(body: Json, reading: ChatReading): ReplyDraft | FormatProblem {
  const choice = at(body, 'choices', 0);
  const message = objectAt(choice, 'message');
  if (message === undefined) return problem('empty_response', 'the answer holds no choices.');
  const raw = textAt(choice, 'finish_reason');
  if (raw === 'error')
    return problem('error_answer', `the model failed: ${textAt(choice, 'error', 'message') ?? 'no reason given'}`);
  const content = contentText(message['content']);
  const reasoning = textAt(message, 'reasoning') ?? textAt(message, 'reasoning_content');
  const toolCalls = toolCallsOf(message);
  const common = {
    kind: 'draft' as const,
    toolCalls,
    reasoning,
    usage: chatUsage(body),
    finishReasonRaw: raw,
    servedModel: textAt(body, 'model'),
    fingerprint: textAt(body, 'system_fingerprint'),
  };
  const refusal = textAt(message, 'refusal');
  if (refusal !== undefined && refusal !== '') {
    return { ...common, text: refusal, output: refusal, finishReason: 'refusal', flagged: true };
  }
  if (raw === 'content_filter') {
    const text = content === '' ? 'Content filtered by provider' : content;
    return { ...common, text, output: text, finishReason: 'content_filter', flagged: true };
  }
  const output = outputOf(message, content, reading);
  const choices = listAt(body, 'choices');
  return {
    ...common,
    text: content,
    output,
    finishReason:
      finishReasons[raw ?? ''] ?? (toolCalls.length > 0 ? 'tool_calls' : raw === undefined ? 'stop' : 'other'),
    ...(content === '' && toolCalls.length === 0 ? { flags: ['empty-content'] } : {}),
    ...(choices.length > 1 ? { metadata: { choices: choices as Json } } : {}),
  };
}

/** Some vendors answer with a list of parts. */
function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => textAt(part, 'text') ?? '').join('') : '';
}

function outputOf(message: JsonObject, content: string, reading: ChatReading): Json {
  const calls = message['function_call'] ?? message['tool_calls'];
  const reasoning = textAt(message, 'reasoning');
  const hidden = textAt(message, 'reasoning_content');
  let output: Json = spoken(message, content, calls, reasoning);
  if (reading.callsFirst && isCall(calls)) return calls ?? output;
  if (reading.callsFirst && content.trim() === '' && reasoning) return reading.showThinking ? reasoning : '';
  if (reading.parsesJson && typeof output === 'string') output = parsedOr(output);
  if (reasoning && typeof output === 'string' && reading.showThinking) output = `Thinking: ${reasoning}\n\n${output}`;
  if (hidden && typeof output === 'string' && reading.showThinking) output = `Thinking: ${hidden}\n\n${output}`;
  const transcript = textAt(message, 'audio', 'transcript');
  return transcript ?? output;
}

function spoken(message: JsonObject, content: string, calls: Json | undefined, reasoning: string | undefined): Json {
  if (reasoning) return content;
  if (!isCall(calls)) return content;
  return content === '' ? (calls ?? content) : message;
}

const isCall = (calls: Json | undefined): boolean =>
  asObject(calls) !== undefined || (Array.isArray(calls) && calls.length > 0);

export function parsedOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
