import { thresholdOf } from './assertion-table.ts';
import type { CheckInput, CheckOutcome } from './check.ts';

/** A score that passes when it reaches the assertion's threshold. */
export function reachingThreshold({ assertion, inverse }: CheckInput, score: number, what: string): CheckOutcome {
  const threshold = thresholdOf(assertion) ?? 0;
  return {
    pass: score >= threshold - Number.EPSILON !== inverse,
    score: inverse ? 1 - score : score,
    reason: `${what} ${score.toFixed(2)}, threshold ${threshold}`,
  };
}
