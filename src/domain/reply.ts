import type { EpochMillis, Millis, Tokens, UsdMicros } from './ids.ts';
import type { Json } from './json.ts';
import type { ToolCall } from './message.ts';

/** What a lane can run out of. */
export type Resource = 'requests' | 'tokens' | 'inputTokens' | 'outputTokens';

/** One header triple: of `limit`, `remaining` are left and the bucket is full again in `resetMs`. */
export interface RateReading {
  readonly resource: Resource;
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetMs?: Millis;
  /** Set when the header's own name says it (per day, per second); otherwise the lane infers it. */
  readonly windowMs?: Millis;
}

/** Everything a response head says about limits, on success and on error. */
export interface RateHints {
  readonly readings: readonly RateReading[];
  readonly retryAfterMs?: Millis;
  readonly shouldRetry?: boolean;
}

/** What the provider says it counted. An absent number was not said; it is never read as 0. */
export interface Usage {
  readonly inputTokens?: Tokens;
  readonly outputTokens?: Tokens;
  readonly cachedInputTokens?: Tokens;
  readonly cacheWriteTokens?: Tokens;
  readonly reasoningTokens?: Tokens;
}

/** Two counts as one; what neither said stays unsaid. */
export function addedUsage(a: Usage, b: Usage | undefined): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = { ...a };
  for (const [name, tokens] of Object.entries(b ?? {}) as [keyof Usage, Tokens][])
    sum[name] = (sum[name] ?? 0) + tokens;
  return sum;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'refusal' | 'other';

/** An answer. Refusals and content filters are answers too: they are graded, not retried. */
export interface Reply {
  readonly kind: 'reply';
  /** The model's words; `""` when there are only tool calls. */
  readonly text: string;
  /** What an eval grades: the text, parsed JSON, a tool-call list, or whatever a program provider returned. */
  readonly output: Json;
  readonly toolCalls: readonly ToolCall[];
  readonly reasoning?: string;
  readonly usage?: Usage;
  /** Absent: the price is unknown, which is not 0. */
  readonly costUsdMicros?: UsdMicros;
  readonly finishReason: FinishReason;
  /** The vendor's own word for the finish reason. */
  readonly finishReasonRaw?: string;
  readonly servedModel?: string;
  readonly fingerprint?: string;
  readonly hints?: RateHints;
  readonly status: number;
  /** The body exactly as received. */
  readonly raw: string;
  /** The body's own bytes as base64, only when they are not valid UTF-8 and `raw` therefore lost something. */
  readonly rawBytes?: string;
  /** Oddities worth showing: `invalid-utf8`, `wrong-content-type`, `usage-missing`, `model-substituted`, ... */
  readonly flags: readonly string[];
  /** True when it came from the response cache: such a reply never entered a lane. */
  readonly cached: boolean;
  readonly embedding?: readonly number[];
  /** For moderation: flagged categories with their scores. For classification: labels with their scores. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly flagged?: boolean;
  /** Program and http providers may return more; kept for assertions and results. */
  readonly metadata?: { readonly [key: string]: Json };
}

/** Why a call failed, decided from status and structured codes, never from a substring of a message. */
export type FailureCode =
  | 'rate_limited' // gate the named resource until the hint, requeue
  | 'daily_exhausted' // park the lane until `resetAt`
  | 'overloaded' // back off, counted as a retry
  | 'transient' // back off, counted as a retry
  | 'timeout' // deadline or idle watchdog; counted as a retry, maybe billed
  | 'billing' // close the lane
  | 'auth' // close the lane
  | 'region_blocked' // close the lane; conversations end as failed_api_blocked
  | 'not_found' // no such model: close the lane
  | 'too_large' // one request larger than the bucket: never sendable
  | 'context_length' // this case only
  | 'invalid_request' // this case only
  | 'redirect' // this case only; never followed
  | 'bad_response' // unreadable answer: retried once when `retryOnce`, then this case only
  | 'empty_response' // retried once, then this case only
  | 'unreachable' // DNS name does not exist, TLS does not verify: this case only
  | 'blocked_address' // refused before sending: metadata address, or a key bound to another origin
  | 'program' // a user's module or program threw, hung or returned nonsense: this case only
  | 'aborted';

export interface ProviderFailure {
  readonly kind: 'failure';
  readonly code: FailureCode;
  /** What happened and what to do; never holds a secret. */
  readonly message: string;
  readonly retryable: boolean;
  /** One more try is worth it, a second is not. */
  readonly retryOnce?: boolean;
  readonly status?: number;
  /** The vendor's own error code or type. */
  readonly vendorCode?: string;
  readonly hints?: RateHints;
  /** For `rate_limited`: which resource the provider named; absent means it did not say. */
  readonly resource?: Resource;
  /** For `daily_exhausted` and long waits: when it opens again. */
  readonly resetAt?: EpochMillis;
  /** Whether the provider may charge for it although no answer arrived. */
  readonly billed: 'no' | 'maybe';
  readonly raw?: string;
}

export type Outcome = Reply | ProviderFailure;
