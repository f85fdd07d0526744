import { isObject } from '../../domain/json.ts';
import { type Check, demand, parsedOrText } from '../check.ts';
import { goalQuestion } from '../graders/prompts.ts';
import { demandTrace } from '../trace/demand-trace.ts';
import { summaryOf } from '../trace/summary.ts';
import { gradeByModel } from './llm-rubric.ts';

/** `trajectory:goal-success`: a model decides whether the agent reached the goal. */
export const trajectoryGoalSuccess: Check = async (input) => {
  const { value, text, inverse, type } = input;
  const trace = demandTrace(input);
  const goal = isObject(value) ? value['goal'] : value;
  demand(typeof goal === 'string' && goal.trim() !== '', `"${type}" needs the goal as its value`);
  const trajectory = summaryOf(trace);
  const values = { goal: goal.trim(), trajectory, output: parsedOrText(text) };
  const outcome = await gradeByModel(input, values, goalQuestion(goal.trim(), trajectory, text));
  return inverse ? { ...outcome, score: outcome.pass ? 1 : 0 } : outcome;
};
