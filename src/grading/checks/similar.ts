import { thresholdOf } from '../assertion-table.ts';
import { type Check, type CheckOutcome, demand } from '../check.ts';
import { cosineSimilarity, dotProduct, euclideanDistance } from '../vectors.ts';

type Metric = (one: readonly number[], other: readonly number[]) => number;

const metrics: Readonly<Record<string, Metric>> = {
  similar: cosineSimilarity,
  'similar:cosine': cosineSimilarity,
  'similar:dot': dotProduct,
  'similar:euclidean': euclideanDistance,
};

/** Distances are good when small, similarities when large; the score is large for good either way. */
function judged(type: string, measured: number, threshold: number, inverse: boolean): CheckOutcome {
  const isDistance = type === 'similar:euclidean';
  const near = isDistance ? measured <= threshold + Number.EPSILON : measured >= threshold - Number.EPSILON;
  const far = isDistance ? measured >= threshold - Number.EPSILON : measured <= threshold + Number.EPSILON;
  const score = isDistance ? 1 / (1 + measured) : measured;
  return {
    pass: inverse ? far : near,
    score: inverse ? 1 - score : score,
    reason: `${isDistance ? 'Distance' : 'Similarity'} ${measured.toFixed(2)}, threshold ${threshold}`,
  };
}

/** `similar` (cosine), `similar:dot`, `similar:euclidean`: near in meaning to the value, or to one of several. */
export const similar: Check = async ({ type, value, text, assertion, inverse, grader }) => {
  const references = typeof value === 'string' ? [value] : value;
  demand(Array.isArray(references) && references.length > 0, `"${type}" needs a text or a list of texts as its value`);
  const measure = metrics[type] ?? cosineSimilarity;
  const threshold = thresholdOf(assertion) ?? 0.75;
  let ours: readonly number[] | undefined;
  const measured = async (reference: string): Promise<number> => {
    const told = measure === cosineSimilarity ? await grader.likeness(reference, text) : undefined;
    if (told !== undefined) return told;
    ours ??= await grader.embed(text);
    return measure(await grader.embed(reference), ours);
  };
  const outcomes: CheckOutcome[] = [];
  for (const reference of references) {
    const outcome = judged(type, await measured(String(reference)), threshold, inverse);
    // One near value settles `similar`; one near value also settles `not-similar`, the other way.
    if (outcome.pass !== inverse) return outcome;
    outcomes.push(outcome);
  }
  const extreme = outcomes.reduce((best, next) => (next.score > best.score !== inverse ? next : best));
  return references.length === 1 || inverse
    ? extreme
    : { ...extreme, reason: `None of the values is near enough; ${extreme.reason}` };
};
