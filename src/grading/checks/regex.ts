import { broken, type Check, demand, verdict } from '../check.ts';
import { findPattern } from '../safe-regex.ts';

/** `regex`: the pattern is found in the output. A pattern that takes longer than a second is an error of the check. */
export const regex: Check = async ({ value, text, inverse, ports, effects }) => {
  demand(typeof value === 'string' && value !== '', '"regex" needs a pattern as its value');
  const outcome = await findPattern(value, text, ports.code, effects.signal);
  switch (outcome.kind) {
    case 'matched':
      return verdict(outcome.found !== inverse, `Expected output ${inverse ? 'not ' : ''}to match "${value}"`);
    case 'invalid':
      return { pass: false, score: 0, reason: `The pattern is not a regular expression: ${outcome.message}` };
    case 'broke':
      return broken(`The pattern "${value}" gave no answer: ${outcome.message}`);
  }
};
