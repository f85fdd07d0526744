/** Random lanes, servers, faults and work, from one seed: the ground on which the lanes' invariants are checked. */
import { laneKey } from '../domain/ids.ts';
import type { LaneLimits } from '../domain/lane.ts';
import { SeededRandom } from '../domain/seeded-random.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';
import type { AttemptResult } from '../lanes/messages.ts';
import { plainProfile } from '../lanes/reservation.ts';
import type { SchedulerOptions } from '../lanes/scheduler.ts';
import type { ServerSpec } from './server-model.ts';
import type { SimulatedLane } from './simulate.ts';
import type { SimCall, SimCase } from './workload.ts';

export interface World {
  readonly lanes: readonly SimulatedLane[];
  readonly cases: readonly SimCase[];
  readonly scheduler: SchedulerOptions;
  readonly abortAtMs: number | undefined;
}

export interface WorldOptions {
  /** Every case stays on one lane and lanes share nothing. */
  readonly apart?: boolean;
}

export function randomWorld(seed: number, options: WorldOptions = {}): World {
  const random = new SeededRandom(seed);
  const count = 1 + random.below(4);
  const sharing = !options.apart && random.next() < 0.3;
  const lanes = Array.from({ length: count }, (_, lane) => randomLane(lane, sharing, random));
  const cases = Array.from({ length: 1 + random.below(25) }, () => randomCase(count, options.apart ?? false, random));
  const scheduler = {
    seed,
    events: true,
    ...(!options.apart && random.next() < 0.2 ? { globalCap: 1 + random.below(6) } : {}),
  };
  return {
    lanes,
    cases,
    scheduler,
    abortAtMs: !options.apart && random.next() < 0.2 ? random.below(20_000) : undefined,
  };
}

function randomLane(lane: number, sharing: boolean, random: SeededRandom): SimulatedLane {
  const declared = random.next() < 0.5;
  const server = randomServer(random);
  const limits = declared ? randomLimits(server, random) : {};
  const spec: LaneSpec = {
    key: laneKey(`lane-${lane}`),
    limits: { ...limits, ...(random.next() < 0.2 ? { minGapMs: random.below(500) } : {}) },
    ceiling: 1 + random.below(64),
    accounting: { ...plainProfile, reserve: 'input+max' },
    ...(sharing ? { shared: [{ key: 'account', limits: { rpm: 600, maxConcurrent: 6 } }] } : {}),
  };
  return { spec, server, fault: randomFault(random) };
}

function randomServer(random: SeededRandom): ServerSpec {
  const rpm = 30 + random.below(2_000);
  const capacity = 1 + random.below(random.next() < 0.5 ? 10 : rpm);
  const fixed = random.next() < 0.1;
  return {
    ...(random.next() < 0.8
      ? {
          requests: {
            perMinute: rpm,
            capacity,
            ...(fixed ? { fixedWindowMs: 10_000, phaseMs: random.below(10_000) } : {}),
          },
        }
      : {}),
    ...(random.next() < 0.4
      ? {
          tokens: {
            perMinute: 60_000 + random.below(600_000),
            capacity: 20_000,
            rule: random.next() < 0.5 ? ('real' as const) : ('reserve' as const),
          },
        }
      : {}),
    ...(random.next() < 0.15 ? { maxConcurrent: 1 + random.below(8) } : {}),
    headers: (['consistent', 'per-minute', 'rounded', 'none'] as const)[random.below(4)] ?? 'none',
    retryAfter: random.next() < 0.6,
    rejectionsCost: random.next() < 0.2,
    ...(random.next() < 0.2 ? { neighbour: { fromMs: 1_000, untilMs: 8_000, share: 0.5 } } : {}),
    ...(random.next() < 0.2 ? { changes: [{ atMs: 4_000, factor: 0.4 }] } : {}),
  };
}

function randomLimits(server: ServerSpec, random: SeededRandom): LaneLimits {
  const boldness = 0.5 + random.next();
  return {
    ...(random.next() < 0.8 ? { rpm: (server.requests?.perMinute ?? 600) * boldness } : {}),
    ...(random.next() < 0.5 ? { tpm: Math.max(10_000, (server.tokens?.perMinute ?? 300_000) * boldness) } : {}),
    ...(random.next() < 0.4 ? { maxConcurrent: 1 + random.below(12) } : {}),
    ...(random.next() < 0.3 ? { maxRetries: random.below(4), maxRateLimited: random.below(6) } : {}),
  };
}

/** Depends on the attempt alone, so that a world can be played again. */
function randomFault(random: SeededRandom): NonNullable<SimulatedLane['fault']> {
  const rate = random.next() < 0.5 ? 0 : random.next() * 0.5;
  const salt = random.below(1_000_000);
  return ({ index, made, number, now }): AttemptResult | undefined => {
    const draws = new SeededRandom(salt + 7_919 * index + 104_729 * made + 1_299_709 * number);
    if (draws.next() >= rate) return undefined;
    const kind = draws.next();
    if (kind < 0.45) return { type: 'retry', once: draws.next() < 0.2 };
    if (kind < 0.8)
      return { type: 'rate-limited', ...(draws.next() < 0.7 ? { retryAfterMs: draws.below(4_000) } : {}) };
    if (kind < 0.9) return { type: 'fail' };
    if (kind < 0.97) return { type: 'park', until: now + draws.below(5_000), reason: 'daily quota' };
    return { type: 'close', reason: 'bad key' };
  };
}

function randomCase(lanes: number, apart: boolean, random: SeededRandom): SimCase {
  const home = random.below(lanes);
  const calls: SimCall[] = Array.from({ length: 1 + random.below(5) }, () => ({
    lane: apart ? home : random.below(lanes),
    latencyMs: random.below(10) === 0 ? 0 : random.lognormal(800, 0.8),
    input: 1 + random.below(3_000),
    output: random.below(900),
    maxOutput: 1_000,
    gapMs: random.next() < 0.3 ? random.below(400) : 0,
  }));
  return { calls, expected: 1 + random.below(6) };
}
