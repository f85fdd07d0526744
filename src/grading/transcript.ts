import type { HistoryEntry } from '../domain/conversation-result.ts';
import type { Json } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';
import type { Conversation } from './subject.ts';

export type Speakers = 'agent' | 'client' | 'all';

const isClient = ({ speaker }: HistoryEntry): boolean => speaker === 'client';

function entriesOf(conversation: Conversation, speakers: Speakers): readonly HistoryEntry[] {
  if (speakers === 'all') return conversation.conversation_history;
  return conversation.conversation_history.filter((entry) => isClient(entry) === (speakers === 'client'));
}

/** The words alone, one speaker's part to a line. */
export const spokenText = (conversation: Conversation, speakers: Speakers): string =>
  entriesOf(conversation, speakers)
    .map((entry) => entry.content)
    .filter((content) => content !== '')
    .join('\n');

const callLine = (call: ToolCall, result: Json | undefined): string => {
  const shown = result === undefined ? '' : ` -> ${typeof result === 'string' ? result : JSON.stringify(result)}`;
  return `  [tool ${call.function.name} ${call.function.arguments}${shown}]`;
};

/** Everything that happened, for a reader: who said what, which tools were called and what they gave. */
export function transcriptText(conversation: Conversation, speakers: Speakers): string {
  return entriesOf(conversation, speakers)
    .flatMap((entry) => {
      const results = entry.tool_results ?? entry.client_tool_results ?? [];
      const calls = (entry.tool_calls ?? []).map((call, at) => callLine(call, results[at]));
      return [`${entry.turn}. ${entry.speaker}: ${entry.content}`, ...calls];
    })
    .join('\n');
}

/** Every tool call of a conversation in order, with who made it. */
export const toolCallsOf = (conversation: Conversation, speakers: Speakers): readonly ToolCall[] =>
  entriesOf(conversation, speakers).flatMap((entry) => entry.tool_calls ?? []);

/** The agents in the order in which they held the conversation. */
export function handoffPathOf(conversation: Conversation): readonly string[] {
  const told = conversation.metrics?.handoff_path;
  if (told !== undefined) return told;
  const path: string[] = [];
  for (const entry of entriesOf(conversation, 'agent')) {
    const agent = entry.speaker.replace(/^agent_/, '');
    if (path.at(-1) !== agent) path.push(agent);
  }
  return path;
}
