import { describe, expect, it } from 'vitest';
import { evaluateFormula } from './arithmetic.ts';
import { deriveMetrics } from './derived-metrics.ts';
import { benchPorts } from './fixtures/grading-bench.ts';

describe('formulas of derived metrics', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-2 ^ 2', -4],
    ['2 ^ 3 ^ 2', 512],
    ['a / b', 0.5],
    ['7 % 4', 3],
    ['sqrt(16) + max(1, 2, a)', 6],
    ['2 * (p * r) / (p + r)', 0.6],
    ['a > b ? 1 : a == 1 ? 5 : 9', 5],
    ['round(1 / 3, 2)', 0.33],
    ['1e3 + .5', 1000.5],
  ])('%s is %d', (formula, value) => {
    expect(evaluateFormula(formula, { a: 1, b: 2, p: 0.5, r: 0.75 })).toBeCloseTo(value);
  });

  it.each(['a +', '(1', 'nobody', 'constructor', 'eval("1")', '1; 2', 'sqrt', 'process(1)', ''])(
    '%j is not a formula',
    (formula) => {
      expect(() => evaluateFormula(formula, { a: 1 })).toThrow();
    },
  );
});

describe('derived metrics', () => {
  const options = { code: benchPorts().code, baseDir: '/suite', signal: new AbortController().signal };

  it('later ones may use earlier ones and the number of rows', async () => {
    const metrics = [
      { name: 'mean', value: 'total / __count' },
      { name: 'double', value: 'mean * 2' },
    ];
    const { scores, problems } = await deriveMetrics({ total: 6 }, 4, metrics, options);
    expect(scores).toEqual({ total: 6, mean: 1.5, double: 3 });
    expect(problems).toEqual([]);
  });

  it('one that cannot be computed is 0 and says why', async () => {
    const { scores, problems } = await deriveMetrics(
      { a: 0 },
      1,
      [
        { name: 'bad', value: '1 / a' },
        { name: 'lost', value: 'b' },
      ],
      options,
    );
    expect(scores).toEqual({ a: 0, bad: 0, lost: 0 });
    expect(problems).toEqual(['Derived metric "bad": it is Infinity', 'Derived metric "lost": There is no metric "b"']);
  });
});
