import type { Json } from '../../domain/json.ts';
import { type Check, type CheckInput, demand, verdict } from '../check.ts';
import { splitList } from '../split-list.ts';

const same = (text: string): string => text;
const lower = (text: string): string => text.toLowerCase();

function wantedOf({ type, value }: CheckInput): readonly Json[] {
  demand(value !== undefined && value !== '' && value !== null, `"${type}" needs a value`);
  const list = typeof value === 'string' ? splitList(value) : value;
  demand(Array.isArray(list), `"${type}" needs a list, or text with commas, as its value`);
  return list;
}

const containingAll =
  (fold: (text: string) => string): Check =>
  (input) => {
    const wanted = wantedOf(input);
    const missing = wanted.filter((item) => !fold(input.text).includes(fold(String(item))));
    return verdict(
      (missing.length === 0) !== input.inverse,
      input.inverse
        ? `Expected output not to contain all of [${wanted.join(', ')}]`
        : `Expected output to contain all of [${wanted.join(', ')}]; missing: [${missing.join(', ')}]`,
    );
  };

const containingAny =
  (fold: (text: string) => string): Check =>
  (input) => {
    const wanted = wantedOf(input);
    const found = wanted.some((item) => fold(input.text).includes(fold(String(item))));
    return verdict(
      found !== input.inverse,
      `Expected output to contain ${input.inverse ? 'none' : 'one'} of [${wanted.join(', ')}]`,
    );
  };

/** `contains-all` and `icontains-all`: every item of the list occurs. */
export const containsAll = containingAll(same);
export const icontainsAll = containingAll(lower);
/** `contains-any` and `icontains-any`: at least one item occurs. */
export const containsAny = containingAny(same);
export const icontainsAny = containingAny(lower);
