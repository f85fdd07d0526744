/** A small seeded generator (mulberry32): the same seed gives the same numbers on every machine. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** An integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** Lognormal with the given median and shape. */
  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  /** A generator of its own, for a part that must not disturb the others' draws. */
  fork(salt: number): SeededRandom {
    return new SeededRandom(Math.imul(this.state ^ (salt + 0x9e3779b9), 0x85ebca6b));
  }
}

/** Numbers in [0, 1), one by one. */
export type Random = () => number;

/** The same generator as a plain function. */
export function seededRandom(seed: number): Random {
  const random = new SeededRandom(seed);
  return () => random.next();
}
