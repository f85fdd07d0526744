import { distance } from 'fastest-levenshtein';
import { thresholdOf } from '../assertion-table.ts';
import { type Check, demand, verdict } from '../check.ts';

/** `levenshtein`: at most so many letters differ. */
export const levenshtein: Check = ({ assertion, value, text, inverse }) => {
  demand(typeof value === 'string', '"levenshtein" needs a text as its value');
  const threshold = thresholdOf(assertion) ?? 5;
  const found = distance(text, value);
  return verdict(
    found <= threshold !== inverse,
    `Edit distance ${found} is ${inverse ? 'within' : 'above'} the threshold ${threshold}`,
  );
};
