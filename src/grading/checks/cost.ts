import { type Check, demand, verdict } from '../check.ts';

/** `cost`: the call cost at most so many dollars. */
export const cost: Check = ({ assertion, subject, inverse }) => {
  demand(typeof assertion.threshold === 'number', '"cost" needs a threshold in dollars');
  const micros = subject.reply?.costUsdMicros;
  const model = subject.provider?.id ?? 'this provider';
  demand(micros !== undefined, `The price of ${model} is not known; add prices: for it, or take "cost" out`);
  const dollars = micros / 1_000_000;
  return verdict(
    dollars <= assertion.threshold !== inverse,
    `Cost $${dollars.toPrecision(2)} is ${inverse ? 'within' : 'above'} the threshold $${assertion.threshold}`,
  );
};
