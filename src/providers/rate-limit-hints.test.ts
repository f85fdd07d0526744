import { describe, expect, test } from 'vitest';
import type { RateHints } from '../domain/reply.ts';
import type { HintDialect } from './hint-headers.ts';
import { getRetryAfter, parseRateLimitHints } from './rate-limit-hints.ts';

const now = Date.parse('2026-10-21T07:28:00Z');

interface Sample {
  readonly provider: string;
  readonly dialect?: HintDialect;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly hints: RateHints;
}

const minute = 60_000;
const day = 86_400_000;

const samples: readonly Sample[] = [
  {
    provider: 'OpenAI, durations',
    headers: {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '200000',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '15.004s',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 500, remaining: 499, resetMs: 120 },
        { resource: 'tokens', limit: 200_000, remaining: 149_984, resetMs: 15_004 },
      ],
    },
  },
  {
    provider: 'OpenAI, minutes and a refusal to be retried',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1m30s',
      'retry-after': '20',
      'x-should-retry': 'false',
    },
    hints: {
      readings: [{ resource: 'requests', limit: 60, remaining: 0, resetMs: 90_000 }],
      retryAfterMs: 20_000,
      shouldRetry: false,
    },
  },
  {
    provider: 'OpenAI, the sentence of a 429',
    headers: { 'retry-after-ms': '5289', 'retry-after': '6' },
    body: {
      error: {
        type: 'tokens',
        code: 'rate_limit_exceeded',
        message:
          'Rate limit reached for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, Used 28000, Requested 4351. Please try again in 4.702s.',
      },
    },
    hints: {
      readings: [{ resource: 'tokens', limit: 30_000, remaining: 2_000, windowMs: minute }],
      retryAfterMs: 5_289,
    },
  },
  {
    provider: 'Azure, a sub-window and whole seconds',
    headers: {
      'x-ratelimit-limit-requests': '20',
      'x-ratelimit-remaining-requests': '19',
      'x-ratelimit-reset-requests': '10',
      'x-ratelimit-limit-tokens': '120000',
      'x-ratelimit-remaining-tokens': '119000',
      'x-ratelimit-reset-tokens': '1',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 20, remaining: 19, resetMs: 10_000 },
        { resource: 'tokens', limit: 120_000, remaining: 119_000, resetMs: 1_000 },
      ],
    },
  },
  {
    provider: 'Azure responses, which says -1',
    headers: {
      'x-ratelimit-limit-requests': '-1',
      'x-ratelimit-remaining-requests': '-1',
      'x-ratelimit-reset-requests': '0',
    },
    hints: { readings: [] },
  },
  {
    provider: 'Azure, only a sentence',
    body: {
      error: {
        code: '429',
        message: 'Requests to this API have exceeded the rate limit. Please retry after 26 seconds.',
      },
    },
    hints: { readings: [], retryAfterMs: 26_000 },
  },
  {
    provider: 'Anthropic',
    dialect: 'anthropic',
    headers: {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-10-21T07:28:02Z',
      'anthropic-ratelimit-input-tokens-limit': '40000',
      'anthropic-ratelimit-input-tokens-remaining': '38000',
      'anthropic-ratelimit-input-tokens-reset': '2026-10-21T07:28:03Z',
      'anthropic-ratelimit-output-tokens-limit': '8000',
      'anthropic-ratelimit-output-tokens-remaining': '8000',
      'anthropic-ratelimit-output-tokens-reset': '2026-10-21T07:28:00Z',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 50, remaining: 49, resetMs: 2_000 },
        { resource: 'inputTokens', limit: 40_000, remaining: 38_000, resetMs: 3_000 },
        { resource: 'outputTokens', limit: 8_000, remaining: 8_000, resetMs: 0 },
      ],
    },
  },
  {
    provider: 'Anthropic, with a clock that is a day behind ours',
    headers: {
      date: 'Tue, 20 Oct 2026 07:28:00 GMT',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-10-20T07:28:30Z',
      'retry-after': 'Tue, 20 Oct 2026 07:28:30 GMT',
    },
    hints: { readings: [{ resource: 'requests', limit: 50, remaining: 0, resetMs: 30_000 }], retryAfterMs: 30_000 },
  },
  {
    provider: 'Groq, requests per day and tokens per minute',
    dialect: 'groq',
    headers: {
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-remaining-requests': '14370',
      'x-ratelimit-reset-requests': '2m59.56s',
      'x-ratelimit-limit-tokens': '18000',
      'x-ratelimit-remaining-tokens': '17997',
      'x-ratelimit-reset-tokens': '7.66s',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 14_400, remaining: 14_370, resetMs: 179_560, windowMs: day },
        { resource: 'tokens', limit: 18_000, remaining: 17_997, resetMs: 7_660, windowMs: minute },
      ],
    },
  },
  {
    provider: 'Cerebras, mixed windows in one response',
    headers: {
      'x-ratelimit-limit-requests-day': '14400',
      'x-ratelimit-remaining-requests-day': '14399',
      'x-ratelimit-reset-requests-day': '33011.38',
      'x-ratelimit-limit-tokens-minute': '60000',
      'x-ratelimit-remaining-tokens-minute': '59000',
      'x-ratelimit-reset-tokens-minute': '11.38',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 14_400, remaining: 14_399, resetMs: 33_011_380, windowMs: day },
        { resource: 'tokens', limit: 60_000, remaining: 59_000, resetMs: 11_380, windowMs: minute },
      ],
    },
  },
  {
    provider: 'Mistral, by size',
    headers: {
      'x-ratelimitbysize-limit-minute': '500000',
      'x-ratelimitbysize-remaining-minute': '499922',
      'ratelimitbysize-reset': '36',
    },
    hints: {
      readings: [{ resource: 'tokens', limit: 500_000, remaining: 499_922, resetMs: 36_000, windowMs: minute }],
    },
  },
  {
    provider: 'Together, per second',
    dialect: 'together',
    headers: {
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': '1',
      'x-tokenlimit-limit': '3000',
      'x-tokenlimit-remaining': '2900',
    },
    hints: {
      readings: [
        { resource: 'requests', limit: 10, remaining: 9, resetMs: 1_000, windowMs: 1_000 },
        { resource: 'tokens', limit: 3_000, remaining: 2_900, resetMs: 1_000, windowMs: 1_000 },
      ],
    },
  },
  {
    provider: 'OpenRouter, epoch milliseconds',
    headers: { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 41_000) },
    hints: { readings: [{ resource: 'requests', limit: 20, remaining: 0, resetMs: 41_000 }] },
  },
  {
    provider: 'a gateway, epoch seconds',
    headers: { 'ratelimit-limit': '100', 'ratelimit-remaining': '3', 'ratelimit-reset': String(now / 1000 + 9) },
    hints: { readings: [{ resource: 'requests', limit: 100, remaining: 3, resetMs: 9_000 }] },
  },
  {
    provider: 'Gemini, per minute',
    body: {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [
              {
                quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
                quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
                quotaValue: '15',
              },
            ],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '38s' },
        ],
      },
    },
    hints: { readings: [{ resource: 'requests', limit: 15, windowMs: minute }], retryAfterMs: 38_000 },
  },
  { provider: 'vLLM, which says nothing', headers: { 'content-type': 'application/json' }, hints: { readings: [] } },
  {
    provider: 'a server that contradicts itself',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '0s',
      'retry-after': '3',
    },
    hints: { readings: [{ resource: 'requests', limit: 60, remaining: 12, resetMs: 0 }], retryAfterMs: 3_000 },
  },
];

