import { distance } from 'fastest-levenshtein';

/** The known word that was most likely meant; undefined when none is near. */
export function nearestTo(word: string, known: readonly string[]): string | undefined {
  const far = (one: string): number => distance(word.toLowerCase(), one.toLowerCase());
  const best = known.toSorted((a, b) => far(a) - far(b))[0];
  return best !== undefined && far(best) <= Math.max(2, Math.floor(best.length / 3)) ? best : undefined;
}
