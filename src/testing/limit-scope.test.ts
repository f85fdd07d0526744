import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bucket } from './bucket.ts';
import { goDuration, limitHeaders, retryHeaders } from './limit-headers.ts';
import { LimitScope, type ServerLimits } from './limit-scope.ts';

const light = { inputTokens: 10, maxTokens: undefined, expectedOutput: 10 };

describe('a bucket', () => {
  it('never gives more than capacity plus refill in any interval', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { maxLength: 200 }), fc.boolean(), (gaps, fixedWindow) => {
        const bucket = new Bucket({ perWindow: 10, windowMs: 1000, capacity: 5, fixedWindow });
        let now = 0;
        let taken = 0;
        for (const gap of gaps) {
          now += gap;
          if (bucket.wait(1, now) > 0) continue;
          bucket.take(1, now);
          taken += 1;
        }
        return taken <= 5 + (now / 1000) * 10 + 1e-6;
      }),
    );
  });

  it('accepts exactly when the wait it named is over', () => {
    const bucket = new Bucket({ perWindow: 60, windowMs: 60_000, capacity: 1 });
    bucket.take(1, 0);
    expect(bucket.wait(1, 400)).toBe(600);
    expect(bucket.wait(1, 1000)).toBe(0);
  });

  it('refills at once at the end of a fixed window', () => {
    const bucket = new Bucket({ perWindow: 3, windowMs: 1000, fixedWindow: true });
    bucket.take(3, 0);
    expect(bucket.level(999)).toBe(0);
    expect(bucket.wait(1, 250)).toBe(750);
    expect(bucket.level(1000)).toBe(3);
  });
});

describe('a scope of limits', () => {
  const admitMany = (limits: ServerLimits, count: number, now = 0): (string | undefined)[] => {
    const scope = new LimitScope(limits);
    return Array.from({ length: count }, () => scope.admit(light, now).refusal?.resource);
  };

  it('refuses by the resource that ran out', () => {
    expect(admitMany({ rpm: 2 }, 3)).toEqual([undefined, undefined, 'requests']);
    expect(admitMany({ tpm: 50 }, 3)).toEqual([undefined, undefined, 'tokens']);
    expect(admitMany({ concurrency: 1 }, 2)).toEqual([undefined, 'concurrency']);
    expect(admitMany({ requestsPerDay: 1 }, 2)).toEqual([undefined, 'requestsDay']);
    expect(admitMany({ rpm: 600, hiddenBurst: { requests: 2, perMs: 1000 } }, 3)).toEqual([
      undefined,
      undefined,
      'burst',
    ]);
  });

  it('holds a window of ten seconds at a sixth of the minute', () => {
    expect(admitMany({ rpm: 12, windowMs: 10_000 }, 3)).toEqual([undefined, undefined, 'requests']);
  });

  it('reserves input and max_tokens, and gives back what was not used', () => {
    const scope = new LimitScope({ tpm: 1000, reserve: 'input+max' });
    const admission = scope.admit({ ...light, maxTokens: 700 }, 0);
    expect(admission.readings.tokens?.remaining).toBe(290);
    admission.settle(0, 10, 20);
    admission.settle(0, 10, 20);
    expect(scope.admit(light, 0).readings.tokens?.remaining).toBe(1000 - 30 - 20);
  });

  it('says that a request larger than the bucket can never pass', () => {
    const scope = new LimitScope({ tpm: 100 });
    expect(scope.admit({ ...light, inputTokens: 500 }, 0).refusal?.waitMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('takes quota for rejections where the vendor does', () => {
    const scope = new LimitScope({ rpm: 1, rejectionsCost: true });
    for (let at = 0; at < 3; at += 1) scope.admit(light, 0);
    expect(scope.admit(light, 60_000).refusal?.resource).toBe('requests');
  });
});

describe('headers', () => {
  const reading = { limit: 120, remaining: 90, resetMs: 15_500 };
  const readings = { requests: reading, tokens: { limit: 60_000, remaining: 59_123, resetMs: 877 } };
  it.each([
    ['openai', 'x-ratelimit-reset-requests', '15.5s'],
    ['openai', 'x-ratelimit-reset-tokens', '877ms'],
    ['azure', 'x-ratelimit-reset-requests', '16'],
    ['anthropic', 'anthropic-ratelimit-requests-reset', '2023-11-14T22:13:36Z'],
    ['anthropic', 'anthropic-ratelimit-tokens-remaining', '59000'],
    ['together', 'x-ratelimit-limit', '2'],
    ['mistral', 'x-ratelimitbysize-remaining-minute', '59123'],
    ['openrouter', 'x-ratelimit-reset', '1700000015500'],
  ] as const)('in the style of %s tell %s as %s', (style, name, value) => {
    expect(limitHeaders(style, readings, 1_700_000_000_000)[name]).toBe(value);
  });

  it('in the style of groq tell requests per day', () => {
    const perDay = { requestsDay: { limit: 1000, remaining: 999, resetMs: 86_400 } };
    expect(limitHeaders('groq', perDay, 0)).toMatchObject({ 'x-ratelimit-reset-requests': '1m26.4s' });
  });

  it('write durations as Go does', () => {
    expect([12, 1000, 90_000, 360_000, 3_661_000].map(goDuration)).toEqual(['12ms', '1s', '1m30s', '6m0s', '1h1m1s']);
  });

  it('never name a wait shorter than the real one', () => {
    expect(retryHeaders('both', 1234.5, 0)).toEqual({ 'retry-after': '2', 'retry-after-ms': '1235' });
    expect(retryHeaders('http-date', 1, 1_700_000_000_500)).toEqual({ 'retry-after': 'Tue, 14 Nov 2023 22:13:21 GMT' });
  });
});
