import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Json } from '../domain/json.ts';

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A conversation as text, with every tool call and its result, for a judge or a person. */
export function transcriptOf(result: Pick<ConversationResult, 'conversation_history' | 'final_state'>): string {
  const lines = result.conversation_history.flatMap((entry) => {
    const results = entry.tool_results ?? entry.client_tool_results ?? [];
    const calls = (entry.tool_calls ?? []).map(
      (call, at) => `    called ${call.function.name}(${call.function.arguments}) -> ${asText(results[at] ?? null)}`,
    );
    return [`${entry.turn}  ${entry.speaker}: ${entry.content}`, ...calls];
  });
  return result.final_state === undefined
    ? lines.join('\n')
    : [...lines, '', `Final state: ${JSON.stringify(result.final_state)}`].join('\n');
}
