import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandTrace } from '../trace/demand-trace.ts';
import { matcherOf, matchesStep, stepsOf } from '../trace/trajectory.ts';

/** `trajectory:step-count`: how many steps of a kind or name there were. */
export const trajectoryStepCount: Check = (input) => {
  const steps = stepsOf(demandTrace(input));
  const { value, inverse, type } = input;
  demand(isObject(value), `"${type}" needs {type, pattern, min, max}`);
  const { min, max } = value;
  demand(typeof min === 'number' || typeof max === 'number', `"${type}" needs min, max or both`);
  const matcher = matcherOf(value);
  const count = steps.filter((step) => matchesStep(step, matcher)).length;
  const fits = (typeof min !== 'number' || count >= min) && (typeof max !== 'number' || count <= max);
  return explained(fits !== inverse, `${count} steps match (min ${min ?? 'none'}, max ${max ?? 'none'})`);
};
