import { CheckProblem } from './check.ts';

type Vector = readonly number[];

function pairwise(one: Vector, other: Vector, term: (a: number, b: number) => number): number {
  if (one.length !== other.length)
    throw new CheckProblem(`Embeddings differ in length: ${one.length} and ${other.length}`);
  return one.reduce((sum, value, at) => sum + term(value, other[at] ?? 0), 0);
}

export const dotProduct = (one: Vector, other: Vector): number => pairwise(one, other, (a, b) => a * b);

export const euclideanDistance = (one: Vector, other: Vector): number =>
  Math.sqrt(pairwise(one, other, (a, b) => (a - b) ** 2));

export function cosineSimilarity(one: Vector, other: Vector): number {
  const lengths = Math.sqrt(dotProduct(one, one)) * Math.sqrt(dotProduct(other, other));
  const product = dotProduct(one, other);
  return lengths === 0 ? 0 : product / lengths;
}
