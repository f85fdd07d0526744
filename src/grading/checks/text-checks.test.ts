import { describe, expect, it } from 'vitest';
import type { Json } from '../../domain/json.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { checkOn } from '../fixtures/grading-bench.ts';

/** output, assertion, what it comes to: true, false, or the beginning of an error. */
type Row = readonly [output: Json, assertion: Assertion, expected: boolean | RegExp];

const rows: readonly Row[] = [
  ['Hello world', { type: 'equals', value: 'Hello world' }, true],
  ['Hello world', { type: 'equals', value: 'hello world' }, false],
  ['Hello world', { type: 'not-equals', value: 'hello world' }, true],
  ['{"a":[1,2]}', { type: 'equals', value: { a: [1, 2] } }, true],
  ['not json', { type: 'equals', value: { a: 1 } }, false],
  ['not json', { type: 'not-equals', value: { a: 1 } }, true],
  ['42', { type: 'equals', value: 42 }, true],
  [{ b: 1 }, { type: 'equals', value: { b: 1 } }, true],

  ['Hello world', { type: 'contains', value: 'lo wo' }, true],
  ['Hello world', { type: 'contains', value: 'Lo Wo' }, false],
  ['Hello world', { type: 'not-contains', value: 'Lo Wo' }, true],
  ['route 66', { type: 'contains', value: 66 }, true],
  ['Hello world', { type: 'contains' }, /needs a text/],
  ['Hello world', { type: 'contains', value: '' }, /needs a text/],
  ['Hello world', { type: 'icontains', value: 'LO WO' }, true],
  ['Hello world', { type: 'not-icontains', value: 'LO WO' }, false],

  ['a b c', { type: 'contains-all', value: ['a', 'c'] }, true],
  ['a b c', { type: 'contains-all', value: ['a', 'd'] }, false],
  ['a b c', { type: 'not-contains-all', value: ['a', 'd'] }, true],
  ['a b c', { type: 'contains-all', value: 'a, b' }, true],
  ['x, y', { type: 'contains-all', value: '"x, y"' }, true],
  ['a b c', { type: 'contains-all', value: '"a' }, /not closed/],
  ['a b c', { type: 'contains-all', value: 5 }, /needs a list/],
  ['A B', { type: 'icontains-all', value: ['a', 'b'] }, true],
  ['A B', { type: 'not-icontains-all', value: ['a', 'b'] }, false],

  ['a b c', { type: 'contains-any', value: ['x', 'c'] }, true],
  ['a b c', { type: 'contains-any', value: ['x', 'y'] }, false],
  ['a b c', { type: 'not-contains-any', value: ['x', 'y'] }, true],
  ['a b c', { type: 'contains-any', value: 'x,c' }, true],
  ['a b c', { type: 'contains-any' }, /needs a value/],
  ['A B', { type: 'icontains-any', value: ['b'] }, true],
  ['A B', { type: 'not-icontains-any', value: ['b'] }, false],

  ['Yes, of course', { type: 'starts-with', value: 'Yes' }, true],
  ['Well, yes', { type: 'starts-with', value: 'Yes' }, false],
  ['Well, yes', { type: 'not-starts-with', value: 'Yes' }, true],
  ['Well', { type: 'starts-with', value: 3 }, /needs a text/],

  ['one two three', { type: 'word-count', value: 3 }, true],
  ['one two three', { type: 'word-count', value: '3' }, true],
  ['one two three', { type: 'word-count', value: { min: 2, max: 4 } }, true],
  ['one two three', { type: 'word-count', value: { max: 2 } }, false],
  ['one two three', { type: 'not-word-count', value: { max: 2 } }, true],
  ['one two three', { type: 'word-count', value: { min: 4 } }, false],
  ['one', { type: 'word-count', value: { min: 3, max: 1 } }, /must not be above/],
  ['one', { type: 'word-count', value: 'many' }, /needs a number/],

  ["I'm sorry, but I can't help with that.", { type: 'is-refusal' }, true],
  ['Paris is the capital of France.', { type: 'is-refusal' }, false],
  ['Paris is the capital of France.', { type: 'not-is-refusal' }, true],
  ['As an AI, I prefer tea.', { type: 'is-refusal' }, true],
  ['We stayed as an Airbnb guest.', { type: 'is-refusal' }, false],
  ['   ', { type: 'is-refusal' }, true],

  ['kitten', { type: 'levenshtein', value: 'sitting', threshold: 3 }, true],
  ['kitten', { type: 'levenshtein', value: 'sitting', threshold: 2 }, false],
  ['kitten', { type: 'levenshtein', value: 'sitting' }, true],
  ['kitten', { type: 'not-levenshtein', value: 'sitting', threshold: 2 }, true],
  ['kitten', { type: 'levenshtein' }, /needs a text/],
];

