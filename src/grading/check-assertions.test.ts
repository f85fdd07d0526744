import { describe, expect, it } from 'vitest';
import { assertionTypes, isAssertionType } from '../domain/assertion-types.ts';
import { assertionTable, leftOut } from './assertion-table.ts';
import { checkAssertions } from './check-assertions.ts';
import { checks } from './registry.ts';

describe('what can be told about assertions before anything runs', () => {
  it('good ones have no problems', () => {
    expect(
      checkAssertions([
        { type: 'contains', value: 'a' },
        { type: 'not-is-json' },
        { type: 'assert-set', assert: [{ type: 'cost', threshold: 1 }] },
        { type: 'select-best', value: 'x' },
      ]),
    ).toEqual([]);
  });

  it('unknown types are told with their place and the nearest name', () => {
    expect(
      checkAssertions([
        { type: 'contains', value: 'a' },
        { type: 'assert-set', assert: [{ type: 'lm-rubric' }] },
      ]),
    ).toEqual([
      {
        at: [1, 0],
        type: 'lm-rubric',
        kind: 'unknown-type',
        message: 'unknown assertion type "lm-rubric"',
        hint: 'did you mean "llm-rubric"?',
      },
    ]);
  });

  it('a name that is near nothing has no hint', () => {
    expect(checkAssertions([{ type: 'is-valid-video' }])[0]).not.toHaveProperty('hint');
  });

  it('types that exist elsewhere say what to use instead', () => {
    expect(
      checkAssertions([{ type: 'not-perplexity' }, { type: 'promptfoo:redteam:bola' }]).map(({ message, hint }) => [
        message,
        hint,
      ]),
    ).toEqual([
      ['assertion type "not-perplexity" is not supported', expect.stringContaining('similar')],
      ['assertion type "promptfoo:redteam:bola" is not supported', expect.stringContaining('red teaming')],
    ]);
  });

  it('missing values and thresholds are told', () => {
    const problems = checkAssertions([{ type: 'contains' }, { type: 'latency' }, { type: 'assert-set' }, { type: '' }]);
    expect(problems.map(({ at, kind }) => [at[0], kind])).toEqual([
      [0, 'bad-value'],
      [1, 'bad-value'],
      [2, 'bad-value'],
      [3, 'unknown-type'],
    ]);
  });

  it('the table and the checks know the same types', () => {
    const elsewhere = ['select-best', 'max-score'];
    expect([...assertionTable.keys()].filter((type) => !elsewhere.includes(type)).sort()).toEqual(
      Object.keys(checks).sort(),
    );
  });

  it('configs may name exactly the types of the table, and those that are left out with a word of advice', () => {
    expect([...assertionTable.keys()].filter((type) => !isAssertionType(type))).toEqual([]);
    expect(assertionTypes.filter((type) => !assertionTable.has(type) && !leftOut.has(type))).toEqual([]);
  });

  it('comparisons of rows have no opposite', () => {
    expect(
      checkAssertions([{ type: 'not-select-best', value: 'x' }, { type: 'not-human' }]).map(({ kind }) => kind),
    ).toEqual(['unknown-type', 'unknown-type']);
  });
});
