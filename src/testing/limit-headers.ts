import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { BucketReading, LimitedResource, LimitReadings } from './limit-scope.ts';

/** Whose way of telling limits a response head follows. */
export type HeaderStyle =
  | 'none'
  | 'openai'
  | 'azure'
  | 'anthropic'
  | 'groq'
  | 'together'
  | 'mistral'
  | 'cerebras'
  | 'openrouter';

/** How a rejection tells when to come back. */
export type RetryStyle = 'seconds' | 'milliseconds' | 'http-date' | 'both' | 'none';

type Headers = Record<string, string>;
type Teller = (readings: LimitReadings, now: EpochMillis) => Headers;

const seconds = (ms: Millis): string => String(Math.ceil(ms / 1000));

/** A duration as Go prints it: `12ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: Millis): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const all = Math.ceil(ms) / 1000;
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor((all % 3600) / 60);
  const rest = `${Math.round((all % 60) * 1000) / 1000}s`;
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${rest}`;
}

function triple(name: string, reading: BucketReading | undefined, reset: (ms: Millis) => string): Headers {
  if (reading === undefined) return {};
  return {
    [`x-ratelimit-limit-${name}`]: String(reading.limit),
    [`x-ratelimit-remaining-${name}`]: String(reading.remaining),
    [`x-ratelimit-reset-${name}`]: reset(reading.resetMs),
  };
}

const openai: Teller = (readings) => ({
  ...triple('requests', readings.requests, goDuration),
  ...triple('tokens', readings.tokens, goDuration),
});

const azure: Teller = (readings) => ({
  ...triple('requests', readings.requests, seconds),
  ...triple('tokens', readings.tokens, seconds),
});

const anthropicNames: readonly (readonly [LimitedResource, string])[] = [
  ['requests', 'requests'],
  ['tokens', 'tokens'],
  ['inputTokens', 'input-tokens'],
  ['outputTokens', 'output-tokens'],
];

/** Dates to the second, token counts rounded to thousands. */
const anthropic: Teller = (readings, now) => {
  const headers: Headers = {};
  for (const [resource, name] of anthropicNames) {
    const reading = readings[resource];
    if (reading === undefined) continue;
    const rounded = resource === 'requests' ? reading.remaining : Math.floor(reading.remaining / 1000) * 1000;
    const reset = new Date(Math.ceil((now + reading.resetMs) / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    headers[`anthropic-ratelimit-${name}-limit`] = String(reading.limit);
    headers[`anthropic-ratelimit-${name}-remaining`] = String(rounded);
    headers[`anthropic-ratelimit-${name}-reset`] = reset;
  }
  return headers;
};

/** Requests are told per day, tokens per minute. */
const groq: Teller = (readings) => ({
  ...triple('requests', readings.requestsDay, goDuration),
  ...triple('tokens', readings.tokens, goDuration),
});

/** Everything per second: a minute's bucket is told as a sixtieth. */
const together: Teller = (readings) => {
  const part = (reading: BucketReading | undefined, name: string): Headers =>
    reading === undefined
      ? {}
      : {
          [`x-${name}-limit`]: String(Math.max(1, Math.floor(reading.limit / 60))),
          [`x-${name}-remaining`]: String(Math.min(reading.remaining, Math.max(1, Math.floor(reading.limit / 60)))),
          ...(name === 'ratelimit' ? { 'x-ratelimit-reset': '1' } : {}),
        };
  return { ...part(readings.requests, 'ratelimit'), ...part(readings.tokens, 'tokenlimit') };
};

const mistral: Teller = (readings) => {
  const headers: Headers = {};
  if (readings.tokens) {
    headers['x-ratelimitbysize-limit-minute'] = String(readings.tokens.limit);
    headers['x-ratelimitbysize-remaining-minute'] = String(readings.tokens.remaining);
    headers['ratelimitbysize-reset'] = seconds(readings.tokens.resetMs);
  }
  if (readings.requests) {
    headers['x-ratelimit-limit-req-minute'] = String(readings.requests.limit);
    headers['x-ratelimit-remaining-req-minute'] = String(readings.requests.remaining);
  }
  return headers;
};

const cerebras: Teller = (readings) => ({
  ...triple('requests-day', readings.requestsDay, (ms) => (ms / 1000).toFixed(3)),
  ...triple('tokens-minute', readings.tokens, (ms) => (ms / 1000).toFixed(3)),
});

/** Epoch milliseconds. */
const openrouter: Teller = (readings, now) =>
  readings.requests === undefined
    ? {}
    : {
        'x-ratelimit-limit': String(readings.requests.limit),
        'x-ratelimit-remaining': String(readings.requests.remaining),
        'x-ratelimit-reset': String(Math.ceil(now + readings.requests.resetMs)),
      };

const tellers: Readonly<Record<HeaderStyle, Teller>> = {
  none: () => ({}),
  openai,
  azure,
  anthropic,
  groq,
  together,
  mistral,
  cerebras,
  openrouter,
};

/** Headers that tell these readings in a vendor's way. */
export const limitHeaders = (style: HeaderStyle, readings: LimitReadings, now: EpochMillis): Headers =>
  tellers[style](readings, now);

/** Headers that tell a client when to come back. */
export function retryHeaders(style: RetryStyle, waitMs: Millis, now: EpochMillis): Headers {
  if (!Number.isFinite(waitMs)) return {};
  switch (style) {
    case 'none':
      return {};
    case 'seconds':
      return { 'retry-after': seconds(waitMs) };
    case 'milliseconds':
      return { 'retry-after-ms': String(Math.ceil(waitMs)) };
    case 'both':
      return { 'retry-after': seconds(waitMs), 'retry-after-ms': String(Math.ceil(waitMs)) };
    case 'http-date':
      return { 'retry-after': new Date(Math.ceil((now + waitMs) / 1000) * 1000).toUTCString() };
  }
}
