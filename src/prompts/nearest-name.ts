import { distance } from 'fastest-levenshtein';

/** "did you mean ...?" when one of the names is close enough to be a slip of the hand. */
export function didYouMean(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    // A name of which no letter would be left was not meant.
    if (steps < Math.min(least, candidate.length)) [best, least] = [candidate, steps];
  }
  return best === undefined ? undefined : `did you mean "${best}"?`;
}

/** The nearest name, or all of them when none is near. */
export function nearestOrAll(name: string, names: readonly string[]): string {
  return didYouMean(name, names) ?? (names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`);
}
