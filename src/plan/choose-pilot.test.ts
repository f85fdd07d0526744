import { describe, expect, it } from 'vitest';
import { choosePilot } from './choose-pilot.ts';

const column = (name: string, length: number): string[] => Array.from({ length }, (_, at) => `${name}${at}`);

describe('the cases of a pilot', () => {
  it('are so many in total, however many columns there are', () => {
    expect(choosePilot([column('a', 100)], 5)).toHaveLength(5);
    expect(choosePilot([column('a', 100), column('b', 100), column('c', 100)], 5)).toHaveLength(5);
  });

  it('come from the columns in turn, and from the middle of equal stretches of each', () => {
    expect(choosePilot([column('a', 90), column('b', 90)], 5)).toEqual(['a15', 'a45', 'a75', 'b22', 'b67']);
  });

  it('are all there is when a column or the plan is shorter', () => {
    expect(choosePilot([column('a', 1), column('b', 9)], 5)).toEqual(['a0', 'b1', 'b3', 'b5', 'b7']);
    expect(choosePilot([column('a', 1), column('b', 2)], 5)).toEqual(['a0', 'b0', 'b1']);
    expect(choosePilot([], 5)).toEqual([]);
  });
});
