import type { Json, JsonObject } from '../../domain/json.ts';
import type { ChatMessage } from '../../domain/message.ts';
import { asObject, textAt } from '../read-json.ts';
import { argumentsAsData } from '../tool-formats.ts';

export interface AnthropicPrompt {
  readonly system?: Json;
  readonly messages: readonly Json[];
  readonly thinking?: Json;
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text });

/** A prompt as its author wrote it: a JSON list of messages, or lines of which some start with a role. */
export function readAnthropicPrompt(prompt: string): AnthropicPrompt {
  const listed = jsonList(prompt);
  return listed === undefined ? fromLines(prompt) : fromList(listed);
}

function jsonList(prompt: string): readonly Json[] | undefined {
  if (!prompt.trimStart().startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(prompt);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fromList(list: readonly Json[]): AnthropicPrompt {
  const system = list.find((message) => textAt(message, 'role') === 'system');
  const thinking = list.map((message) => asObject(message)?.['thinking']).find((value) => value !== undefined);
  return {
    messages: list
      .filter((message) => textAt(message, 'role') !== undefined && textAt(message, 'role') !== 'system')
      .map(ownMessage),
    ...(system === undefined ? {} : { system: blocks(asObject(system)?.['content'] ?? '') }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

const blocks = (content: Json): Json => (Array.isArray(content) ? content : [textBlock(String(content))]);

const ownMessage = (message: Json): Json => {
  const { role = '', content = '' } = asObject(message) ?? {};
  return { role, content: Array.isArray(content) ? content.map(unwrapImage) : blocks(content) };
};

/** An image given as a data URL is taken apart, as the API wants it. */
function unwrapImage(block: Json): Json {
  const source = asObject(asObject(block)?.['source']);
  const url = /^data:([^;,]+);base64,(.*)$/s.exec(textAt(source, 'data') ?? '');
  if (textAt(block, 'type') !== 'image' || source === undefined || url === null) return block;
  return {
    ...asObject(block),
    source: { ...source, media_type: source['media_type'] ?? url[1] ?? '', data: url[2] ?? '' },
  };
}

function fromLines(prompt: string): AnthropicPrompt {
  let system: Json | undefined;
  let thinking: Json | undefined;
  const turns: { role: string; lines: string[] }[] = [];
  for (const line of prompt
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '')) {
    const [, role, rest = ''] = /^(system|thinking|user|assistant):(.*)$/.exec(line) ?? [];
    const current = turns.at(-1);
    if (role === 'system') system = [textBlock(rest.trim())];
    else if (role === 'thinking') thinking = parsed(rest) ?? thinking;
    else if (role !== undefined) turns.push({ role, lines: [rest.trim()] });
    else if (current === undefined) turns.push({ role: 'user', lines: [line] });
    else current.lines.push(line);
  }
  if (turns.length === 0 && system === undefined) turns.push({ role: 'user', lines: [prompt.trim()] });
  return {
    messages: turns.map(({ role, lines }) => ({ role, content: [textBlock(lines.join('\n'))] })),
    ...(system === undefined ? {} : { system }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Messages in OpenAI form, said in Anthropic's: system apart, tool calls and results as blocks, results together. */
export function toAnthropicMessages(messages: readonly ChatMessage[]): AnthropicPrompt {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => textBlock(content));
  const turns: { role: string; content: Json[] }[] = [];
  const push = (role: string, content: Json): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(content);
    else turns.push({ role, content: [content] });
  };
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      push('user', { type: 'tool_result', tool_use_id: message.tool_call_id, content: message.content });
      continue;
    }
    if (message.content !== '' || message.role === 'user') push(message.role, textBlock(message.content));
    if (message.role !== 'assistant') continue;
    for (const { id, function: call } of message.tool_calls ?? []) {
      push('assistant', { type: 'tool_use', id, name: call.name, input: argumentsAsData(call.arguments) });
    }
  }
  return { messages: turns, ...(system.length === 0 ? {} : { system }) };
}
