import { describe, expect, it } from 'vitest';
import { LimitLearner } from './limit-learner.ts';

const minute = 60_000;

describe('the limit learner', () => {
  it.each([
    ['OpenAI, 500 a minute, one used', 500, 499, 120, 500 / minute, minute],
    ['Azure, 20 in ten seconds', 20, 15, 2_500, 20 / 10_000, 10_000],
    ['Together, 10 a second', 10, 7, 300, 10 / 1_000, 1_000],
    ['tokens, 200,000 a minute', 200_000, 188_000, 3_600, 200_000 / minute, minute],
  ])('reads rate and window from one triple: %s', (_name, limit, remaining, reset, rate, window) => {
    const learned = new LimitLearner().observe(limit, remaining, reset, 1_000);
    expect(learned?.rate).toBeCloseTo(rate, 9);
    expect(learned?.windowMs).toBe(window);
    expect(learned?.sure).toBe(true);
  });

  it("reads a day as a day from two readings that agree, or from the header's own name at once", () => {
    const learner = new LimitLearner();
    expect(learner.observe(14_400, 14_399, 6_000, 0)?.sure).toBe(false);
    expect(learner.observe(14_400, 14_398, 12_000, 10)).toMatchObject({ windowMs: 86_400_000, sure: true });
    expect(new LimitLearner().observe(1_000, 990, 0, 0, 86_400_000)).toMatchObject({
      windowMs: 86_400_000,
      sure: true,
    });
  });

  it.each([
    ['-1 of -1', -1, -1, 0],
    ['nothing used', 100, 100, 0],
    ['more left than there is', 100, 120, 500],
    ['no reset', 100, 50, Number.NaN],
  ])('learns nothing from %s', (_name, limit, remaining, reset) => {
    expect(new LimitLearner().observe(limit, remaining, reset, 0)).toBeUndefined();
  });

  it('narrows the rate down although remaining is rounded to whole units', () => {
    const learner = new LimitLearner();
    const rate = 7.3 / 1_000;
    const limit = 100;
    for (let used = 1.4; used < 60; used += 3.7)
      learner.observe(limit, Math.floor(limit - used), used / rate, used * 1_000);
    expect((learner.learned?.rate ?? 0) / rate).toBeGreaterThan(0.98);
    expect((learner.learned?.rate ?? 0) / rate).toBeLessThan(1.02);
  });

  it('says how much more the readings would allow, less with every reading', () => {
    const learner = new LimitLearner();
    const rate = 7.3 / 1_000;
    const read = (used: number) => learner.observe(100, Math.floor(100 - used), used / rate, used * 1_000);
    const [first, second] = [read(1.4), read(5.9)];
    expect(first?.most).toBeGreaterThan(rate);
    expect(second?.most).toBeLessThan(first?.most ?? 0);
    expect(second?.most).toBeGreaterThanOrEqual(second?.rate ?? Number.POSITIVE_INFINITY);
    expect(new LimitLearner().observe(500, 499, 120, 0)).toMatchObject({ rate: 500 / minute, most: 500 / minute });
  });

  it('sees a fixed window by its end, which stands still while the use grows', () => {
    const learner = new LimitLearner();
    learner.observe(600, 599, 52_000, 8_000);
    const learned = learner.observe(600, 597, 52_000, 8_000);
    expect(learned).toMatchObject({ windowMs: minute, fixedWindowEndsAt: 60_000, rate: 600 / minute });
    expect(learner.observe(600, 500, 59_000, 61_000)).toMatchObject({ fixedWindowEndsAt: 120_000 });
  });

  it('takes a window for longer when a reset is longer than it', () => {
    const learner = new LimitLearner();
    learner.observe(600, 599, 8_000, 52_000);
    expect(learner.observe(600, 597, 8_000, 52_000)).toMatchObject({ windowMs: 10_000 });
    expect(learner.observe(600, 590, 58_000, 62_000)).toMatchObject({ windowMs: minute, fixedWindowEndsAt: 120_000 });
  });

  it('goes back to a bucket when the ends do not fit a window any more', () => {
    const learner = new LimitLearner();
    learner.observe(600, 599, 52_000, 8_000);
    learner.observe(600, 597, 52_000, 8_000);
    for (const used of [10, 15, 23, 31]) learner.observe(600, 600 - used, used * 100, 100_000 + used * 777);
    expect(learner.learned?.fixedWindowEndsAt).toBeUndefined();
    expect(learner.learned?.rate).toBeCloseTo(600 / minute, 6);
  });

  it('starts afresh when the limit itself changes', () => {
    const learner = new LimitLearner();
    learner.observe(500, 499, 120, 0);
    expect(learner.observe(1_000, 990, 600, 10)?.rate).toBeCloseTo(1_000 / minute, 9);
  });
});
