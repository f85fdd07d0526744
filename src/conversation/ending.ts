import type { TerminationReason } from '../domain/conversation-result.ts';
import type { FailureCode, ProviderFailure } from '../domain/reply.ts';

/** Why and how a conversation is over. Without an `error` it is completed. */
export interface Ending {
  readonly reason: TerminationReason;
  readonly error?: string;
  readonly errorType?: string;
  readonly errorCode?: string;
}

const errorTypes: Readonly<Record<FailureCode, string>> = {
  rate_limited: 'RateLimitError',
  daily_exhausted: 'RateLimitError',
  overloaded: 'OverloadedError',
  transient: 'ProviderError',
  timeout: 'TimeoutError',
  billing: 'BillingError',
  auth: 'AuthenticationError',
  region_blocked: 'RegionBlockedError',
  not_found: 'ModelNotFoundError',
  too_large: 'RequestTooLargeError',
  context_length: 'ContextLengthError',
  invalid_request: 'InvalidRequestError',
  redirect: 'RedirectError',
  bad_response: 'BadResponseError',
  empty_response: 'EmptyResponseError',
  unreachable: 'ConnectionError',
  blocked_address: 'BlockedAddressError',
  program: 'ProgramError',
  aborted: 'AbortError',
};

/** How a failed model call ends the conversation. Decided by its code, never by words in its message. */
export function endingOfFailure(failure: ProviderFailure, role: string): Ending {
  const facts = { error: `${role}: ${failure.message}`, errorType: errorTypes[failure.code], errorCode: failure.code };
  if (failure.code === 'region_blocked') return { reason: 'api_blocked', ...facts };
  if (failure.code === 'aborted') return aborted;
  return { reason: 'error', ...facts };
}

export const aborted: Ending = {
  reason: 'aborted',
  error: 'The conversation was cancelled.',
  errorType: 'AbortError',
  errorCode: 'aborted',
};

export const timedOut = (timeoutMs: number): Ending => ({
  reason: 'timeout',
  error: `The conversation used up its ${timeoutMs / 1000} s of working time.`,
  errorType: 'TimeoutError',
  errorCode: 'timeout',
});

export const tooExpensive = (maxCostMicros: number): Ending => ({
  reason: 'max_cost',
  error: `The conversation reached its spending limit of $${maxCostMicros / 1_000_000}.`,
  errorType: 'CostLimitError',
  errorCode: 'max_cost',
});

export const looping = (what: string): Ending => ({
  reason: 'tool_loop',
  error: what,
  errorType: 'ToolLoopError',
  errorCode: 'tool_loop',
});

export const silent = (speaker: string): Ending => ({
  reason: 'error',
  error: `${speaker} gave an empty answer twice.`,
  errorType: 'EmptyReplyError',
  errorCode: 'empty_reply',
});
