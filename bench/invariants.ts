/**
 * The lanes' invariants over 100,000 random worlds, and a million calls against servers with headers of every style; every
 * breach is printed with the seed that repeats it.
 */
import { laneKey } from '../src/domain/ids.ts';
import { checkInvariants } from '../src/sim/invariants.ts';
import { simulate } from '../src/sim/simulate.ts';
import { independentCalls } from '../src/sim/workload.ts';

export const bench = {
  name: 'invariants',
  async run({ args }: { readonly args: readonly string[] }) {
    const runs = Number(args.find((arg) => arg.startsWith('--runs='))?.slice('--runs='.length) ?? 100_000);
    const cases: { seed: number; breach: string }[] = [];
    for (let seed = 1; seed <= runs; seed += 1) {
      for (const breach of checkInvariants(seed)) cases.push({ seed, breach });
    }
    const calls = Number(args.find((arg) => arg.startsWith('--calls='))?.slice('--calls='.length) ?? 1_000_000);
    const figures = { runs, breaches: cases.length, ...startsBeforeTold(calls) };
    return { name: 'invariants', figures, cases: cases.slice(0, 20) };
  },
};

const styles = ['consistent', 'per-minute', 'rounded', 'none'] as const;

/** Starts before a time that a server gave. */
function startsBeforeTold(calls: number): { calls: number; gates: number; startsBeforeTold: number } {
  const told = new Map<string, number>();
  const count = { calls, gates: 0, startsBeforeTold: 0 };
  simulate({
    lanes: Array.from({ length: 40 }, (_, lane) => ({
      spec: { key: laneKey(`lane-${lane}`) },
      server: {
        requests: { perMinute: 600 + 60 * lane, capacity: 3 + lane },
        headers: styles[lane % styles.length] ?? 'none',
        retryAfter: lane % 3 !== 0,
        rejectionsCost: lane % 5 === 0,
        ...(lane % 7 === 0 ? { changes: [{ atMs: 60_000, factor: 0.5 }] } : {}),
      },
    })),
    cases: independentCalls({ calls, lanes: 40, seed: 11, latencyMs: 900 }),
    ahead: 64,
    scheduler: { events: true },
    watch: (command, now) => {
      if (command.type === 'start' && now < (told.get(command.lane) ?? 0)) count.startsBeforeTold += 1;
      if (command.type !== 'event' || command.event.type !== 'lane-block') return;
      count.gates += 1;
      told.set(command.event.lane, Math.max(told.get(command.event.lane) ?? 0, command.event.until));
    },
  });
  return count;
}
