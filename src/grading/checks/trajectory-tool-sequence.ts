import { isObject, type Json } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { demandTrace } from '../trace/demand-trace.ts';
import {
  matcherOf,
  matchesStep,
  nameList,
  type StepMatcher,
  type TrajectoryStep,
  toolSteps,
} from '../trace/trajectory.ts';

const inOrder = (steps: readonly TrajectoryStep[], wanted: readonly StepMatcher[]): boolean => {
  let next = 0;
  for (const step of steps) {
    const matcher = wanted[next];
    if (matcher !== undefined && matchesStep(step, matcher)) next += 1;
  }
  return next === wanted.length;
};

const exactly = (steps: readonly TrajectoryStep[], wanted: readonly StepMatcher[]): boolean =>
  steps.length === wanted.length &&
  steps.every((step, at) => {
    const matcher = wanted[at];
    return matcher !== undefined && matchesStep(step, matcher);
  });

/** `trajectory:tool-sequence`: tools were used in this order; `mode: exact` allows no others between. */
export const trajectoryToolSequence: Check = (input) => {
  const steps = toolSteps(demandTrace(input));
  const { value, inverse } = input;
  const list = (isObject(value) ? value['steps'] : value) as Json | undefined;
  demand(Array.isArray(list) && list.length > 0, '"trajectory:tool-sequence" needs a list of tools, or {steps, mode}');
  const wanted = list.map((item) => matcherOf(item, 'tool'));
  demand(
    wanted.every((matcher) => matcher.pattern !== undefined),
    '"trajectory:tool-sequence": every step needs a name or a pattern',
  );
  const found = isObject(value) && value['mode'] === 'exact' ? exactly(steps, wanted) : inOrder(steps, wanted);
  const names = wanted.map((matcher) => matcher.pattern).join(', ');
  return explained(
    found !== inverse,
    `${inverse ? 'Forbidden' : 'Expected'} sequence: ${names}; used: ${nameList(steps)}`,
  );
};
