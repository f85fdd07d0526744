import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandTrace } from '../trace/demand-trace.ts';
import { matcherOf, matchesStep, nameList, toolSteps } from '../trace/trajectory.ts';

/** `trajectory:tool-used`: these tools were used; as an object, one tool so many times. */
export const trajectoryToolUsed: Check = (input) => {
  const steps = toolSteps(demandTrace(input));
  const { value, inverse } = input;
  if (isObject(value)) {
    const matcher = matcherOf(value, 'tool');
    demand(matcher.pattern !== undefined, '"trajectory:tool-used" needs a name or a pattern');
    const count = steps.filter((step) => matchesStep(step, matcher)).length;
    const min = typeof value['min'] === 'number' ? value['min'] : 1;
    const max = typeof value['max'] === 'number' ? value['max'] : Number.POSITIVE_INFINITY;
    const fits = count >= min && count <= max;
    return explained(fits !== inverse, `Tool "${matcher.pattern}" was used ${count} times (min ${min}, max ${max})`);
  }
  const wanted = typeof value === 'string' ? [value] : value;
  const usable = Array.isArray(wanted) && wanted.length > 0 && wanted.every((item) => typeof item === 'string');
  demand(usable, '"trajectory:tool-used" needs a tool name, a list of them, or {name, pattern, min, max}');
  const seen = wanted.filter((name) => steps.some((step) => matchesStep(step, matcherOf(name, 'tool'))));
  const pass = inverse ? seen.length === 0 : seen.length === wanted.length;
  return explained(pass, `${inverse ? 'Forbidden' : 'Expected'} tools: ${wanted.join(', ')}; used: ${nameList(steps)}`);
};
