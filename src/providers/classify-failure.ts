/**
 * From a response or a transport fault to a typed failure. Decides from status and structured codes only; a sentence is
 * shown to people and read for its numbers, never searched for words.
 */
import type { EpochMillis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { FailureCode, ProviderFailure, RateHints, Resource } from '../domain/reply.ts';
import { type FailureRule, failureRules, retryable, type Vendor } from './failure-rules.ts';
import type { HttpFault, HttpFaultCode } from './http-client.ts';
import { nextPacificMidnight } from './pacific-midnight.ts';
import { type BodyHints, bodyHints } from './rate-limit-hints.ts';
import { asObject, at, listAt, textAt } from './read-json.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly statusText?: string;
  /** The parsed body, if it was JSON. */
  readonly body: Json | undefined;
  readonly raw: string;
  readonly hints: RateHints;
  /** Codes from elsewhere than the body, such as `x-amzn-errortype`. */
  readonly words?: readonly string[];
}

export interface FailureContext {
  readonly vendor: Vendor;
  /** As people know it: `openai:chat:gpt-4.1`. */
  readonly provider: string;
  readonly now: EpochMillis;
  /** Which variable holds the key, for the advice on 401. */
  readonly keyVariable?: string;
}

/** What an error answer comes to; `content_filter` is a result and left to the adapter. */
export function classifyAnswer(answer: ErrorAnswer, context: FailureContext): FailureCode | 'content_filter' {
  const { status } = answer;
  if (status >= 300 && status < 400) return 'redirect';
  const said = hintsOf(answer.body);
  const words = new Set([...(answer.words ?? []), ...wordsOf(answer.body)]);
  const fits = (rule: FailureRule): boolean =>
    (rule.vendors === undefined || rule.vendors.includes(context.vendor)) &&
    (rule.status === undefined || rule.status.includes(status)) &&
    (rule.words === undefined || rule.words.some((word) => words.has(word))) &&
    (rule.messages === undefined || rule.messages.some((whole) => whole.test(messageOf(answer.body) ?? ''))) &&
    (rule.retryAfterAtMostMs === undefined ||
      (answer.hints.retryAfterMs ?? Number.POSITIVE_INFINITY) <= rule.retryAfterAtMostMs);
  const code = failureRules.find(fits)?.code ?? (status >= 500 ? 'transient' : 'invalid_request');
  if (code !== 'rate_limited') return code;
  if (said.neverFits) return 'too_large';
  return said.daily || isDayUsedUp(answer.hints) ? 'daily_exhausted' : 'rate_limited';
}

const hour = 3_600_000;
const day = 24 * hour;

/** Only a day's bucket is empty, and it is not said to fill again soon. */
function isDayUsedUp({ readings, retryAfterMs }: RateHints): boolean {
  const empty = readings.filter(({ remaining }) => remaining === 0);
  const isDaily = empty.length > 0 && empty.every(({ windowMs = 0 }) => windowMs >= day);
  const wait = retryAfterMs ?? empty[0]?.resetMs;
  return isDaily && (wait === undefined || wait > hour);
}

/** The failure that an error answer means. */
export function failureOf(answer: ErrorAnswer, code: FailureCode, context: FailureContext): ProviderFailure {
  const said = hintsOf(answer.body);
  const resource = code === 'rate_limited' ? namedResource(answer, said) : undefined;
  const resetAt = code === 'daily_exhausted' ? dayEnd(answer, context) : undefined;
  const vendorCode = textAt(answer.body, 'error', 'code') ?? wordsOf(answer.body)[0] ?? answer.words?.[0];
  return {
    kind: 'failure',
    code,
    message: sentenceFor(code, answer, context),
    retryable: retryable[code] && answer.hints.shouldRetry !== false,
    ...(once.has(code) || isSkew(answer) ? { retryOnce: true } : {}),
    status: answer.status,
    ...(vendorCode === undefined ? {} : { vendorCode }),
    hints: answer.hints,
    ...(resource === undefined ? {} : { resource }),
    ...(resetAt === undefined ? {} : { resetAt }),
    billed: 'no',
    raw: answer.raw,
  };
}

const once = new Set<FailureCode>(['bad_response', 'empty_response']);
const skewWords = new Set(['InvalidSignatureException', 'RequestTimeTooSkewed', 'SignatureDoesNotMatch']);
const isSkew = (answer: ErrorAnswer): boolean =>
  [...(answer.words ?? []), ...wordsOf(answer.body)].some((word) => skewWords.has(word));

const hintsOf = (body: Json | undefined): BodyHints => {
  const object = asObject(body);
  return object === undefined ? {} : bodyHints(object);
};

/** Every structured code of an error body, the most telling first. */
export function wordsOf(body: Json | undefined): readonly string[] {
  const error = at(body, 'error');
  const candidates = [
    at(error, 'details', 'error_code'),
    at(error, 'innererror', 'code'),
    at(error, 'code'),
    at(error, 'type'),
    at(error, 'status'),
    at(error, 'metadata', 'provider_code'),
    ...listAt(error, 'details').map((detail) => at(detail, 'reason')),
    at(error, 'metadata', 'reasons') === undefined ? undefined : 'moderation',
    at(body, 'code'),
    at(body, 'type'),
    exceptionName(textAt(body, '__type')),
  ];
  return candidates.filter((word): word is string => typeof word === 'string' && word !== '' && word !== 'error');
}

