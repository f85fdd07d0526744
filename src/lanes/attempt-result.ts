import type { FailureCode, Outcome, ProviderFailure } from '../domain/reply.ts';
import type { AttemptResult } from './messages.ts';

type Reaction = 'gate' | 'park' | 'retry' | 'once' | 'close' | 'fail' | 'aborted';

/** What each kind of failure means for the lane: the one place where a reaction is decided. */
const reactions: Readonly<Record<FailureCode, Reaction>> = {
  rate_limited: 'gate',
  daily_exhausted: 'park',
  overloaded: 'retry',
  transient: 'retry',
  timeout: 'retry',
  bad_response: 'once',
  empty_response: 'once',
  billing: 'close',
  auth: 'close',
  region_blocked: 'close',
  not_found: 'close',
  too_large: 'fail',
  context_length: 'fail',
  invalid_request: 'fail',
  redirect: 'fail',
  unreachable: 'fail',
  blocked_address: 'fail',
  program: 'fail',
  aborted: 'aborted',
};

/** A daily quota whose end nobody told opens again after this long. */
const unknownParkMs = 3_600_000;

/** Turns what came over the wire into what the scheduler needs to know. `heard`: its headers were already told. */
export function attemptResult(outcome: Outcome, heard: boolean, now: number): AttemptResult {
  const hints = heard || outcome.hints === undefined ? {} : { hints: outcome.hints };
  if (outcome.kind === 'reply') return { type: 'ok', ...hints, ...(outcome.usage ? { usage: outcome.usage } : {}) };
  return failureResult(outcome, hints, now);
}

function failureResult(failure: ProviderFailure, hints: Pick<ProviderFailure, 'hints'>, now: number): AttemptResult {
  const reaction = reactions[failure.code];
  switch (reaction) {
    case 'gate': {
      const wait =
        failure.hints?.retryAfterMs ?? (failure.resetAt === undefined ? undefined : Math.max(0, failure.resetAt - now));
      return {
        type: 'rate-limited',
        ...hints,
        ...(wait === undefined ? {} : { retryAfterMs: wait }),
        ...(failure.resource === undefined ? {} : { resource: failure.resource }),
      };
    }
    case 'park':
      return {
        type: 'park',
        until: failure.resetAt ?? now + (failure.hints?.retryAfterMs ?? unknownParkMs),
        reason: failure.message,
      };
    case 'retry':
      return failure.retryable ? { type: 'retry', once: failure.retryOnce ?? false, ...hints } : { type: 'fail' };
    case 'once':
      return failure.retryable || failure.retryOnce ? { type: 'retry', once: true, ...hints } : { type: 'fail' };
    case 'close':
      return { type: 'close', reason: failure.message };
    case 'fail':
    case 'aborted':
      return { type: reaction };
  }
}
