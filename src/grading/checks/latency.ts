import { type Check, demand, verdict } from '../check.ts';

/** `latency`: the answer took at most so many milliseconds of the provider's own time; waiting in a lane does not count. */
export const latency: Check = ({ assertion, subject, inverse }) => {
  demand(typeof assertion.threshold === 'number', '"latency" needs a threshold in milliseconds');
  const ms = subject.reply?.latencyMs;
  demand(ms !== undefined, 'An answer from the cache has no latency; run again with --no-cache');
  return verdict(
    ms <= assertion.threshold !== inverse,
    `Latency ${ms} ms is ${inverse ? 'within' : 'above'} the threshold ${assertion.threshold} ms`,
  );
};
