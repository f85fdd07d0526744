import { thresholdOf } from '../assertion-table.ts';
import { type Check, demand } from '../check.ts';

/** `classifier`: the output belongs to a class, or to any class, with at least this score. */
export const classifier: Check = async ({ value, text, assertion, inverse, grader }) => {
  demand(
    value === undefined || typeof value === 'string',
    '"classifier" needs the name of a class as its value, or none',
  );
  const threshold = thresholdOf(assertion) ?? 1;
  const scores = await grader.classify(text);
  const score =
    value === undefined
      ? Math.max(0, ...Object.values(scores))
      : Object.hasOwn(scores, value)
        ? (scores[value] ?? 0)
        : 0;
  const reached = score >= threshold - Number.EPSILON;
  return {
    pass: reached !== inverse,
    score: inverse ? 1 - score : score,
    reason: `${value === undefined ? 'The best class' : `Class ${value}`} has ${score.toFixed(2)}, threshold ${threshold}`,
  };
};
