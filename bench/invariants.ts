/** The lanes' invariants over 100,000 random worlds; every breach is printed with the seed that repeats it. */
import { checkInvariants } from '../src/sim/invariants.ts';

export const bench = {
  name: 'invariants',
  async run({ args }: { readonly args: readonly string[] }) {
    const runs = Number(args.find((arg) => arg.startsWith('--runs='))?.slice('--runs='.length) ?? 100_000);
    const cases: { seed: number; breach: string }[] = [];
    for (let seed = 1; seed <= runs; seed += 1) {
      for (const breach of checkInvariants(seed)) cases.push({ seed, breach });
    }
    return { name: 'invariants', figures: { runs, breaches: cases.length }, cases: cases.slice(0, 20) };
  },
};
