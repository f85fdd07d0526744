import { thresholdOf } from '../assertion-table.ts';
import { type Check, demand } from '../check.ts';
import { countNGrams, sharedNGrams } from '../n-grams.ts';

const longestRun = 4;
/** Stands in for a precision of 0, whose logarithm does not exist. */
const tiny = 1e-7;

const wordsOf = (text: string): string[] => text.toLowerCase().trim().split(/\s+/);

/** The reference length nearest to ours; of two equally near ones the shorter. */
function nearestLength(lengths: readonly number[], ours: number): number {
  return lengths.reduce((best, next) => {
    const closer = Math.abs(next - ours) - Math.abs(best - ours);
    return closer < 0 || (closer === 0 && next < best) ? next : best;
  });
}

/**
 * BLEU-4 with equal weights. Runs longer than the candidate do not exist and are left out of the mean, so that a short
 * perfect match scores 1.
 */
function bleuScore(candidate: string, references: readonly string[]): number {
  if (candidate.trim() === '') return 0;
  const ours = wordsOf(candidate);
  const theirs = references.map(wordsOf);
  const logs: number[] = [];
  for (let n = 1; n <= longestRun; n += 1) {
    const runs = countNGrams(ours, n);
    if (runs.total === 0) continue;
    const best = Math.max(...theirs.map((words) => sharedNGrams(runs.counts, countNGrams(words, n).counts)));
    logs.push(Math.log(best / runs.total || tiny));
  }
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const reference = nearestLength(
    theirs.map((words) => words.length),
    ours.length,
  );
  const brevity = ours.length > reference ? 1 : Math.exp(1 - reference / ours.length);
  return brevity * Math.exp(mean);
}

/** `bleu`: overlap with one or several references. */
export const bleu: Check = ({ assertion, value, text, inverse }) => {
  const references = typeof value === 'string' ? [value] : value;
  const usable =
    Array.isArray(references) && references.length > 0 && references.every((item) => typeof item === 'string');
  demand(usable, '"bleu" needs a text or a list of texts as its value');
  const threshold = thresholdOf(assertion) ?? 0.5;
  const score = bleuScore(text, references as readonly string[]);
  const reached = score >= threshold;
  return {
    pass: reached !== inverse,
    score: inverse ? 1 - score : score,
    reason: `BLEU ${score.toFixed(4)} ${reached ? 'reaches' : 'is below'} the threshold ${threshold}`,
  };
};
