import { isObject } from '../../domain/json.ts';
import { type Check, CheckProblem, demand, verdict } from '../check.ts';

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** What the value allows, as a range. */
function rangeOf(value: unknown): { min: number; max: number; said: string } {
  if (isObject(value)) {
    const { min, max } = value;
    demand(min !== undefined || max !== undefined, '"word-count" needs "min", "max" or both');
    demand(min === undefined || isNumber(min), '"word-count": "min" must be a number');
    demand(max === undefined || isNumber(max), '"word-count": "max" must be a number');
    const range = { min: min ?? 0, max: max ?? Number.POSITIVE_INFINITY };
    demand(range.min <= range.max, `"word-count": min (${min}) must not be above max (${max})`);
    const said = max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `${min} to ${max}`;
    return { ...range, said };
  }
  const exact = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (!isNumber(exact)) throw new CheckProblem('"word-count" needs a number or {min, max} as its value');
  return { min: exact, max: exact, said: `exactly ${exact}` };
}

/** `word-count`: how many words the output has. */
export const wordCount: Check = ({ value, text, inverse }) => {
  demand(value !== undefined && value !== null, '"word-count" needs a value');
  const { min, max, said } = rangeOf(value);
  const count = text.split(/\s+/).filter((word) => word !== '').length;
  const fits = count >= min && count <= max;
  return verdict(fits !== inverse, `Expected ${inverse ? 'anything but ' : ''}${said} words, got ${count}`);
};
