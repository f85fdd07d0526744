import { describe, expect, it } from 'vitest';
import { Bucket } from './bucket.ts';

describe('a bucket', () => {
  it('with no burst credit does exactly nextReqAt = max(nextReqAt, t0) + 60000 / rpm', () => {
    const bucket = new Bucket(90 / 60_000, 0, 90, 0);
    let nextReqAt = 0;
    for (const t0 of [0, 700, 1_400, 5_000, 5_001, 9_000.5]) {
      expect(bucket.eligibleAt(1, t0)).toBe(Math.max(t0, nextReqAt));
      bucket.charge(1, t0);
      nextReqAt = Math.max(nextReqAt, t0) + 60_000 / 90;
      expect(bucket.nextAt).toBeCloseTo(nextReqAt, 9);
    }
  });

  it('with no burst credit does exactly nextTokAt = max(nextTokAt, t0) + estimatedTokens * 60000 / tpm', () => {
    const bucket = new Bucket(30_000 / 60_000, 0, 30_000, 0);
    let nextTokAt = 0;
    for (const [t0, tokens] of [
      [0, 1_000],
      [2_000, 250],
      [2_500, 4_000],
      [60_000, 10],
    ] as const) {
      bucket.charge(tokens, t0);
      nextTokAt = Math.max(nextTokAt, t0) + (tokens * 60_000) / 30_000;
      expect(bucket.nextAt).toBeCloseTo(nextTokAt, 9);
      expect(bucket.eligibleAt(123, t0)).toBeCloseTo(nextTokAt, 9);
    }
  });

  it('lets a burst credit be used at once and then keeps the pace', () => {
    const bucket = new Bucket(1 / 100, 5, 10, 0);
    for (let start = 0; start < 5; start += 1) {
      expect(bucket.eligibleAt(1, 0)).toBe(0);
      bucket.charge(1, 0);
    }
    expect(bucket.eligibleAt(1, 0)).toBe(100);
  });

  it('keeps what is owed when the rate changes', () => {
    const bucket = new Bucket(1 / 100, 0, 10, 0);
    bucket.charge(4, 0);
    bucket.setRate(1 / 50, 100);
    expect(bucket.owed(100)).toBeCloseTo(3, 9);
    expect(bucket.nextAt).toBeCloseTo(250, 9);
  });

  it('gives back what was reserved too much, but never more than is owed', () => {
    const bucket = new Bucket(1, 0, 10_000, 0);
    bucket.charge(4_000, 0);
    bucket.adjust(-3_000, 0);
    expect(bucket.nextAt).toBe(1_000);
    bucket.adjust(-9_000, 500);
    expect(bucket.nextAt).toBe(500);
  });

  it('in a fixed window spreads the starts, never exceeds the limit, and starts afresh at its end', () => {
    const bucket = new Bucket(10 / 1_000, 2, 10, 0);
    bucket.setWindow(1_000, 1_000, 0);
    const starts: number[] = [];
    for (let now = 0; starts.length < 25; ) {
      const at = bucket.eligibleAt(1, now);
      if (at <= now) {
        bucket.charge(1, now);
        starts.push(now);
      } else now = at;
    }
    for (const window of [0, 1, 2])
      expect(starts.filter((at) => Math.floor(at / 1_000) === window).length).toBeLessThanOrEqual(10);
    expect(starts.filter((at) => at < 1_000)).toHaveLength(10);
    expect(starts.filter((at) => at < 100).length).toBeLessThan(5);
  });
});
