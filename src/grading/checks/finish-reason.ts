import { type Check, demand, verdict } from '../check.ts';

/** `finish-reason`: why the model stopped, in the vendor's own word, case being equal. */
export const finishReason: Check = ({ value, subject, inverse }) => {
  demand(typeof value === 'string', '"finish-reason" needs a text as its value');
  const found = subject.reply?.finishReason;
  if (found === undefined || found === '') return verdict(inverse, 'The provider gave no finish reason');
  return verdict(
    (found.toLowerCase() === value.toLowerCase()) !== inverse,
    `Expected finish reason ${inverse ? 'other than ' : ''}"${value}", got "${found}"`,
  );
};
