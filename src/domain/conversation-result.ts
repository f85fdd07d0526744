import type { Json, JsonObject } from './json.ts';
import type { ToolCall } from './message.ts';

/**
 * A conversation's result as other programs read it: the contract's fields under the contract's names, in every
 * outcome. Everything beyond the contract is an addition and stands beside it.
 */

export type ConversationStatus = 'completed' | 'failed' | 'failed_api_blocked';

/** Why a conversation ended. */
export type TerminationReason =
  | 'end_call_client'
  | 'end_call_agent'
  | 'end_marker'
  | 'max_turns'
  | 'timeout'
  | 'tool_loop'
  | 'max_cost'
  | 'error'
  | 'aborted'
  | 'api_blocked';

/** A tool call as history keeps it. */
export interface RecordedToolCall extends ToolCall {
  /** The model's own id, where it was missing, empty or used before. */
  readonly original_id?: string;
}

/** One model reply within an entry, when there were several. */
export interface Round {
  readonly content: string;
  readonly tool_calls?: readonly RecordedToolCall[];
  readonly queue_ms: number;
  readonly latency_ms: number;
  readonly served_model?: string;
  readonly fingerprint?: string;
}

/** One speaker's part of a turn. */
export interface HistoryEntry {
  readonly turn: number;
  /** `agent` and `client` in basic mode; `agent_{name}` and `client` with tools. */
  readonly speaker: string;
  /** Never null; empty only for an agent that made tool calls without words. */
  readonly content: string;
  readonly tool_calls?: readonly RecordedToolCall[];
  /** Aligned with `tool_calls` by position; agents only. */
  readonly tool_results?: readonly Json[];
  /** Aligned with `tool_calls` by position; client only. */
  readonly client_tool_results?: readonly Json[];
  /** ISO 8601, UTC: when the entry was complete. */
  readonly timestamp: string;
  readonly started_at: string;
  readonly queue_ms: number;
  readonly latency_ms: number;
  readonly tool_ms?: number;
  readonly rounds?: readonly Round[];
  /** True when the words came from the scenario's script instead of a model. */
  readonly scripted?: boolean;
  readonly finish_reason?: string;
}

/** A failure that did not end the conversation, with what is needed to find its cause. */
export interface LoggedFailure {
  readonly turn: number;
  readonly speaker: string;
  readonly kind: 'tool' | 'handoff' | 'webhook' | 'reply';
  readonly path: string;
  readonly message: string;
  readonly tool?: string;
  readonly arguments?: string;
}

export interface RoleUsage {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  /** Null when any call of the role has no known price. */
  readonly cost_usd: number | null;
  /** Calls whose usage or price the provider did not tell. */
  readonly unknown_usage_calls: number;
}

export interface ConversationMetrics {
  readonly turns: number;
  readonly tool_calls: number;
  readonly tool_errors: number;
  /** Calls per tool name, handoffs and end_call included. */
  readonly tools: Readonly<Record<string, number>>;
  /** Agents in the order in which they held the conversation. */
  readonly handoff_path: readonly string[];
  /** How often a handoff went straight back to where the last one came from. */
  readonly ping_pong: number;
  /** Handoffs after which the target neither spoke nor called a tool. */
  readonly dead_handoffs: number;
  readonly invalid_handoffs: number;
  readonly per_role: Readonly<Record<string, RoleUsage>>;
  readonly cost_usd: number | null;
  readonly queue_ms: number;
  readonly provider_ms: number;
  readonly tool_ms: number;
}

export interface ConversationResult {
  readonly session_id: string;
  readonly scenario: string;
  readonly status: ConversationStatus;
  readonly total_turns: number;
  /** Wall time in which it was played: of turns kept by a fork or a resume as recorded, without the time between. */
  readonly duration_seconds: number;
  readonly conversation_history: readonly HistoryEntry[];
  readonly start_time: string;
  readonly end_time: string;
  readonly error?: string;
  readonly error_type?: string;
  /** Always true with tools, absent without; `tool_call_count` tells the truth. */
  readonly tools_used?: true;

  readonly termination_reason: TerminationReason;
  /** Present when blocked by geography. */
  readonly graceful_degradation?: true;
  readonly partial_completion?: boolean;
  /** Time of providers and tools, without queues: what `timeout_sec` counts. */
  readonly working_seconds: number;
  readonly tool_call_count: number;
  readonly error_code?: string;
  readonly prompt_spec_name: string;
  readonly prompt_version: string;
  readonly prompt_spec_hash: string;
  readonly seed?: number;
  readonly warnings: readonly string[];
  readonly failures: readonly LoggedFailure[];
  readonly metrics: ConversationMetrics;
  /** The world of the `state` tools when the conversation ended; absent when the specification has none. */
  readonly final_state?: Json;
  readonly variables: JsonObject;

  /** Set by scoring; a failed evaluation has no score. */
  readonly evaluation_status?: 'completed' | 'failed' | 'skipped';
  readonly score?: number | null;
  readonly comment?: string;
}

/** The conversation's result, when the row holds one. */
export function resultOf({ detail }: { readonly detail?: Json }): ConversationResult | undefined {
  const isResult = typeof detail === 'object' && detail !== null && 'conversation_history' in detail;
  return isResult ? (detail as unknown as ConversationResult) : undefined;
}
