/**
 * Exact tests for paired results.
 *
 * Job: how likely a difference at least this large is, if the two runs were equally good.
 * Not its job: matching cases, words.
 *
 * 1. A case with as many tries in each run as it likes is one stratum: under "no difference" its passes fall on either
 *    run by chance alone. With one try in each run this is McNemar's exact test.
 * 2. The answer is deterministic: no random numbers, or a fixed seed where all orders are too many to look at.
 */

/** One case: how many tries passed, of how many, in either run. */
export interface Stratum {
  readonly passedBefore: number;
  readonly triesBefore: number;
  readonly passedAfter: number;
  readonly triesAfter: number;
}

/** Above this many multiplications the normal approximation is used; it agrees to three digits there. */
const exactWork = 5_000_000;

function logChoose(n: number, k: number): number {
  let sum = 0;
  const few = Math.min(k, n - k);
  for (let i = 1; i <= few; i++) sum += Math.log(n - few + i) - Math.log(i);
  return sum;
}

/** Chances of 0, 1, 2, ... passes in the second run, given the stratum's margins, from `lowest` on. */
function hypergeometric(stratum: Stratum): { readonly lowest: number; readonly chances: readonly number[] } {
  const tries = stratum.triesBefore + stratum.triesAfter;
  const passed = stratum.passedBefore + stratum.passedAfter;
  const lowest = Math.max(0, passed - stratum.triesBefore);
  const highest = Math.min(passed, stratum.triesAfter);
  const all = logChoose(tries, stratum.triesAfter);
  const chances: number[] = [];
  for (let k = lowest; k <= highest; k++) {
    chances.push(Math.exp(logChoose(passed, k) + logChoose(tries - passed, stratum.triesAfter - k) - all));
  }
  return { lowest, chances };
}

function convolve(left: readonly number[], right: readonly number[]): number[] {
  const out = new Array<number>(left.length + right.length - 1).fill(0);
  for (let i = 0; i < left.length; i++) {
    const weight = left[i] ?? 0;
    for (let j = 0; j < right.length; j++) out[i + j] = (out[i + j] ?? 0) + weight * (right[j] ?? 0);
  }
  return out;
}

/** The chance that a standard normal value is further from 0 than `z`, in either direction. */
export function twoSidedNormal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.5 * x);
  const series =
    -x * x -
    1.26551223 +
    t *
      (1.00002368 +
        t *
          (0.37409196 +
            t *
              (0.09678418 +
                t *
                  (-0.18628806 +
                    t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  return Math.min(1, t * Math.exp(series));
}

interface Moments {
  readonly mean: number;
  readonly variance: number;
}

function momentsOf(stratum: Stratum): Moments {
  const tries = stratum.triesBefore + stratum.triesAfter;
  const passed = stratum.passedBefore + stratum.passedAfter;
  const share = stratum.triesAfter / tries;
  const variance = tries < 2 ? 0 : (passed * (tries - passed) * share * (1 - share)) / (tries - 1);
  return { mean: passed * share, variance };
}

function isInformative(stratum: Stratum): boolean {
  const passed = stratum.passedBefore + stratum.passedAfter;
  const tries = stratum.triesBefore + stratum.triesAfter;
  return stratum.triesBefore > 0 && stratum.triesAfter > 0 && passed > 0 && passed < tries;
}

/** Two-sided p of the stratified exact test; 1 when no case tells the runs apart. */
export function stratifiedExact(strata: readonly Stratum[]): number {
  const informative = strata.filter(isInformative);
  if (informative.length === 0) return 1;
  let mean = 0;
  let variance = 0;
  let observed = 0;
  let support = 0;
  for (const stratum of informative) {
    const moments = momentsOf(stratum);
    mean += moments.mean;
    variance += moments.variance;
    observed += stratum.passedAfter;
    support += Math.min(stratum.triesAfter, stratum.passedBefore + stratum.passedAfter) + 1;
  }
  const distance = Math.abs(observed - mean);
  if (support * informative.length > exactWork) {
    return twoSidedNormal(Math.max(0, distance - 0.5) / Math.sqrt(variance));
  }
  let chances: number[] = [1];
  let lowest = 0;
  for (const stratum of informative) {
    const one = hypergeometric(stratum);
    lowest += one.lowest;
    chances = convolve(chances, one.chances);
  }
  let p = 0;
  chances.forEach((chance, at) => {
    if (Math.abs(lowest + at - mean) >= distance - 1e-9) p += chance;
  });
  return Math.min(1, p);
}

/** McNemar's exact test: of the cases that changed, `better` got better and `worse` got worse. */
export function mcnemarExact(better: number, worse: number): number {
  const changed = better + worse;
  if (changed === 0) return 1;
  const few = Math.min(better, worse);
  let tail = 0;
  for (let k = 0; k <= few; k++) tail += Math.exp(logChoose(changed, k) - changed * Math.LN2);
  return Math.min(1, 2 * tail);
}

/** All 2^n ways to swap the runs are looked at up to this many changed cases. */
const exactSwaps = 16;
const sampledSwaps = 10_000;

/** mulberry32: small, fast, and the same on every machine. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Permutation test for paired scores: two-sided p that the mean difference is chance. */
export function swapTest(differences: readonly number[], seed = 1): number {
  const changed = differences.filter((difference) => Math.abs(difference) > 1e-12);
  if (changed.length === 0) return 1;
  const observed = Math.abs(changed.reduce((sum, difference) => sum + difference, 0)) - 1e-9;
  return changed.length <= exactSwaps ? allSwaps(changed, observed) : someSwaps(changed, observed, seeded(seed));
}

function allSwaps(changed: readonly number[], observed: number): number {
  const ways = 2 ** changed.length;
  let asFar = 0;
  for (let way = 0; way < ways; way++) {
    let sum = 0;
    for (let i = 0; i < changed.length; i++) sum += (way >> i) & 1 ? (changed[i] ?? 0) : -(changed[i] ?? 0);
    if (Math.abs(sum) >= observed) asFar++;
  }
  return asFar / ways;
}

function someSwaps(changed: readonly number[], observed: number, random: () => number): number {
  if (changed.length > 2_000) {
    const spread = Math.sqrt(changed.reduce((sum, difference) => sum + difference * difference, 0));
    return twoSidedNormal(observed / spread);
  }
  let asFar = 0;
  for (let way = 0; way < sampledSwaps; way++) {
    let sum = 0;
    for (const difference of changed) sum += random() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= observed) asFar++;
  }
  return (asFar + 1) / (sampledSwaps + 1);
}
