/** A million calls on a hundred lanes in one simulation: what a call costs, and that memory stays flat. */
import { laneKey } from '../src/domain/ids.ts';
import { simulate } from '../src/sim/simulate.ts';
import { independentCalls } from '../src/sim/workload.ts';

const laneCount = 100;

export const bench = {
  name: 'scale',
  async run({ args }: { readonly args: readonly string[] }) {
    const calls = Number(args.find((arg) => arg.startsWith('--calls='))?.slice('--calls='.length) ?? 1_000_000);
    const lanes = Array.from({ length: laneCount }, (_, lane) => ({
      spec: { key: laneKey(`lane-${lane}`), ...(lane % 2 === 0 ? { limits: { rpm: 3_000, tpm: 4_000_000 } } : {}) },
      server: {
        requests: { perMinute: 3_000, capacity: 100 },
        tokens: { perMinute: 4_000_000, capacity: 400_000, rule: 'real' as const },
        headers: 'consistent' as const,
        retryAfter: true,
      },
    }));
    const before = process.cpuUsage();
    const result = simulate({
      lanes,
      cases: independentCalls({ calls, lanes: laneCount, seed: 1, latencyMs: 1_500 }),
      ahead: 64,
    });
    const cpu = process.cpuUsage(before);
    if (result.ends.ok !== calls) throw new Error(`not every call was answered: ${JSON.stringify(result.ends)}`);
    const figures = {
      calls,
      cpuMicrosPerCall: Number(((cpu.user + cpu.system) / calls).toFixed(2)),
      peakRssMb: Math.round(process.resourceUsage().maxRSS / 1024),
      rejections: result.rejections,
      makespanSeconds: Math.round(result.makespanMs / 1000),
    };
    return { name: 'scale', figures, cases: [] };
  },
};
