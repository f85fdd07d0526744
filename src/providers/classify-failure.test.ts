import { describe, expect, test } from 'vitest';
import type { Json } from '../domain/json.ts';
import { classifyAnswer, failureOf } from './classify-failure.ts';
import type { Vendor } from './failure-rules.ts';
import { nextPacificMidnight } from './pacific-midnight.ts';
import { parseRateLimitHints } from './rate-limit-hints.ts';

const now = Date.parse('2026-07-01T12:00:00Z');

interface Sample {
  readonly what: string;
  readonly vendor: Vendor;
  readonly status: number;
  readonly body: Json;
  readonly headers?: Record<string, string>;
  readonly words?: readonly string[];
  readonly code: string;
  readonly more?: object;
}

const gemini = (quotaId: string, retryDelay?: string): Json => ({
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'You exceeded your current quota.',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
      ...(retryDelay === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }]),
    ],
  },
});

const samples: readonly Sample[] = [
  {
    what: 'OpenAI tokens per minute',
    vendor: 'openai',
    status: 429,
    body: { error: { type: 'tokens', code: 'rate_limit_exceeded', message: 'x' } },
    code: 'rate_limited',
    more: { resource: 'tokens', retryable: true },
  },
  {
    what: 'OpenAI without money',
    vendor: 'openai',
    status: 429,
    body: { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'x' } },
    code: 'billing',
    more: { retryable: false },
  },
  {
    what: 'Azure, the same words for a full minute',
    vendor: 'azure',
    status: 429,
    headers: { 'retry-after': '12' },
    body: { error: { code: 'insufficient_quota', message: 'x' } },
    code: 'rate_limited',
  },
  {
    what: 'Azure, the same words without a delay',
    vendor: 'azure',
    status: 429,
    body: { error: { code: 'insufficient_quota', message: 'x' } },
    code: 'billing',
  },
  {
    what: 'OpenAI, one request larger than the bucket',
    vendor: 'openai',
    status: 429,
    body: {
      error: {
        type: 'tokens',
        code: 'rate_limit_exceeded',
        message:
          'Request too large for gpt-4.1 in organization o on tokens per min (TPM): Limit 10000, Requested 12034. The input or output tokens must be reduced.',
      },
    },
    code: 'too_large',
    more: { retryable: false },
  },
  {
    what: 'OpenAI slow_down',
    vendor: 'openai',
    status: 503,
    body: { error: { code: 'slow_down', message: 'x' } },
    code: 'overloaded',
  },
  {
    what: 'OpenAI, a country',
    vendor: 'openai',
    status: 403,
    body: { error: { code: 'unsupported_country_region_territory', message: 'x' } },
    code: 'region_blocked',
  },
  {
    what: 'OpenAI, a permission',
    vendor: 'openai',
    status: 403,
    body: { error: { code: null, message: 'You have no access to project 403' } },
    code: 'auth',
  },
  {
    what: 'OpenAI, a long prompt',
    vendor: 'openai',
    status: 400,
    body: { error: { code: 'context_length_exceeded', message: 'x' } },
    code: 'context_length',
  },
  {
    what: 'a 400 whose message speaks of 429 and rate limits',
    vendor: 'openai',
    status: 400,
    body: { error: { message: 'rate limit 429 503 network' } },
    code: 'invalid_request',
    more: { retryable: false },
  },
  {
    what: 'Groq, requests per day',
    vendor: 'groq',
    status: 429,
    headers: { 'retry-after': '90' },
    body: {
      error: {
        type: 'requests',
        code: 'rate_limit_exceeded',
        message:
          'Rate limit reached for model `m` in organization `o` on requests per day (RPD): Limit 1000, Used 1000, Requested 1. Please try again in 1m26.4s.',
      },
    },
    code: 'daily_exhausted',
    more: { resetAt: now + 90_000 },
  },
  {
    what: 'Cerebras, the day used up by its headers',
    vendor: 'openai',
    status: 429,
    headers: {
      'x-ratelimit-limit-requests-day': '14400',
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '33011',
    },
    body: { message: 'Requests per day limit exceeded', code: 'request_quota_exceeded' },
    code: 'daily_exhausted',
    more: { resetAt: now + 33_011_000 },
  },
  {
    what: 'Anthropic',
    vendor: 'anthropic',
    status: 429,
    headers: { 'retry-after': '5' },
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'x' } },
    code: 'rate_limited',
    more: { hints: { readings: [], retryAfterMs: 5_000 } },
  },
  {
    what: 'Anthropic, the spend limit',
    vendor: 'anthropic',
    status: 429,
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'x', details: { error_code: 'enforced_spend_limit_reached' } },
    },
    code: 'billing',
  },
  {
    what: 'Anthropic, overloaded inside a 200 or 500',
    vendor: 'anthropic',
    status: 500,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
    code: 'overloaded',
  },
  {
    what: 'Bedrock, by header',
    vendor: 'bedrock',
    status: 400,
    words: ['ThrottlingException'],
    body: { message: 'Too many requests' },
    code: 'rate_limited',
  },
  {
    what: 'Bedrock, the day',
    vendor: 'bedrock',
    status: 429,
    words: ['ThrottlingException'],
    body: { message: 'Too many tokens per day, please wait before trying again.' },
    code: 'daily_exhausted',
    more: { resetAt: Date.parse('2026-07-02T00:00:00Z') },
  },
  {
    what: 'Bedrock, by __type',
    vendor: 'bedrock',
    status: 403,
    body: { __type: 'com.amazon.coral.service#AccessDeniedException', message: 'no' },
    code: 'auth',
  },
  {
    what: 'Bedrock, a wrong clock',
    vendor: 'bedrock',
    status: 403,
    words: ['InvalidSignatureException'],
    body: { message: 'Signature expired' },
    code: 'transient',
    more: { retryOnce: true },
  },
  {
    what: 'Gemini per minute',
    vendor: 'google',
    status: 429,
    body: gemini('GenerateRequestsPerMinutePerProjectPerModel', '38s'),
    code: 'rate_limited',
    more: { resource: 'requests' },
  },
  {
    what: 'Gemini per day, although with a short delay',
    vendor: 'google',
    status: 429,
    body: gemini('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '21s'),
    code: 'daily_exhausted',
    more: { resetAt: Date.parse('2026-07-02T07:00:00Z') },
  },
  {
    what: 'Gemini, a wrong key',
    vendor: 'google',
    status: 400,
    body: {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'x',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
      },
    },
    code: 'auth',
  },
  {
    what: 'Gemini, a country',
    vendor: 'google',
    status: 400,
    body: { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'x' } },
    code: 'region_blocked',
  },
  {
    what: 'OpenRouter without credits',
    vendor: 'openrouter',
    status: 402,
    body: { error: { code: 402, message: 'x' } },
    code: 'billing',
  },
  {
    what: 'OpenRouter, moderated',
    vendor: 'openrouter',
    status: 403,
    body: { error: { code: 403, message: 'x', metadata: { reasons: ['violence'] } } },
    code: 'content_filter',
  },
  {
    what: 'Ollama with a full queue',
    vendor: 'ollama',
    status: 503,
    body: { error: 'server busy' },
    code: 'overloaded',
  },
  {
    what: 'a templated target that does not know a path',
    vendor: 'http',
    status: 404,
    body: null,
    code: 'invalid_request',
  },
];

