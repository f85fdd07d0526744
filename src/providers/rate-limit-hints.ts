/**
 * What a response says about limits. Its job: from headers and, on errors, from structured body fields to `RateHints`.
 * Not its job: to decide what kind of failure it was (`classify-failure.ts`), or to wait (the lane).
 *
 * 1. `retry-after-ms` wins over `retry-after`; one that fits no grammar is passed over.
 * 2. Absolute times are measured from the response's own `Date`, so a wrong local clock does no harm.
 * 3. A body's retry delay counts when the head gives none.
 */
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { RateHints, RateReading, Resource } from '../domain/reply.ts';
import { realClock } from '../platform/clock.ts';
import {
  parseCount,
  parseDuration,
  parseHttpDate,
  parseReset,
  parseRetryAfter,
  parseRetryAfterMs,
} from './hint-grammar.ts';
import { type HeaderTriple, type HintDialect, hintHeaders } from './hint-headers.ts';
import { parseJson } from './parse-json.ts';
import { asObject, at, listAt, textAt } from './read-json.ts';

/** Anything that has response headers: ours, a `fetch` Response, an SDK's error, a plain record. */
export interface HintSource {
  readonly headers?: unknown;
  /** The parsed body, when there is one. */
  readonly body?: unknown;
}

export interface HintOptions {
  readonly dialect?: HintDialect;
  /** The local time, used when the response has no `Date`. */
  readonly now?: EpochMillis;
}

type Reader = (name: string) => string | undefined;

/** Reads every limit hint of a response: its readings per resource, its retry delay, whether it asks not to retry. */
export function parseRateLimitHints(response: HintSource, options: HintOptions = {}): RateHints {
  const read = readerOf(response.headers);
  const limits = mayLimit(response.headers);
  const after = read('retry-after');
  // The server's own time is read only where something is measured from it.
  const timed = limits || after !== undefined ? parseHttpDate(read('date') ?? '') : undefined;
  const now = timed ?? options.now ?? realClock.now();
  const readings: RateReading[] = [];
  if (limits) {
    for (const triple of hintHeaders[options.dialect ?? 'any']) {
      const reading = readTriple(triple, read, now);
      if (reading !== undefined) readings.push(reading);
    }
  }
  const body = asObject(response.body);
  const said = body === undefined ? undefined : bodyHints(body);
  if (said?.reading !== undefined) readings.push(said.reading);
  const retryAfterMs =
    parseRetryAfterMs(read('retry-after-ms') ?? '') ?? parseRetryAfter(after ?? '', now) ?? said?.retryAfterMs;
  const shouldRetry = { true: true, false: false }[read('x-should-retry') ?? ''];
  return {
    readings,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(shouldRetry === undefined ? {} : { shouldRetry }),
  };
}

/** How long an error asks to wait, in milliseconds: from our failures, SDK errors, `fetch` responses, error bodies. */
export function getRetryAfter(error: unknown, options: HintOptions = {}): Millis | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { hints, retryAfterMs, resetAt, headers, response, error: inner, body, raw } = error as Record<string, unknown>;
  const told = asObject(hints)?.['retryAfterMs'] ?? retryAfterMs;
  if (typeof told === 'number' && Number.isFinite(told) && told >= 0) return told;
  const now = options.now ?? realClock.now();
  if (typeof resetAt === 'number' && Number.isFinite(resetAt)) return Math.max(0, resetAt - now);
  const source = { headers: headers ?? asObject(response)?.['headers'], body: bodyOf(inner, body, raw) };
  return parseRateLimitHints(source, { ...options, now }).retryAfterMs;
}

function bodyOf(inner: unknown, body: unknown, raw: unknown): unknown {
  if (asObject(body) !== undefined) return body;
  if (asObject(inner) !== undefined)
    return asObject(asObject(inner)?.['error']) === undefined ? { error: inner } : inner;
  const parsed = typeof raw === 'string' ? parseJson(raw) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

function readerOf(headers: unknown): Reader {
  if (typeof headers !== 'object' || headers === null) return () => undefined;
  if ('get' in headers && typeof headers.get === 'function') {
    const table = headers as { get(name: string): string | null };
    return (name) => table.get(name) ?? undefined;
  }
  const record = headers as Record<string, unknown>;
  const read = (name: string): string | undefined => {
    const value = record[name];
    if (typeof value === 'string') return value.trim();
    return Array.isArray(value) && typeof value[0] === 'string' ? value[0].trim() : undefined;
  };
  if (!Object.keys(record).some((name) => /[A-Z]/.test(name))) return read;
  return readerOf(Object.fromEntries(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value])));
}

/** Most answers of most servers say nothing; then the table need not be read. */
function mayLimit(headers: unknown): boolean {
  if (typeof headers !== 'object' || headers === null || 'get' in headers) return true;
  for (const name in headers) if (/limit/i.test(name)) return true;
  return false;
}

