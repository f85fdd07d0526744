import type {
  ConversationResult,
  ConversationStatus,
  HistoryEntry,
  TerminationReason,
} from '../domain/conversation-result.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Ending } from './ending.ts';
import { isoTime } from './entry-draft.ts';
import type { Ledger } from './ledger.ts';
import type { ConversationSetup } from './setup.ts';

/** What is known when a conversation is over, in whatever way. */
export interface ResultFacts {
  readonly setup: ConversationSetup;
  readonly sessionId: string;
  readonly variables: JsonObject;
  readonly turns: number;
  readonly history: readonly HistoryEntry[];
  readonly ledger: Ledger;
  readonly world: JsonObject | undefined;
  readonly startedAt: EpochMillis;
  readonly endedAt: EpochMillis;
  readonly pausedMs: Millis;
  readonly ending: Ending;
}

const completed: ReadonlySet<TerminationReason> = new Set([
  'end_call_client',
  'end_call_agent',
  'end_marker',
  'max_turns',
]);

function statusOf(reason: TerminationReason): ConversationStatus {
  if (completed.has(reason)) return 'completed';
  return reason === 'api_blocked' ? 'failed_api_blocked' : 'failed';
}

/** The result of the contract: every field, in every outcome. */
export function buildResult(facts: ResultFacts): ConversationResult {
  const { setup, ledger, ending, history } = facts;
  const { specification, hash } = setup.snapshot;
  const seed = setup.scenario.variables['SEED'];
  return {
    session_id: facts.sessionId,
    scenario: setup.scenario.name,
    status: statusOf(ending.reason),
    total_turns: facts.turns,
    duration_seconds: Math.max(0, facts.endedAt - facts.startedAt - facts.pausedMs) / 1000,
    conversation_history: history,
    start_time: isoTime(facts.startedAt),
    end_time: isoTime(Math.max(facts.startedAt, facts.endedAt)),
    ...errorOf(ending),
    ...(setup.useTools ? { tools_used: true } : {}),
    termination_reason: ending.reason,
    ...(ending.reason === 'api_blocked' ? { graceful_degradation: true, partial_completion: history.length > 0 } : {}),
    working_seconds: ledger.workingMs / 1000,
    tool_call_count: ledger.toolCalls,
    prompt_spec_name: specification.name,
    prompt_version: specification.version,
    prompt_spec_hash: hash,
    ...(typeof seed === 'number' ? { seed } : {}),
    warnings: ledger.warnings,
    failures: ledger.failures,
    metrics: ledger.metrics(facts.turns),
    ...(facts.world === undefined ? {} : { final_state: facts.world }),
    variables: facts.variables,
  };
}

function errorOf(ending: Ending): Pick<ConversationResult, 'error' | 'error_type' | 'error_code'> {
  if (completed.has(ending.reason)) return {};
  return {
    error: ending.error ?? 'The conversation failed.',
    error_type: ending.errorType ?? 'Error',
    ...(ending.errorCode === undefined ? {} : { error_code: ending.errorCode }),
  };
}
