import { describe, expect, it } from 'vitest';
import type { SuiteTest } from '../domain/suite.ts';
import { BadFilter, filterTests, scenarioSeed, type TestFilters } from './filter-tests.ts';

const tests: SuiteTest[] = Array.from({ length: 6 }, (_, at) => ({
  description: `test ${at}`,
  metadata: { kind: at % 2 === 0 ? 'even' : 'odd', tags: ['all', `t${at}`] },
}));
const kept = (filters: TestFilters): number[] =>
  filterTests(tests, filters).map(({ description }) => Number(description?.slice(5)));

describe('filters over tests', () => {
  it('match metadata as parts of text, lists by any element, several by all', () => {
    expect(kept({ metadata: ['kind=ev'] })).toEqual([0, 2, 4]);
    expect(kept({ metadata: ['tags=t3'] })).toEqual([3]);
    expect(kept({ metadata: ['kind=even', 'tags=t4'] })).toEqual([4]);
  });

  it('match descriptions by a regular expression', () => {
    expect(kept({ pattern: '[12]$' })).toEqual([1, 2]);
  });

  it('cut a range with an exclusive end, either side open', () => {
    expect(kept({ range: '1:3' })).toEqual([1, 2]);
    expect(kept({ range: '4:' })).toEqual([4, 5]);
    expect(kept({ range: ':2' })).toEqual([0, 1]);
  });

  it('apply in order: metadata, earlier results, pattern, range, first n', () => {
    expect(
      kept({ metadata: ['kind=even'], earlier: (test) => test.description !== 'test 0', range: '0:2', firstN: 1 }),
    ).toEqual([2]);
  });

  it('sample the same tests for the same seed', () => {
    expect(kept({ sample: 3, sampleSeed: 42 })).toEqual(kept({ sample: 3, sampleSeed: 42 }));
    expect(kept({ sample: 3, sampleSeed: 42 })).toHaveLength(3);
    expect(kept({ sample: 6, sampleSeed: 1 })).not.toEqual(kept({ sample: 6, sampleSeed: 2 }));
    expect(scenarioSeed(42, 0)).not.toBe(scenarioSeed(42, 1));
  });

  it.each([
    [{ metadata: ['novalue'] }, '--filter-metadata'],
    [{ pattern: '(' }, '--filter-pattern'],
    [{ range: 'x:y' }, '--filter-range'],
    [{ range: '3:1' }, '--filter-range'],
    [{ range: ':' }, '--filter-range'],
  ] as const)('refuse %j and name the option', (filters, option) => {
    expect(() => kept(filters as TestFilters)).toThrow(BadFilter);
    expect(() => kept(filters as TestFilters)).toThrow(option);
  });
});
