import { type Check, demand, verdict } from '../check.ts';

/** `starts-with`: the output begins with the value. */
export const startsWith: Check = ({ value, text, inverse }) => {
  demand(typeof value === 'string' && value !== '', '"starts-with" needs a text as its value');
  return verdict(
    text.startsWith(value) !== inverse,
    `Expected output ${inverse ? 'not ' : ''}to start with "${value}"`,
  );
};