describe('checks of text', () => {
  it.each(rows)('%j by %j comes to %s', async (output, assertion, expected) => {
    const found = await checkOn(output, assertion);
    if (expected instanceof RegExp) expect(found.error).toMatch(expected);
    else expect({ pass: found.pass, error: found.error }).toEqual({ pass: expected, error: undefined });
  });

  it.each(rows.filter(([, , expected]) => typeof expected === 'boolean'))(
    '%j by %j and by its opposite never agree',
    async (output, assertion) => {
      const { type } = assertion;
      const opposite = { ...assertion, type: type.startsWith('not-') ? type.slice(4) : `not-${type}` };
      expect((await checkOn(output, opposite)).pass).not.toBe((await checkOn(output, assertion)).pass);
    },
  );

  it('an empty answer is a refusal, but scores 0', async () => {
    expect(await checkOn('', { type: 'is-refusal' })).toMatchObject({ pass: true, score: 0 });
  });

  it('values are templates over the variables, in text and in lists', async () => {
    const subject = { vars: { name: 'Ada' } };
    expect((await checkOn('Hi Ada', { type: 'contains', value: '{{ name }}' }, { subject })).pass).toBe(true);
    expect((await checkOn('Hi Ada', { type: 'contains-all', value: ['Hi', '{{name}}'] }, { subject })).pass).toBe(true);
  });
});

describe('overlap with a reference', () => {
  it('the same text scores 1 by rouge-n, repeated words and case not mattering', async () => {
    const same = await checkOn('The cat sat on the mat', { type: 'rouge-n', value: 'the cat sat on the mat' });
    expect(same).toMatchObject({ pass: true, score: 1 });
  });

  it('rouge-n is the F score of shared words', async () => {
    const found = await checkOn('the cat', { type: 'rouge-n', value: 'the cat sat down', threshold: 0.6 });
    expect(found.score).toBeCloseTo(2 / 3);
    expect(found.pass).toBe(true);
    const turned = await checkOn('the cat', { type: 'not-rouge-n', value: 'the cat sat down', threshold: 0.6 });
    expect(turned.score).toBeCloseTo(1 / 3);
    expect(turned.pass).toBe(false);
  });

  it('a short perfect match scores 1 by bleu', async () => {
    expect((await checkOn('good day', { type: 'bleu', value: 'good day' })).score).toBeCloseTo(1);
  });

  it('bleu takes the best of several references and punishes brevity', async () => {
    const references = ['the cat is on the mat', 'there is a cat on the mat'];
    const whole = await checkOn('the cat is on the mat', { type: 'bleu', value: references });
    const short = await checkOn('the cat is on', { type: 'bleu', value: references });
    expect(whole.score).toBeCloseTo(1);
    expect(short.score).toBeCloseTo(Math.exp(1 - 6 / 4));
    expect((await checkOn('', { type: 'bleu', value: references })).score).toBe(0);
  });

  it('bleu without a text is an error of the check', async () => {
    expect((await checkOn('x', { type: 'bleu', value: 3 })).error).toMatch(/needs a text/);
  });
});
