import type { FailureCode } from '../domain/reply.ts';

/** Who answered; vendors of one format share most of their words, not all. */
export type Vendor =
  | 'openai'
  | 'azure'
  | 'anthropic'
  | 'bedrock'
  | 'google'
  | 'ollama'
  | 'openrouter'
  | 'groq'
  | 'http';

/** A row of the taxonomy. Every given field must fit; the first row that fits decides. */
export interface FailureRule {
  readonly vendors?: readonly Vendor[];
  readonly status?: readonly number[];
  /** The vendor's structured codes: error code, type, status word or exception name. Never a piece of a sentence. */
  readonly words?: readonly string[];
  /** Whole messages, from first to last letter, that vendors send where they send no code. */
  readonly messages?: readonly RegExp[];
  /** Fits only when a delay of at most this was given. */
  readonly retryAfterAtMostMs?: number;
  readonly code: FailureCode | 'content_filter';
}

const hour = 3_600_000;

/** The error taxonomy as data: from status and structured codes to what the lane does about it. */
export const failureRules: readonly FailureRule[] = [
  // Results in disguise.
  {
    words: ['content_filter', 'content_policy_violation', 'invalid_prompt', 'ResponsibleAIPolicyViolation'],
    code: 'content_filter',
  },
  { vendors: ['openrouter'], status: [403], words: ['moderation'], code: 'content_filter' },

  // Money. Azure says `insufficient_quota` for a full minute too, then with a short delay.
  { vendors: ['azure'], words: ['insufficient_quota'], retryAfterAtMostMs: hour, code: 'rate_limited' },
  {
    words: [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_not_active',
      'credit_balance_exhausted',
      'enforced_spend_limit_reached',
      'billing_error',
      'insufficient_credits',
      'insufficient_balance',
    ],
    code: 'billing',
  },
  { status: [402], code: 'billing' },

  // Where the caller may not be.
  { words: ['unsupported_country_region_territory'], code: 'region_blocked' },
  { vendors: ['google'], status: [400], words: ['FAILED_PRECONDITION'], code: 'region_blocked' },

  // Keys and permissions. A clock that is off breaks signatures: one more try, with the server's time.
  {
    vendors: ['bedrock'],
    words: ['InvalidSignatureException', 'RequestTimeTooSkewed', 'SignatureDoesNotMatch'],
    code: 'transient',
  },
  {
    words: [
      'invalid_api_key',
      'authentication_error',
      'permission_error',
      'API_KEY_INVALID',
      'PERMISSION_DENIED',
      'UNAUTHENTICATED',
      'AccessDeniedException',
      'UnrecognizedClientException',
      'ExpiredTokenException',
      'MissingAuthenticationTokenException',
    ],
    code: 'auth',
  },

  // Size.
  {
    words: ['context_length_exceeded', 'string_above_max_length', 'request_too_large', 'max_tokens_exceeded'],
    code: 'context_length',
  },
  { status: [413], code: 'context_length' },
  {
    status: [400],
    messages: [
      /^prompt is too long: \d+ tokens > \d+ maximum$/,
      /^Input is too long for requested model\.?$/,
      /^The input token count \(\d+\) exceeds the maximum number of tokens allowed \(\d+\)\.?$/,
      /^input length and `max_tokens` exceed context limit: .*$/,
    ],
    code: 'context_length',
  },

  // Overload is not a rate limit: everybody has it, and pacing does not cure it.
  {
    words: [
      'overloaded_error',
      'slow_down',
      'server_is_overloaded',
      'engine_overloaded',
      'ServiceUnavailableException',
      'ModelNotReadyException',
      'UNAVAILABLE',
    ],
    code: 'overloaded',
  },

  // Rates.
  {
    vendors: ['bedrock'],
    messages: [/^Too many tokens per day, please wait before trying again\.$/],
    code: 'daily_exhausted',
  },
  {
    words: [
      'rate_limit_exceeded',
      'rate_limit_error',
      'ThrottlingException',
      'ThrottledException',
      'TooManyRequestsException',
      'RequestThrottled',
      'RequestThrottledException',
      'ServiceQuotaExceededException',
      'RESOURCE_EXHAUSTED',
    ],
    code: 'rate_limited',
  },

  // Models.
  {
    words: ['model_not_found', 'DeploymentNotFound', 'not_found_error', 'NOT_FOUND', 'ResourceNotFoundException'],
    code: 'not_found',
  },

  { words: ['timeout_error', 'ModelTimeoutException', 'DEADLINE_EXCEEDED'], code: 'transient' },
  {
    words: ['api_error', 'INTERNAL', 'InternalServerException', 'ModelErrorException'],
    status: [500, 424],
    code: 'transient',
  },

  // A templated target is not a model: its 401 or 404 belongs to the case that asked.
  { vendors: ['http'], status: [401, 403, 404], code: 'invalid_request' },

  // By status alone.
  { status: [401, 403], code: 'auth' },
  { status: [404], code: 'not_found' },
  { status: [408, 409, 425, 500], code: 'transient' },
  { status: [429], code: 'rate_limited' },
  { status: [502, 503, 504, 520, 521, 522, 523, 524, 529], code: 'overloaded' },
];

/** What the lane may do again. */
export const retryable: Readonly<Record<FailureCode, boolean>> = {
  rate_limited: true,
  daily_exhausted: true,
  overloaded: true,
  transient: true,
  timeout: true,
  billing: false,
  auth: false,
  region_blocked: false,
  not_found: false,
  too_large: false,
  context_length: false,
  invalid_request: false,
  redirect: false,
  bad_response: true,
  empty_response: true,
  unreachable: false,
  blocked_address: false,
  program: false,
  aborted: false,
};
