import { hashText } from '../../domain/hash-text.ts';
import { contentWords } from './words.ts';

const size = 32;

/** A vector of length 1 from the words of a text: texts that share words are near each other. */
export function vectorOf(text: string): number[] {
  const vector = new Array<number>(size).fill(0.01);
  for (const word of contentWords(text)) {
    const at = hashText(word) % size;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
