import { describe, expect, it } from 'vitest';
import type { ModelCall } from '../domain/effects.ts';
import type { Verdict } from '../domain/verdict.ts';
import { type ComparedRow, maxScore, selectBest, withComparison } from './compare-rows.ts';
import { type Answering, benchEffects, benchPorts, failure, gradeOn, wordsOf } from './fixtures/grading-bench.ts';

const passed: Verdict = { pass: true, score: 1, reason: 'fine' };
const row = (output: string, verdict: Verdict = passed): ComparedRow => ({ output, verdict });
const options = { baseDir: '/suite', ports: benchPorts(), defaultGraders: { text: 'grader' } };
const best = (answer: Answering, rows: readonly ComparedRow[], effects = benchEffects(answer)) =>
  selectBest({ type: 'select-best', value: 'the funniest' }, rows, {}, 2, effects, options);

describe('select-best', () => {
  it('the chosen row passes, the others fail', async () => {
    const effects = benchEffects(() => 'The best is 1.');
    const verdicts = await best(() => '', [row('a'), row('b'), row('c')], effects);
    expect(verdicts.map(({ pass, score }) => [pass, score])).toEqual([
      [false, 0],
      [true, 1],
      [false, 0],
    ]);
    expect(effects.asked[0]?.path).toBe('grade/2/0');
    const words = wordsOf(effects.asked[0]?.call as ModelCall);
    expect(words).toContain('<Text index="2">\nc');
    expect(words).toContain('the funniest');
  });

  it('an index that does not exist is asked for once more, then an error', async () => {
    const effects = benchEffects(() => '7');
    const verdicts = await best(() => '', [row('a'), row('b')], effects);
    expect(verdicts.every(({ error }) => error?.includes('index from 0 to 1'))).toBe(true);
    expect(effects.asked).toHaveLength(2);
  });

  it('a failing grader, or a single row, is an error of every row', async () => {
    expect((await best(() => failure('down'), [row('a'), row('b')]))[1]?.error).toMatch(/down/);
    expect((await best(() => '0', [row('a')]))[0]?.error).toMatch(/at least two/);
  });
});

describe('max-score', () => {
  const graded = async (output: string): Promise<ComparedRow> =>
    row(
      output,
      await gradeOn(output, [
        { type: 'contains', value: 'a' },
        { type: 'icontains', value: 'b' },
        { type: 'max-score' },
      ]),
    );

  it('the row with the highest mean of its other checks wins; of equals the first', async () => {
    const rows = await Promise.all(['a', 'a b', 'a B'].map(graded));
    expect(maxScore({ type: 'max-score' }, rows).map(({ pass }) => pass)).toEqual([false, true, false]);
  });

  it('weights, sums and a threshold are the assertion’s own', async () => {
    const rows = await Promise.all(['a', 'b'].map(graded));
    expect(maxScore({ type: 'max-score', value: { weights: { icontains: 3 } } }, rows).map(({ pass }) => pass)).toEqual(
      [false, true],
    );
    expect(maxScore({ type: 'max-score', value: { threshold: 0.9 } }, rows).map(({ pass }) => pass)).toEqual([
      false,
      false,
    ]);
    const summed = maxScore({ type: 'max-score', value: { method: 'sum' } }, rows);
    expect(summed[0]?.namedScores).toEqual({ maxScore: 1, assertionCount: 2, totalWeight: 2 });
  });

  it('without other checks there is nothing to compare', () => {
    expect(maxScore({ type: 'max-score' }, [row('a'), row('b')])[0]?.error).toMatch(/at least one other/);
  });
});

describe('a row after a comparison', () => {
  const lost: Verdict = { pass: false, score: 0, reason: 'not chosen', assertion: { type: 'select-best' } };
  const won: Verdict = { ...lost, pass: true, score: 1, reason: 'chosen' };

  it('keeps its score when it won', () => {
    expect(withComparison({ ...passed, score: 0 }, won)).toMatchObject({
      pass: true,
      score: 0,
      componentResults: [won],
    });
  });

  it('fails with score 0 when it lost', () => {
    expect(withComparison(passed, lost)).toMatchObject({ pass: false, score: 0, reason: 'not chosen' });
  });

  it('does not pass because it won', () => {
    expect(withComparison({ ...passed, pass: false, score: 0.5 }, won)).toMatchObject({ pass: false, score: 0.5 });
  });

  it('stays an error when it was one, and becomes one when the comparison is', () => {
    expect(withComparison({ ...passed, pass: false, error: 'broken' }, lost)).toMatchObject({ error: 'broken' });
    expect(withComparison(passed, { ...lost, error: 'no grader' })).toMatchObject({
      pass: false,
      score: 0,
      error: 'no grader',
    });
  });
});
