import { isObject } from '../../domain/json.ts';
import { type Check, demand, explained } from '../check.ts';
import { argumentRules, argumentsMatch } from '../match-arguments.ts';
import { demandTrace } from '../trace/demand-trace.ts';
import { matcherOf, matchesStep, toolSteps } from '../trace/trajectory.ts';

/** `trajectory:tool-args-match`: some call of the tool had these arguments. */
export const trajectoryToolArgsMatch: Check = (input) => {
  const steps = toolSteps(demandTrace(input));
  const { value, inverse, type } = input;
  demand(isObject(value), `"${type}" needs {name, args}`);
  const matcher = matcherOf(value, 'tool');
  demand(matcher.pattern !== undefined, `"${type}" needs a name or a pattern`);
  const rules = argumentRules(type, value);
  const seen = steps
    .filter((step) => matchesStep(step, matcher))
    .flatMap(({ args }) => (args === undefined ? [] : [args]));
  const found = seen.some((args) => argumentsMatch(args, rules));
  const list = seen.map((args) => JSON.stringify(args)).join(', ') || 'no call with arguments';
  return explained(
    found !== inverse,
    `${inverse ? 'Forbidden' : 'Expected'} for "${matcher.pattern}": ${JSON.stringify(rules.expected)}; seen: ${list}`,
  );
};