describe('rate-limit hints', () => {
  test.each(samples)('of $provider', ({ dialect, headers = {}, body, hints }) => {
    expect(parseRateLimitHints({ headers, body }, { now, ...(dialect === undefined ? {} : { dialect }) })).toEqual(
      hints,
    );
    const asFetch = new Headers(headers);
    expect(
      parseRateLimitHints({ headers: asFetch, body }, { now, ...(dialect === undefined ? {} : { dialect }) }),
    ).toEqual(hints);
  });

  test('tell windows of a minute, ten seconds, a second and a day, as the lanes work them out', () => {
    const window = (limit: string, remaining: string, reset: string): number => {
      const headers = {
        'x-ratelimit-limit-requests': limit,
        'x-ratelimit-remaining-requests': remaining,
        'x-ratelimit-reset-requests': reset,
      };
      const [reading] = parseRateLimitHints({ headers }, { now }).readings;
      return ((reading?.limit ?? 0) * (reading?.resetMs ?? 0)) / ((reading?.limit ?? 0) - (reading?.remaining ?? 0));
    };
    expect(window('600', '540', '6s')).toBe(60_000);
    expect(window('20', '10', '5')).toBe(10_000);
    expect(window('10', '5', '500ms')).toBe(1_000);
    expect(window('14400', '14370', '3m0s')).toBe(day);
  });
});

describe('getRetryAfter', () => {
  test.each([
    ['7', 7_000],
    ['0', 0],
    ['Wed, 21 Oct 2026 07:28:07 GMT', 7_000],
    ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
    ['198300', 198_300_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['5s', undefined],
    ['NaN', undefined],
    ['', undefined],
    ['2026-10-21', undefined],
  ])('reads retry-after %j as %j ms', (value, expected) => {
    expect(getRetryAfter({ headers: { 'Retry-After': value } }, { now })).toBe(expected);
  });

  test('prefers milliseconds, and falls back when they make no sense', () => {
    expect(getRetryAfter({ headers: { 'retry-after-ms': '350', 'retry-after': '9' } }, { now })).toBe(350);
    expect(getRetryAfter({ headers: { 'retry-after-ms': 'soon', 'retry-after': '9' } }, { now })).toBe(9_000);
  });

  test('knows our failures, SDK errors, responses inside errors, and bodies', () => {
    expect(getRetryAfter({ kind: 'failure', hints: { readings: [], retryAfterMs: 5 } }, { now })).toBe(5);
    expect(getRetryAfter({ status: 429, headers: new Headers({ 'retry-after': '2' }) }, { now })).toBe(2_000);
    expect(getRetryAfter({ response: { headers: { 'retry-after': '2' } } }, { now })).toBe(2_000);
    expect(getRetryAfter({ status: 429, retryAfterMs: 77 }, { now })).toBe(77);
    expect(getRetryAfter({ resetAt: now + 90 }, { now })).toBe(90);
    expect(getRetryAfter({ error: { message: 'Please try again in 1m26.4s.' } }, { now })).toBe(86_400);
    expect(getRetryAfter({ raw: '{"error":{"message":"Please try again in 300ms."}}' }, { now })).toBe(300);
    for (const nothing of [undefined, null, 'retry after 5', 429, {}, new Error('429')])
      expect(getRetryAfter(nothing, { now })).toBeUndefined();
  });
});
