import { isDeepStrictEqual } from 'node:util';
import { type Check, verdict } from '../check.ts';

/** `equals`: the same text, or for lists and objects the same JSON. */
export const equals: Check = ({ value, text, inverse }) => {
  const isStructure = typeof value === 'object';
  const same = isStructure ? sameJson(value, text) : String(value) === text;
  const expected = isStructure ? JSON.stringify(value) : String(value);
  return verdict(same !== inverse, `Expected output "${text}" ${inverse ? 'not ' : ''}to equal "${expected}"`);
};

function sameJson(value: unknown, text: string): boolean {
  try {
    return isDeepStrictEqual(value, JSON.parse(text));
  } catch {
    return false;
  }
}
