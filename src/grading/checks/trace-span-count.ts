import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { matchesGlob } from '../glob.ts';
import { demandTrace } from '../trace/demand-trace.ts';

/** `trace-span-count`: how many spans of a name there are. */
export const traceSpanCount: Check = (input) => {
  const { spans } = demandTrace(input);
  const { value, inverse } = input;
  const pattern = isObject(value) ? value['pattern'] : undefined;
  demand(
    isObject(value) && typeof pattern === 'string' && pattern !== '',
    '"trace-span-count" needs {pattern, min, max}',
  );
  const { min, max } = value;
  const count = spans.filter((span) => matchesGlob(span.name, pattern)).length;
  const fits = (typeof min !== 'number' || count >= min) && (typeof max !== 'number' || count <= max);
  return explained(fits !== inverse, `${count} spans match "${pattern}" (min ${min ?? 'none'}, max ${max ?? 'none'})`);
};
