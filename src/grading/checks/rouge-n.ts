import { fMeasure, treeBankTokenize } from 'js-rouge';
import { thresholdOf } from '../assertion-table.ts';
import { type Check, demand } from '../check.ts';
import { countNGrams, sharedNGrams } from '../n-grams.ts';

/** ROUGE-1 as an F score, case being equal; a text compared with itself scores 1. */
function rouge1(candidate: string, reference: string): number {
  const ours = countNGrams(treeBankTokenize(candidate.toLowerCase()), 1);
  const theirs = countNGrams(treeBankTokenize(reference.toLowerCase()), 1);
  const shared = sharedNGrams(ours.counts, theirs.counts);
  if (shared === 0) return 0;
  const precision = shared / ours.total;
  const recall = shared / theirs.total;
  return fMeasure(precision, recall, 1);
}

/** `rouge-n`: word overlap with a reference. */
export const rougeN: Check = ({ assertion, value, text, inverse }) => {
  demand(typeof value === 'string', '"rouge-n" needs a text as its value');
  const threshold = thresholdOf(assertion) ?? 0.75;
  const score = rouge1(text, value);
  const reached = score >= threshold;
  return {
    pass: reached !== inverse,
    score: inverse ? 1 - score : score,
    reason: `ROUGE-N ${score.toFixed(2)} ${reached ? 'reaches' : 'is below'} the threshold ${threshold}`,
  };
};