describe('the error taxonomy', () => {
  test.each(samples)('$what is $code', ({ vendor, status, body, headers = {}, words, code, more = {} }) => {
    const answer = {
      status,
      body,
      raw: JSON.stringify(body),
      hints: parseRateLimitHints({ headers, body }, { now }),
      ...(words === undefined ? {} : { words }),
    };
    const context = { vendor, provider: 'p', now };
    const found = classifyAnswer(answer, context);
    expect(found).toBe(code);
    if (found !== 'content_filter')
      expect(failureOf(answer, found, context)).toMatchObject({ code, status, billed: 'no', ...more });
  });

  test('a 401 says which variable to look at', () => {
    const answer = { status: 401, body: null, raw: '', hints: { readings: [] } };
    const context = { vendor: 'openai' as const, provider: 'openai:gpt-4.1', now, keyVariable: 'OPENAI_API_KEY' };
    expect(failureOf(answer, 'auth', context).message).toContain('OPENAI_API_KEY');
  });

  test('Pacific midnight holds in summer, in winter and on the days of change', () => {
    const at = (time: string): string => new Date(nextPacificMidnight(Date.parse(time))).toISOString();
    expect(at('2026-07-01T12:00:00Z')).toBe('2026-07-02T07:00:00.000Z');
    expect(at('2026-12-01T12:00:00.250Z')).toBe('2026-12-02T08:00:00.000Z');
    expect(at('2026-03-08T09:00:00Z')).toBe('2026-03-09T07:00:00.000Z');
    expect(at('2026-11-01T08:30:00Z')).toBe('2026-11-02T08:00:00.000Z');
  });
});
