/** Repeats of the same scenario: how often all of k tries succeed, and how often at least one does. */

/** One scenario's tries that could be scored. */
export interface Tries {
  readonly scored: number;
  readonly successes: number;
}

export interface PassK {
  /** Chance that k tries of a scenario all succeed, from k = 1, averaged over the scenarios with at least k scored tries. */
  readonly hat: readonly number[];
  /** Chance that at least one of k tries succeeds. */
  readonly at: readonly number[];
  /** How many scenarios each of the numbers stands on. */
  readonly scenarios: readonly number[];
}

/** How many ways to choose k of n, as a ratio to those of N, without large numbers. */
function chosenShare(n: number, total: number, k: number): number {
  if (n < k) return 0;
  let share = 1;
  for (let i = 0; i < k; i += 1) share *= (n - i) / (total - i);
  return share;
}

export function passK(tries: readonly Tries[]): PassK {
  const most = Math.max(0, ...tries.map(({ scored }) => scored));
  const levels = Array.from({ length: most }, (_, at) => at + 1).map((k) => {
    const enough = tries.filter(({ scored }) => scored >= k);
    const mean = (value: (one: Tries) => number): number =>
      enough.reduce((sum, one) => sum + value(one), 0) / enough.length;
    return {
      hat: mean(({ scored, successes }) => chosenShare(successes, scored, k)),
      at: mean(({ scored, successes }) => 1 - chosenShare(scored - successes, scored, k)),
      scenarios: enough.length,
    };
  });
  return {
    hat: levels.map(({ hat }) => hat),
    at: levels.map(({ at }) => at),
    scenarios: levels.map(({ scenarios }) => scenarios),
  };
}

/** Share of scenarios with at least two scored tries whose tries disagree; null when there are none. */
export function flakyRate(tries: readonly Tries[]): {
  readonly rate: number | null;
  readonly flaky: number;
  readonly scenarios: number;
} {
  const several = tries.filter(({ scored }) => scored >= 2);
  const flaky = several.filter(({ scored, successes }) => successes > 0 && successes < scored).length;
  return { rate: several.length === 0 ? null : flaky / several.length, flaky, scenarios: several.length };
}
