/**
 * Recorded conversations of other tools, as results of the contract. Its job: OpenAI-style messages to turns, tool calls
 * paired with their results by order, because ids are reused in the wild. Not its job: reading files, storing runs.
 */
import type {
  ConversationResult,
  HistoryEntry,
  RecordedToolCall,
  Round,
  TerminationReason,
} from '../domain/conversation-result.ts';
import type { EpochMillis } from '../domain/ids.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import { parseToolResult } from '../tools/parse-result.ts';
import { isoTime } from './entry-draft.ts';

export interface ImportedConversation {
  readonly name: string;
  readonly repeat: number;
  readonly result: ConversationResult;
  /** 1 is success, anything else is not; null when the recording does not say. */
  readonly reward: number | null;
}

export interface ImportSource {
  readonly name: string;
  readonly repeat: number;
  readonly messages: readonly Json[];
  readonly variables: JsonObject;
  readonly reward: number | null;
  /** Of the recording, so that a file imported twice is the same. */
  readonly sessionId: string;
  readonly format: string;
  readonly importedAt: EpochMillis;
  /** Tells how it ended, as far as the format shows it. */
  readonly ended: (last: HistoryEntry | undefined) => TerminationReason;
}

interface Message {
  readonly role: string;
  readonly content: string;
  readonly calls: readonly RecordedToolCall[];
}

/** Text of a message: a string, or the text parts of a list. */
function contentOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
  return content === undefined || content === null ? '' : JSON.stringify(content);
}

function callOf(call: Json, at: number): RecordedToolCall {
  const wanted = isObject(call) && isObject(call['function']) ? call['function'] : {};
  const args = wanted['arguments'];
  return {
    id: isObject(call) && typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : `call_${at}`,
    type: 'function',
    function: {
      name: String(wanted['name'] ?? ''),
      arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    },
  };
}

function messageOf(message: Json): Message | undefined {
  if (!isObject(message) || typeof message['role'] !== 'string') return undefined;
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].map(callOf) : [];
  return { role: message['role'], content: contentOf(message['content']), calls };
}

/** Collects one speaker's part of a turn. */
interface Part {
  readonly turn: number;
  readonly side: 'agent' | 'client';
  readonly rounds: Round[];
  readonly calls: RecordedToolCall[];
  readonly results: Json[];
}

/** The turns of a message list. System messages are prompts and leave no entry. */
export function historyOf(messages: readonly Json[], at: EpochMillis): HistoryEntry[] {
  const spoken = messages
    .flatMap((message) => messageOf(message) ?? [])
    .filter(({ role }) => role !== 'system' && role !== 'developer');
  const opener = spoken[0]?.role === 'user' ? 'client' : 'agent';
  const parts: Part[] = [];
  for (const message of spoken) {
    if (message.role === 'tool' || message.role === 'function') {
      const last = parts.at(-1);
      if (last !== undefined && last.results.length < last.calls.length)
        last.results.push(parseToolResult(message.content));
      continue;
    }
    const side = message.role === 'user' ? 'client' : 'agent';
    addTo(partFor(parts, side, opener), message);
  }
  return parts.map((part) => entryOf(part, isoTime(at)));
}

function partFor(parts: Part[], side: 'agent' | 'client', opener: string): Part {
  const last = parts.at(-1);
  if (last?.side === side) return last;
  const turn = last === undefined ? 1 : side === opener ? last.turn + 1 : last.turn;
  const part: Part = { turn, side, rounds: [], calls: [], results: [] };
  parts.push(part);
  return part;
}

function addTo(part: Part, message: Message): void {
  part.rounds.push({
    content: message.content,
    queue_ms: 0,
    latency_ms: 0,
    ...(message.calls.length === 0 ? {} : { tool_calls: message.calls }),
  });
  part.calls.push(...message.calls);
}

function entryOf(part: Part, time: string): HistoryEntry {
  const content = part.rounds
    .map((round) => round.content)
    .filter((text) => text !== '')
    .join('\n');
  const results = part.calls.map((_, at) => part.results[at] ?? null);
  return {
    turn: part.turn,
    speaker: part.side === 'client' ? 'client' : 'agent_agent',
    content: part.side === 'client' && content === '' ? '[no words recorded]' : content,
    ...(part.calls.length === 0
      ? {}
      : {
          tool_calls: part.calls,
          ...(part.side === 'client' ? { client_tool_results: results } : { tool_results: results }),
        }),
    timestamp: time,
    started_at: time,
    queue_ms: 0,
    latency_ms: 0,
    ...(part.rounds.length > 1 || part.calls.length > 0 ? { rounds: part.rounds } : {}),
  };
}

export function importMessages(source: ImportSource): ImportedConversation {
  const history = historyOf(source.messages, source.importedAt);
  const calls = history.flatMap(({ tool_calls: made }) => made ?? []);
  const turns = history.at(-1)?.turn ?? 0;
  const time = isoTime(source.importedAt);
  const result: ConversationResult = {
    session_id: source.sessionId,
    scenario: source.name,
    status: 'completed',
    total_turns: turns,
    duration_seconds: 0,
    conversation_history: history,
    start_time: time,
    end_time: time,
    tools_used: true,
    termination_reason: source.ended(history.at(-1)),
    working_seconds: 0,
    tool_call_count: calls.length,
    prompt_spec_name: `imported:${source.format}`,
    prompt_version: '-',
    prompt_spec_hash: '-',
    warnings: [`Imported from ${source.format}: times, tokens and cost are not known.`],
    failures: [],
    metrics: {
      turns,
      tool_calls: calls.length,
      tool_errors: 0,
      tools: countNames(calls),
      handoff_path: ['agent'],
      ping_pong: 0,
      dead_handoffs: 0,
      invalid_handoffs: 0,
      per_role: {},
      cost_usd: null,
      queue_ms: 0,
      provider_ms: 0,
      tool_ms: 0,
    },
    variables: source.variables,
  };
  return { name: source.name, repeat: source.repeat, result, reward: source.reward };
}

function countNames(calls: readonly RecordedToolCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const call of calls) counts[call.function.name] = (counts[call.function.name] ?? 0) + 1;
  return counts;
}
