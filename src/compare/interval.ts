/** 95 % intervals for a difference of pass rates between two runs of the same cases. */

export interface Interval {
  readonly low: number;
  readonly high: number;
}

const z = 1.959964;

/** Wilson's interval for `passed` of `tries`. */
export function wilson(passed: number, tries: number): Interval {
  if (tries === 0) return { low: 0, high: 1 };
  const rate = passed / tries;
  const shrink = 1 + (z * z) / tries;
  const middle = (rate + (z * z) / (2 * tries)) / shrink;
  const half = (z * Math.sqrt((rate * (1 - rate)) / tries + (z * z) / (4 * tries * tries))) / shrink;
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** How many pairs passed in both runs, got better, got worse, failed in both. */
export interface PairTable {
  readonly both: number;
  readonly better: number;
  readonly worse: number;
  readonly neither: number;
}

/** Newcombe's score interval for paired rates: honest with few cases and at 0 and 100 %. */
export function pairedInterval(table: PairTable): Interval {
  const cases = table.both + table.better + table.worse + table.neither;
  if (cases === 0) return { low: -1, high: 1 };
  const before = (table.both + table.worse) / cases;
  const after = (table.both + table.better) / cases;
  const beforeRange = wilson(table.both + table.worse, cases);
  const afterRange = wilson(table.both + table.better, cases);
  const together = correlation(table, cases);
  const join = (a: number, b: number): number => Math.sqrt(Math.max(0, a * a - 2 * together * a * b + b * b));
  return {
    low: Math.max(-1, after - before - join(after - afterRange.low, beforeRange.high - before)),
    high: Math.min(1, after - before + join(afterRange.high - after, before - beforeRange.low)),
  };
}

function correlation({ both, better, worse, neither }: PairTable, cases: number): number {
  const margins = (both + worse) * (better + neither) * (both + better) * (worse + neither);
  if (margins === 0) return 0;
  const cross = both * neither - better * worse;
  const corrected = cross > 0 ? Math.max(cross - cases / 2, 0) : cross;
  return corrected / Math.sqrt(margins);
}

/** With repeats: the spread of the per-case differences tells how sure their mean is. */
export function meanInterval(differences: readonly number[]): Interval {
  const cases = differences.length;
  if (cases < 2) return { low: -1, high: 1 };
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / cases;
  const squares = differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0);
  const half = studentQuantile(cases - 1) * Math.sqrt(squares / (cases - 1) / cases);
  return { low: Math.max(-1, mean - half), high: Math.min(1, mean + half) };
}

/** The 97.5 % point of Student's t, by Cornish and Fisher's expansion; exact for the smallest. */
function studentQuantile(freedom: number): number {
  const small = [12.706, 4.303, 3.182, 2.776];
  const known = small[freedom - 1];
  if (known !== undefined) return known;
  const cube = (z ** 3 + z) / 4;
  const fifth = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return z + cube / freedom + fifth / freedom ** 2;
}
