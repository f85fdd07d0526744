import { describe, expect, it } from 'vitest';
import type { Assertion } from '../domain/verdict.ts';
import { benchEffects, failure, gradeOn } from './fixtures/grading-bench.ts';

const yes: Assertion = { type: 'contains', value: 'a' };
const no: Assertion = { type: 'contains', value: 'z' };
const graded = (assertions: readonly Assertion[], threshold?: number) =>
  gradeOn('abc', assertions, { options: threshold === undefined ? {} : { threshold } });

describe('the verdict of a case', () => {
  it('without checks it passes with 1', async () => {
    expect(await graded([])).toMatchObject({ pass: true, score: 1 });
  });

  it('the score is the weighed mean; one failing check fails it', async () => {
    expect(await graded([yes, no])).toMatchObject({ pass: false, score: 0.5 });
    expect(await graded([{ ...yes, weight: 3 }, no])).toMatchObject({ pass: false, score: 0.75 });
    expect(await graded([yes, yes])).toMatchObject({ pass: true, score: 1 });
  });

  it('a threshold decides alone, 0 included', async () => {
    expect(await graded([yes, no], 0.5)).toMatchObject({ pass: true, score: 0.5 });
    expect(await graded([yes, no], 0.6)).toMatchObject({ pass: false });
    expect(await graded([no], 0)).toMatchObject({ pass: true, score: 0 });
  });

  it('a threshold that is no number does not count', async () => {
    expect(await graded([no], Number.NaN)).toMatchObject({ pass: false });
  });

  it('weight 0 is a metric only: it never fails, and does not count', async () => {
    const found = await graded([yes, { ...no, weight: 0, metric: 'm' }]);
    expect(found).toMatchObject({ pass: true, score: 1 });
    expect(found.componentResults?.[1]).toMatchObject({ pass: true, score: 0 });
    expect(found.namedScores).toEqual({ m: 0 });
  });

  it('nothing but weight 0 scores 0 and passes', async () => {
    expect(await graded([{ ...no, weight: 0 }])).toMatchObject({ pass: true, score: 0 });
  });

  it('metrics of one name are a weighed mean, and their names are templates', async () => {
    const found = await gradeOn(
      'abc',
      [
        { ...yes, metric: '{{kind}}', weight: 3 },
        { ...no, metric: 'tone' },
      ],
      {
        subject: { vars: { kind: 'tone' } },
      },
    );
    expect(found.namedScores).toEqual({ tone: 0.75 });
    expect(found.namedScoreWeights).toEqual({ tone: 4 });
  });

  it('a set counts as one, with its own threshold, weight and metric', async () => {
    const set: Assertion = {
      type: 'assert-set',
      threshold: 0.5,
      weight: 2,
      metric: 'set',
      assert: [yes, { ...no, metric: 'inner' }],
    };
    const found = await graded([set, yes]);
    expect(found.score).toBeCloseTo((0.5 * 2 + 1) / 3);
    expect(found.pass).toBe(true);
    expect(found.namedScores).toEqual({ set: 0.5, inner: 0 });
    expect(await graded([{ type: 'assert-set', assert: [yes, no] }])).toMatchObject({ pass: false, score: 0.5 });
  });

  it('parts of a set are laid out behind it', async () => {
    const found = await graded([{ type: 'assert-set', assert: [yes, no] }, yes]);
    expect(found.componentResults?.map(({ pass, assertion }) => [assertion?.type, pass])).toEqual([
      [undefined, false],
      ['contains', true],
      ['contains', false],
      ['contains', true],
    ]);
  });

  it('comparisons between rows are left for later and do not count', async () => {
    const found = await graded([{ type: 'select-best', value: 'shortest' }, { type: 'max-score' }]);
    expect(found).toMatchObject({ pass: true, score: 0, componentResults: [] });
  });

  it('a person who has yet to rate neither passes nor fails it', async () => {
    const found = await graded([yes, { type: 'human' }]);
    expect(found).toMatchObject({ pass: true, score: 1 });
    expect(found.componentResults?.[1]?.metadata).toEqual({ pending: 'human' });
  });

  it('a red-team guardrail that blocked is what was wanted', async () => {
    const found = await gradeOn('abc', [{ type: 'guardrails', config: { purpose: 'redteam' } }], {
      subject: { reply: { guardrails: { flagged: true } } },
    });
    expect(found.pass).toBe(true);
  });
});

describe('checks that cannot be made', () => {
  it('one of them makes the whole an error, never a pass, whatever the threshold', async () => {
    const found = await graded([yes, { type: 'contains' }], 0);
    expect(found).toMatchObject({ pass: false, score: 0 });
    expect(found.error).toMatch(/"contains" needs/);
    expect(found.componentResults).toHaveLength(2);
  });

  it('an unknown type is an error before any call is paid, with the nearest name', async () => {
    const effects = benchEffects(() => failure('must not be asked'));
    const found = await gradeOn(
      'abc',
      [
        { type: 'llm-rubric', value: 'R' },
        { type: 'not-contians', value: 'a' },
      ],
      { effects },
    );
    expect(found.error).toBe('Unknown assertion type "not-contians" (did you mean "not-contains"?)');
    expect(effects.asked).toEqual([]);
  });

  it('short-circuit makes the first failed check an error of the row', async () => {
    const found = await gradeOn('abc', [yes, no], { options: { shortCircuit: true, threshold: 0 } });
    expect(found).toMatchObject({ pass: false, score: 0, error: expect.stringContaining('"z"') });
    expect(await gradeOn('abc', [yes], { options: { shortCircuit: true } })).toMatchObject({ pass: true });
  });

  it('a set without a list is an error', async () => {
    expect((await graded([yes, { type: 'assert-set' }])).error).toMatch(/needs a list/);
  });

  it('weight 0 does not hide an error', async () => {
    expect((await graded([{ type: 'contains', weight: 0 }])).error).toBeDefined();
  });

  it('an abort is thrown, not graded', async () => {
    const stop = new AbortController();
    const effects = { ...benchEffects(), signal: stop.signal, model: () => Promise.reject(new Error('aborted')) };
    stop.abort();
    await expect(gradeOn('abc', [{ type: 'llm-rubric', value: 'R' }], { effects })).rejects.toThrow('aborted');
  });
});
