import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { matchesGlob } from '../glob.ts';
import { demandTrace } from '../trace/demand-trace.ts';

/** The value below which so many percent of the sorted numbers lie. */
const percentileOf = (sorted: readonly number[], percentile: number): number =>
  sorted[Math.max(0, Math.ceil((percentile / 100) * sorted.length) - 1)] ?? 0;

/** `trace-span-duration`: spans of a name took at most so many milliseconds, all of them or a percentile. */
export const traceSpanDuration: Check = (input) => {
  const { spans } = demandTrace(input);
  const { value, inverse } = input;
  demand(isObject(value) && typeof value['max'] === 'number', '"trace-span-duration" needs {pattern, max, percentile}');
  const { max, percentile } = value;
  const pattern = typeof value['pattern'] === 'string' ? value['pattern'] : '*';
  const usable = typeof percentile === 'number' && percentile >= 0 && percentile <= 100;
  demand(percentile === undefined || usable, '"trace-span-duration": percentile must be a number from 0 to 100');
  const durations = spans
    .filter((span) => matchesGlob(span.name, pattern) && span.endTime !== undefined)
    .map((span) => (span.endTime ?? 0) - span.startTime)
    .sort((one, other) => one - other);
  if (durations.length === 0) return explained(!inverse, `No finished span matches "${pattern}"`);
  const measured = usable ? percentileOf(durations, percentile) : (durations.at(-1) ?? 0);
  const what = usable ? `The ${percentile}th percentile` : 'The slowest';
  return explained(
    measured <= max !== inverse,
    `${what} of ${durations.length} spans matching "${pattern}" took ${measured} ms (max ${max} ms)`,
  );
};