/** `com.amazon.coral.service#ThrottlingException` and `ThrottlingException:http://...` both name ThrottlingException. */
export const exceptionName = (text: string | undefined): string | undefined => text?.split('#').at(-1)?.split(':')[0];

export const messageOf = (body: Json | undefined): string | undefined =>
  textAt(body, 'error', 'message') ?? textAt(body, 'message') ?? textAt(body, 'error') ?? textAt(body, 'detail');

/** Which bucket ran dry: said by the body, or the only one that the headers show as empty. */
function namedResource(answer: ErrorAnswer, said: BodyHints): Resource | undefined {
  if (said.resource !== undefined) return said.resource;
  const type = textAt(answer.body, 'error', 'type');
  if (type === 'tokens' || type === 'requests') return type;
  const empty = answer.hints.readings.filter(({ remaining }) => remaining === 0);
  const names = new Set(empty.map(({ resource }) => resource));
  return names.size === 1 ? empty[0]?.resource : undefined;
}

/** Google counts days in Pacific time; others say how long. */
function dayEnd(answer: ErrorAnswer, context: FailureContext): EpochMillis {
  if (context.vendor === 'google') return nextPacificMidnight(context.now);
  const { retryAfterMs } = answer.hints;
  const resetMs = answer.hints.readings.find(({ remaining }) => remaining === 0)?.resetMs;
  const wait = retryAfterMs ?? resetMs;
  if (wait !== undefined) return context.now + wait;
  return (Math.floor(context.now / day) + 1) * day;
}

const advice: Readonly<Partial<Record<FailureCode, (context: FailureContext) => string>>> = {
  auth: ({ keyVariable }) =>
    keyVariable === undefined ? 'Check the key and its permissions.' : `Check ${keyVariable} and its permissions.`,
  billing: () => 'Check the account: its credit or spending limit is used up.',
  not_found: () => 'Check the model name and the base URL.',
  region_blocked: () => 'The provider does not serve this location.',
  redirect: () => 'Redirects are never followed: set the base URL to where it leads.',
  context_length: () => 'Shorten the prompt or choose a model with a longer context.',
  too_large: () => 'This one request is larger than the limit; it can never be sent.',
};

function sentenceFor(code: FailureCode, answer: ErrorAnswer, context: FailureContext): string {
  const said = messageOf(answer.body) ?? firstLine(answer.raw);
  const what = `${context.provider} answered ${answer.status}${said === '' ? '' : `: ${said.slice(0, 500)}`}`;
  const cure = advice[code]?.(context);
  return cure === undefined ? what : `${what}${/[.!?]$/.test(what) ? '' : '.'} ${cure}`;
}

export const firstLine = (raw: string): string => raw.slice(0, 200).replaceAll(/\s+/g, ' ').trim();

const faultCodes: Readonly<Record<HttpFaultCode, FailureCode>> = {
  aborted: 'aborted',
  deadline: 'timeout',
  idle: 'timeout',
  'too-large': 'bad_response',
  'bad-encoding': 'bad_response',
  'name-unknown': 'unreachable',
  refused: 'transient',
  tls: 'unreachable',
  reset: 'transient',
  'blocked-address': 'blocked_address',
  'foreign-key': 'blocked_address',
  'invalid-request': 'invalid_request',
  other: 'transient',
};

const faultSentences: Readonly<Record<HttpFaultCode, string>> = {
  aborted: 'the call was aborted.',
  deadline: 'no answer within the deadline.',
  idle: 'the answer stalled.',
  'too-large': 'the answer is too large to hold.',
  'bad-encoding': 'the answer could not be decompressed.',
  'name-unknown': 'the host name does not exist. Check the base URL.',
  refused: 'the server could not be reached.',
  tls: 'the server failed TLS verification, which is never turned off. Check the base URL and the certificate.',
  reset: 'the connection broke.',
  'blocked-address': 'the address is link-local or a metadata service and is never called.',
  'foreign-key': 'the key is bound to another origin and was not sent.',
  'invalid-request': 'the request could not be made. Check the base URL and the headers.',
  other: 'the connection failed.',
};

/** The failure that a transport fault means. */
export function failureOfFault(fault: HttpFault, context: FailureContext, hints?: RateHints): ProviderFailure {
  const code = faultCodes[fault.code];
  const detail = fault.detail === fault.code ? '' : ` (${fault.detail})`;
  return {
    kind: 'failure',
    code,
    message: `${context.provider}: ${faultSentences[fault.code]}${detail}`,
    retryable: retryable[code] && fault.code !== 'too-large',
    ...(code === 'bad_response' && fault.code !== 'too-large' ? { retryOnce: true } : {}),
    ...(hints === undefined ? {} : { hints }),
    billed: fault.sent ? 'maybe' : 'no',
  };
}
