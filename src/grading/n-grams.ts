/** How often each run of `n` words occurs, and how many runs there are. */
export function countNGrams(words: readonly string[], n: number): { counts: Map<string, number>; total: number } {
  const counts = new Map<string, number>();
  const total = Math.max(0, words.length - n + 1);
  for (let at = 0; at < total; at += 1) {
    const gram = words.slice(at, at + n).join(' ');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return { counts, total };
}

/** How many runs two texts share, none counted more often than it occurs in either. */
export function sharedNGrams(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let shared = 0;
  for (const [gram, count] of one) shared += Math.min(count, other.get(gram) ?? 0);
  return shared;
}
