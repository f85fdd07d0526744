import { describe, expect, it } from 'vitest';
import { numberWords } from './listed-cases.ts';

describe('numberWords', () => {
  it.each([
    [[7], '#7'],
    [[18, 7], '#7 and #18'],
    [[1, 2], '#1 and #2'],
    [[1, 2, 3, 4], '#1 to #4'],
    [[1, 2, 3, 7, 9], '#1 to #3, #7 and #9'],
    [[1, 3, 5, 7, 9, 11, 13, 15], '#1, #3, #5, #7, #9, #11 and more'],
  ])('says %j as %s', (numbers, words) => {
    expect(numberWords(numbers)).toBe(words);
  });
});
