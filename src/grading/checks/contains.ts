import { type Check, demand, verdict } from '../check.ts';

const containing =
  (fold: (text: string) => string): Check =>
  ({ type, value, text, inverse }) => {
    const usable = (typeof value === 'string' && value !== '') || typeof value === 'number';
    demand(usable, `"${type}" needs a text or a number as its value`);
    const found = fold(text).includes(fold(String(value)));
    return verdict(found !== inverse, `Expected output ${inverse ? 'not ' : ''}to contain "${value}"`);
  };

/** `contains`: the value occurs in the output. */
export const contains = containing((text) => text);
/** `icontains`: the same, upper and lower case being equal. */
export const icontains = containing((text) => text.toLowerCase());
