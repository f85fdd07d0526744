import type { ChatMessage, ModelRequest, ToolCall, ToolDefinition } from '../../domain/message.ts';

type ChatRequest = Extract<ModelRequest, { kind: 'chat' }>;

/** A call and what came of it. */
export interface PastCall {
  readonly name: string;
  readonly arguments: string;
  readonly result: string | undefined;
  /** Made since the other side last spoke. */
  readonly thisTurn: boolean;
}

/** A conversation as the one who has to speak now sees it. */
export interface Dialogue {
  readonly system: string;
  /** What the other side said, oldest first; the engine's own remarks in brackets are left out. */
  readonly heard: readonly string[];
  readonly lastHeard: string;
  /** What this side said itself. */
  readonly said: readonly string[];
  readonly calls: readonly PastCall[];
  readonly tools: readonly ToolDefinition[];
  /** Who handed the conversation over just now. */
  readonly handedOverBy: string | undefined;
  /** True when the conversation was handed over to this side at any time. */
  readonly wasHandedOver: boolean;
  /** What colleagues told with their hand-overs. */
  readonly context: string;
}

/** The engine's opening remark to whoever speaks first. */
const isRemark = (text: string): boolean => /^\[[^\]]*\]$/.test(text.trim());

/** A prompt that is itself a message list, as config authors write it. */
function messagesOf(request: ChatRequest): readonly ChatMessage[] {
  if (request.messages) return request.messages;
  const prompt = request.prompt ?? '';
  if (/^\s*\[/.test(prompt)) {
    try {
      const parsed: unknown = JSON.parse(prompt);
      if (Array.isArray(parsed) && parsed.every((item) => typeof item?.role === 'string'))
        return parsed as ChatMessage[];
    } catch {
      // Not a list: a prompt that happens to begin with a bracket.
    }
  }
  return [{ role: 'user', content: prompt }];
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('\n')
      : '';

function pastCalls(messages: readonly ChatMessage[]): PastCall[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const results = new Map<string, string>();
  for (const message of messages)
    if (message.role === 'tool') results.set(message.tool_call_id, textOf(message.content));
  return messages.flatMap((message, at) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map((call) => ({
          name: call.function.name,
          arguments: call.function.arguments,
          result: results.get(call.id),
          thisTurn: at > lastUser,
        }))
      : [],
  );
}

interface HandOvers {
  by: string | undefined;
  ever: boolean;
  context: string;
  words: string[];
}

/** What hand-over messages hold: who, what they told, and the client's words that were missed. */
function handOvers(texts: readonly string[]): HandOvers {
  const all: HandOvers = { by: undefined, ever: false, context: '', words: [] };
  for (const text of texts) {
    const match = /^\[Handed over to you by ([^.\]]+)\./.exec(text);
    all.by = match?.[1];
    if (!match) {
      all.words.push(text);
      continue;
    }
    all.ever = true;
    all.context += `${/\[Context: ([\s\S]*?)\](?:\n|$)/.exec(text)?.[1] ?? ''}; `;
    all.words.push(...text.split('\n').flatMap((line) => /^Client: (.*)$/.exec(line)?.[1] ?? []));
  }
  return all;
}

/** Reads a request as a conversation. */
export function readDialogue(request: ChatRequest): Dialogue {
  const messages = messagesOf(request);
  const texts = (role: ChatMessage['role']): string[] =>
    messages.filter((message) => message.role === role).map((message) => textOf(message.content));
  const { by, ever, context, words } = handOvers(texts('user').filter((text) => !isRemark(text)));
  return {
    system: texts('system').join('\n'),
    heard: words,
    lastHeard: words.at(-1) ?? '',
    said: texts('assistant').filter((text) => text !== ''),
    calls: pastCalls(messages),
    tools: request.tools ?? [],
    handedOverBy: by,
    wasHandedOver: ever,
    context,
  };
}

/** What a simulated model decides to do. */
export interface SimAnswer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

export const say = (text: string): SimAnswer => ({ text, calls: [] });

/** Calls with ids that are stable for equal conversations. */
export const toolCallsOf = (answer: SimAnswer, identity: string): ToolCall[] =>
  answer.calls.map((call, at) => ({
    id: `call_sim_${identity}_${at}`,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));

export const farewell = /\b(?:good ?bye|bye|that(?:'s| is) all|nothing else|no,? thank(?:s| you)|hang up)\b/iu;