function readTriple(triple: HeaderTriple, read: Reader, now: EpochMillis): RateReading | undefined {
  const text = (name: string | undefined): string | undefined => (name === undefined ? undefined : read(name));
  const limitText = text(triple.limit);
  const remainingText = text(triple.remaining);
  if (limitText === undefined && remainingText === undefined) return undefined;
  const limit = parseCount(limitText ?? '');
  const remaining = parseCount(remainingText ?? '');
  if (limit === undefined && remaining === undefined) return undefined;
  const resetMs = parseReset(text(triple.reset) ?? '', now);
  return {
    resource: triple.resource,
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetMs === undefined ? {} : { resetMs }),
    ...(triple.windowMs === undefined ? {} : { windowMs: triple.windowMs }),
  };
}

export interface BodyHints {
  readonly retryAfterMs?: Millis;
  readonly reading?: RateReading;
  readonly resource?: Resource;
  readonly daily?: true;
  /** One request alone is larger than the limit. */
  readonly neverFits?: true;
}

/** Hints from an error body: Google's RetryInfo and QuotaFailure, and the numbers of OpenAI's and Groq's sentence. */
export function bodyHints(body: Readonly<Record<string, Json>>): BodyHints {
  const error = asObject(body['error']) ?? body;
  const google = googleHints(error);
  return google ?? sentenceHints(textAt(error, 'message') ?? '');
}

const googleType = 'type.googleapis.com/google.rpc.';

function googleHints(error: Readonly<Record<string, Json>>): BodyHints | undefined {
  const details = listAt(error, 'details');
  if (details.length === 0) return undefined;
  const ofType = (name: string): Json | undefined =>
    details.find((detail) => at(detail, '@type') === googleType + name);
  const retryAfterMs = parseDuration(textAt(ofType('RetryInfo'), 'retryDelay') ?? '');
  const violation = listAt(ofType('QuotaFailure'), 'violations')[0];
  const quotaId = textAt(violation, 'quotaId') ?? '';
  const daily = /PerDay/.test(quotaId);
  const resource: Resource | undefined = /Token/.test(quotaId)
    ? 'inputTokens'
    : /Request/.test(quotaId)
      ? 'requests'
      : undefined;
  const limit = parseCount(textAt(violation, 'quotaValue') ?? '');
  const windowMs = daily ? 86_400_000 : /PerMinute/.test(quotaId) ? 60_000 : undefined;
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(resource === undefined ? {} : { resource }),
    ...(daily ? { daily } : {}),
    ...(resource === undefined || limit === undefined
      ? {}
      : { reading: { resource, limit, ...(windowMs === undefined ? {} : { windowMs }) } }),
  };
}

const sentence =
  /on (?:(input|output) )?(tokens|requests) per (min|minute|day|second)[^:]{0,20}: Limit:? (\d{1,15})(?:, Used:? (\d{1,15}))?, Requested:? (\d{1,15})/i;
const tryAgain =
  /(?:try again|retry) (?:in|after) ([\d.]+ ?(?:milliseconds|seconds|second|ms|s|m|h|d)(?:[\d.]+(?:ms|s|m))*)/i;
const sentenceWindow: Readonly<Record<string, Millis>> = { min: 60_000, minute: 60_000, day: 86_400_000, second: 1000 };

/** "... on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. Please try again in 5.289s." */
function sentenceHints(message: string): BodyHints {
  const wait = tryAgain.exec(message)?.[1];
  const retryAfterMs = wait === undefined ? undefined : parseDuration(shortUnits(wait));
  const delay = retryAfterMs === undefined ? {} : { retryAfterMs };
  const found = sentence.exec(message);
  if (found === null) return delay;
  const [, side, noun, per, limitText, usedText, requestedText] = found;
  const limit = Number(limitText);
  const resource = resourceOf(side, noun);
  const windowMs = sentenceWindow[(per ?? '').toLowerCase()] ?? 60_000;
  const remaining = usedText === undefined ? {} : { remaining: Math.max(0, limit - Number(usedText)) };
  return {
    ...delay,
    resource,
    reading: { resource, limit, ...remaining, windowMs },
    ...(windowMs === 86_400_000 ? { daily: true as const } : {}),
    ...(Number(requestedText) > limit ? { neverFits: true as const } : {}),
  };
}

const shortUnits = (text: string): string =>
  text
    .replace(/ ?milliseconds/i, 'ms')
    .replace(/ ?seconds?/i, 's')
    .replaceAll(' ', '');

function resourceOf(side: string | undefined, noun: string | undefined): Resource {
  if (noun?.toLowerCase() === 'requests') return 'requests';
  if (side === undefined) return 'tokens';
  return side.toLowerCase() === 'input' ? 'inputTokens' : 'outputTokens';
}
