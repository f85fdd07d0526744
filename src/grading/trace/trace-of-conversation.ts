import type { HistoryEntry } from '../../domain/conversation-result.ts';
import { isObject, type Json } from '../../domain/json.ts';

import type { Conversation, Trace } from '../subject.ts';
import { type TracedStep, traceOfSteps } from './trace-of-steps.ts';

/** A tool that failed answers `{error}`; so does the engine for it. */
const errorIn = (result: Json | undefined): { error?: string } =>
  isObject(result) && typeof result['error'] === 'string' ? { error: result['error'] } : {};

/** One speaker's part of a turn: its model call, then the tools it called, which share what is left of the time. */
function stepsOfEntry(entry: HistoryEntry, position: number): TracedStep[] {
  const startedAt = Date.parse(entry.started_at);
  const endedAt = Math.max(startedAt, Date.parse(entry.timestamp));
  const spoken = Math.min(endedAt, startedAt + entry.queue_ms + entry.latency_ms);
  const path = `${entry.turn}/${position}`;
  const model: TracedStep[] =
    entry.scripted === true
      ? []
      : [{ path, kind: 'model', name: entry.speaker, role: entry.speaker, startedAt, endedAt: spoken }];
  const results = entry.tool_results ?? entry.client_tool_results ?? [];
  const tools = (entry.tool_calls ?? []).map(
    (call, at): TracedStep => ({
      path: `${path}/${at}`,
      kind: 'tool',
      name: call.function.name,
      arguments: call.function.arguments,
      role: entry.speaker,
      startedAt: spoken,
      endedAt,
      ...errorIn(results[at]),
    }),
  );
  return [...model, ...tools];
}

/** A conversation as a trace: what each speaker said is a span `chat <speaker>`, each tool call `execute_tool <tool>`. */
export const traceOfConversation = (conversation: Conversation): Trace =>
  traceOfSteps(conversation.scenario ?? 'conversation', conversation.conversation_history.flatMap(stepsOfEntry));
