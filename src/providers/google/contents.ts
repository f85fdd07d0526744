import type { Json, JsonObject } from '../../domain/json.ts';
import type { ChatMessage } from '../../domain/message.ts';
import { readChatPrompt } from '../chat-prompt.ts';
import { asObject, listAt, textAt } from '../read-json.ts';
import { argumentsAsData } from '../tool-formats.ts';
import { type FormatProblem, problem } from '../wire-format.ts';

export interface GeminiPrompt {
  readonly contents: Json;
  readonly systemInstruction?: Json;
}

/** A prompt as its author wrote it: Gemini's own contents, messages in OpenAI form, or text. */
export function readGeminiPrompt(prompt: string): GeminiPrompt | FormatProblem {
  const read = readChatPrompt(prompt);
  if (!read.ok) return problem('invalid_request', read.reason);
  if (read.messages === undefined) return { contents: [{ role: 'user', parts: [{ text: read.text }] }] };
  return fromJson(read.messages);
}

function fromJson(written: Json): GeminiPrompt {
  const object = asObject(written);
  if (object !== undefined && 'parts' in object) return { contents: [object] };
  if (object !== undefined) {
    const system = object['system_instruction'] ?? object['systemInstruction'];
    return { contents: object['contents'] ?? [], ...(system === undefined ? {} : { systemInstruction: system }) };
  }
  const list = Array.isArray(written) ? written : [];
  if (list.some((item) => asObject(item)?.['parts'] !== undefined)) return withSystemApart(list);
  return withSystemApart(list.map(ownContent));
}

/** A message in OpenAI form, whose content may be text, a list of parts or one part. */
function ownContent(item: Json): Json {
  const { role = 'user', content = '' } = asObject(item) ?? {};
  const parts = Array.isArray(content) ? content.map(ownPart) : [ownPart(content)];
  return { role: role === 'assistant' ? 'model' : role, parts };
}

function ownPart(part: Json): Json {
  if (typeof part === 'string') return { text: part };
  return textAt(part, 'type') === 'text' ? { text: textAt(part, 'text') ?? '' } : part;
}

/** Gemini takes the system's words apart from the turns, but not alone: then they are the user's. */
function withSystemApart(contents: readonly Json[]): GeminiPrompt {
  const isSystem = (item: Json): boolean => textAt(item, 'role') === 'system';
  const parts = contents.filter(isSystem).flatMap((item) => listAt(item, 'parts'));
  const turns = contents.filter((item) => !isSystem(item));
  if (parts.length === 0) return { contents: turns };
  if (turns.length === 0) return { contents: [{ role: 'user', parts }] };
  return { contents: turns, systemInstruction: { parts } };
}

/** Messages in OpenAI form, said in Gemini's; tool results are named by the call they answer. */
export function toGeminiContents(messages: readonly ChatMessage[]): GeminiPrompt {
  const names = new Map<string, string>();
  const turns: { role: string; parts: Json[] }[] = [];
  const push = (role: string, part: Json): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(part);
    else turns.push({ role, parts: [part] });
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const name = names.get(message.tool_call_id) ?? message.name ?? 'tool';
      push('user', { functionResponse: { name, response: resultOf(message.content) } });
      continue;
    }
    const role = message.role === 'assistant' ? 'model' : message.role;
    if (message.content !== '' || message.role !== 'assistant') push(role, { text: message.content });
    if (message.role !== 'assistant') continue;
    for (const { id, function: call } of message.tool_calls ?? []) {
      names.set(id, call.name);
      push('model', { functionCall: { name: call.name, args: argumentsAsData(call.arguments) } });
    }
  }
  return withSystemApart(turns);
}

const resultOf = (content: string): JsonObject => {
  const data = argumentsAsData(content);
  return 'text' in data && Object.keys(data).length === 1 ? { result: content } : data;
};
