import { describe, expect, it } from 'vitest';
import { caseIndex, caseKey } from '../domain/ids.ts';
import type { RowStatus } from '../domain/row.ts';
import { compareRuns } from './compare-runs.ts';
import { comparisonJson, comparisonMarkdown, comparisonText, comparisonVerdict } from './render-comparison.ts';
import { type ComparedRow, runSide } from './run-side.ts';

const row = (at: number, status: RowStatus, more: Partial<ComparedRow> = {}): ComparedRow => ({
  index: caseIndex(at),
  key: caseKey(`key-${at}`),
  name: `case ${at}`,
  kind: 'prompt',
  column: 0,
  repeat: 0,
  status,
  score: status === 'passed' ? 1 : status === 'failed' ? 0 : null,
  output: `text ${at}`,
  latencyMs: 10,
  costUsdMicros: 1000,
  ...more,
});

const side = (name: string, rows: readonly ComparedRow[], durationMs = 6000) => {
  const builder = runSide(name, durationMs);
  for (const each of rows) builder.add(each);
  return builder.build();
};

const eighteen = (failing: readonly number[]): ComparedRow[] =>
  Array.from({ length: 18 }, (_, at) => row(at, failing.includes(at) ? 'failed' : 'passed'));

describe('comparing two runs', () => {
  it('finds what got better and says that two cases may be chance', () => {
    const comparison = compareRuns(side('run 1', eighteen([6, 17])), side('run 2', eighteen([])));
    expect(comparison.better.map(({ after }) => after.index)).toEqual([6, 17]);
    expect(comparison).toMatchObject({ inBoth: 18, same: 16, worse: [], verdict: 'may-be-chance' });
    expect(comparison.p).toBeCloseTo(0.5, 10);
    expect(comparisonText(comparison)).toContain('better     2   #7, #18');
    expect(comparisonVerdict(comparison)).toMatch(
      /^Pass rate 89 % -> 100 %\. {2}With 18 cases this may be chance \(p = 0\.50\); `--repeat \d+` would tell and cost about \$0\.\d\d and \d+ s\.$/,
    );
  });

  it('calls a clear change real, with its interval', () => {
    const before = side('a', eighteen([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    const comparison = compareRuns(before, side('b', eighteen([])));
    expect(comparison.verdict).toBe('better');
    expect(comparison.settle).toBeNull();
    expect(comparison.passRate?.interval.low).toBeGreaterThan(0.2);
    expect(comparisonVerdict(comparison)).toContain('really better');
    expect(compareRuns(side('b', eighteen([])), before).verdict).toBe('worse');
  });

  it('never lets an infrastructure error count as a wrong answer', () => {
    const after = eighteen([]).map((each) => (each.index === 3 ? row(3, 'error', { output: null }) : each));
    const comparison = compareRuns(side('a', eighteen([])), side('b', after));
    expect(comparison).toMatchObject({ verdict: 'same', same: 17, worse: [] });
    expect(comparison.unscored).toHaveLength(1);
    expect(comparison.passRate).toMatchObject({ before: 1, after: 1 });
  });

  it('groups the repeats of a case and compares their rates', () => {
    const repeats = (passed: number): ComparedRow[] =>
      Array.from({ length: 10 }, (_, repeat) =>
        row(repeat, repeat < passed ? 'passed' : 'failed', { name: 'same', repeat, key: caseKey(`same-${repeat}`) }),
      );
    const comparison = compareRuns(side('a', repeats(2)), side('b', repeats(8)));
    expect(comparison.inBoth).toBe(1);
    expect(comparison.better[0]).toMatchObject({ before: { tries: 10, passed: 2 }, after: { tries: 10, passed: 8 } });
    expect(comparison.p).toBeCloseTo(0.02301, 4);
  });

  it('matches by key first, then by name and order, so that an edited prompt still compares', () => {
    const before = [
      row(0, 'passed', { name: 'x', key: caseKey('one') }),
      row(1, 'failed', { name: 'x', key: caseKey('two') }),
    ];
    const moved = [
      row(0, 'failed', { name: 'x', key: caseKey('two') }),
      row(1, 'passed', { name: 'x', key: caseKey('one') }),
    ];
    expect(compareRuns(side('a', before), side('b', moved))).toMatchObject({ same: 2, better: [], worse: [] });
    const edited = before.map((each) => ({ ...each, key: caseKey(`${each.key}-edited`), status: 'passed' as const }));
    expect(compareRuns(side('a', before), side('b', edited)).better).toHaveLength(1);
  });

  it('tells which cases are in one run only, and which have a new text', () => {
    const before = [row(0, 'passed'), row(1, 'passed')];
    const after = [row(0, 'passed', { output: 'other words' }), row(2, 'passed')];
    const comparison = compareRuns(side('a', before), side('b', after));
    expect(comparison.onlyBefore).toEqual([{ name: 'case 1', index: 1 }]);
    expect(comparison.onlyAfter).toEqual([{ name: 'case 2', index: 2 }]);
    expect(comparison.sameVerdictNewText).toBe(1);
  });

  it('compares scores too when they are more than pass and fail', () => {
    const scored = (scores: readonly number[]): ComparedRow[] =>
      scores.map((score, at) => row(at, 'passed', { score }));
    const comparison = compareRuns(side('a', scored([0.5, 0.5, 0.5])), side('b', scored([0.9, 0.8, 0.7])));
    expect(comparison.score).toMatchObject({ before: 0.5, p: 0.25 });
    expect(compareRuns(side('a', eighteen([])), side('b', eighteen([]))).score).toBeNull();
  });

  it('asks for more repeats when the difference is smaller', () => {
    const repeatFor = (failing: number[], failingAfter: number[]) =>
      compareRuns(side('a', eighteen(failing)), side('b', eighteen(failingAfter))).settle?.repeat ?? Number.NaN;
    expect(repeatFor([0, 1, 2, 3], [])).toBeLessThan(repeatFor([0, 1], []));
    expect(repeatFor([0, 1, 2, 3], [4])).toBeGreaterThan(repeatFor([0, 1, 2, 3], []));
    expect(compareRuns(side('a', eighteen([0])), side('b', eighteen([1]))).settle).toBeNull();
  });

  it('has nothing to say about two runs without a common case', () => {
    const comparison = compareRuns(side('a', [row(0, 'passed')]), side('b', [row(9, 'passed')]));
    expect(comparison.verdict).toBe('nothing-to-compare');
    expect(comparisonText(comparison)).toContain('nothing to compare');
  });

  it('keeps what a model wrote from steering the terminal or the Markdown', () => {
    const nasty = '\u001b[2J|<img src=x>`rm`\nnext';
    const after = eighteen([]).map((each) =>
      each.index === 3 ? row(3, 'failed', { output: nasty, verdict: { pass: false, score: 0, reason: nasty } }) : each,
    );
    const comparison = compareRuns(side('a', eighteen([])), side('b', after));
    expect(comparisonText(comparison)).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(comparisonMarkdown(comparison)).toContain("`[2J\\|<img src=x>'rm' next`");
    expect(JSON.parse(comparisonJson(comparison))).toMatchObject({ version: 1, inBoth: 18 });
  });
});
