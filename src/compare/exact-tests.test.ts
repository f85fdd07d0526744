import { describe, expect, it } from 'vitest';
import { mcnemarExact, stratifiedExact, swapTest, twoSidedNormal } from './exact-tests.ts';

const single = (before: 0 | 1, after: 0 | 1) => ({
  passedBefore: before,
  triesBefore: 1,
  passedAfter: after,
  triesAfter: 1,
});

describe('the exact tests', () => {
  it('give the table values of the sign test', () => {
    expect(mcnemarExact(2, 0)).toBeCloseTo(0.5, 10);
    expect(mcnemarExact(6, 0)).toBeCloseTo(0.03125, 10);
    expect(mcnemarExact(8, 2)).toBeCloseTo(0.109375, 10);
    expect(mcnemarExact(0, 0)).toBe(1);
  });

  it('are McNemar when every case has one try in each run', () => {
    for (const [better, worse] of [
      [2, 0],
      [8, 2],
      [9, 9],
      [30, 12],
    ] as const) {
      const strata = [
        ...Array.from({ length: better }, () => single(0, 1)),
        ...Array.from({ length: worse }, () => single(1, 0)),
        ...Array.from({ length: 40 }, () => single(1, 1)),
      ];
      expect(stratifiedExact(strata)).toBeCloseTo(mcnemarExact(better, worse), 8);
    }
  });

  it('are Fisher when one case has many tries', () => {
    const p = stratifiedExact([{ passedBefore: 2, triesBefore: 10, passedAfter: 8, triesAfter: 10 }]);
    expect(p).toBeCloseTo(0.02301, 4);
  });

  it('say nothing when no case tells the runs apart', () => {
    expect(stratifiedExact([single(1, 1), single(0, 0)])).toBe(1);
    expect(stratifiedExact([])).toBe(1);
  });

  it('agree with the normal approximation where exact work would be too much', () => {
    const many = (count: number) =>
      stratifiedExact(Array.from({ length: count }, (_, i) => (i % 100 < 52 ? single(0, 1) : single(1, 0))));
    expect(many(10_000)).toBeCloseTo(twoSidedNormal((5200 - 5000 - 0.5) / Math.sqrt(2500)), 5);
  });

  it('look at every swap of few scores, and at a fixed sample of many', () => {
    expect(swapTest([0.5, 0.5, 0.5])).toBeCloseTo(0.25, 10);
    expect(swapTest([0, 0])).toBe(1);
    const many = Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? -0.2 : 0.3));
    expect(swapTest(many)).toBe(swapTest(many));
    expect(swapTest(many)).toBeLessThan(0.001);
    const even = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? -0.2 : 0.2));
    expect(swapTest(even)).toBeGreaterThan(0.9);
  });
});
