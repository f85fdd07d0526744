import type { LaneKey } from '../domain/ids.ts';
import type { SeededRandom } from '../domain/seeded-random.ts';
import type { SimCall, SimCase } from '../sim/workload.ts';
import { nameKey, type PastCall, type PastCases, type PastChain } from './past-cases.ts';
import type { GuessedCall, PlannedCase, PlannedLane } from './planned-work.ts';

/** One way the run may go: the same lanes and cases, another draw of everything unknown. */
export interface World {
  readonly random: SeededRandom;
  /** See `guessedWeights`. */
  readonly weights: ReadonlyMap<string, number>;
  /** How far this world's guesses are off, all in the same direction. */
  readonly lengthFactor: number;
  readonly latencyFactor: number;
  /** How much quicker or slower providers answer on that day than they did. */
  readonly drift: number;
  /** What some past call of this lane took: the call's own time is one draw of many, and used where there is no other. */
  readonly latency: (lane: LaneKey, call: PastCall) => number;
  /** Past chains as this world remembers them: few memories differ much from world to world, many hardly. */
  readonly memory: (key: string, chains: readonly PastChain[]) => readonly PastChain[];
}

export interface DrawnCase {
  readonly work: SimCase;
  readonly from: 'name' | 'family' | 'guess';
  /** The cost of the past case it goes by; undefined for guesses, null when unknown. */
  readonly pastCost: number | null | undefined;
  /** The same case on the same models: what it cost then is worth more than a price list. */
  readonly unchanged: boolean;
}

/** Without better knowledge: the time to the first token, then about eighty a second. */
const guessedLatency = (outputTokens: number): number => 400 + 12.5 * outputTokens;
/** What a request may have as an answer when it does not say: as the lane counts it. */
const mostOutput = (lane: PlannedLane | undefined): number => lane?.spec.accounting?.defaultMaxTokens ?? 4096;

/** Times of past calls by lane: what a call may take. */
export function latencyPools(past: PastCases): ReadonlyMap<LaneKey, readonly number[]> {
  const pools = new Map<LaneKey, number[]>();
  for (const chains of past.byFamily.values()) {
    for (const { calls } of chains) {
      for (const { lane, latencyMs } of calls) {
        const pool = pools.get(lane);
        if (pool === undefined) pools.set(lane, [latencyMs]);
        else pool.push(latencyMs);
      }
    }
  }
  return pools;
}

export function newWorld(
  random: SeededRandom,
  pools: ReadonlyMap<LaneKey, readonly number[]>,
  weights: ReadonlyMap<string, number>,
): World {
  const remembered = new Map<string, readonly PastChain[]>();
  return {
    random,
    weights,
    lengthFactor: random.lognormal(1, 0.35),
    latencyFactor: random.lognormal(1, 0.25),
    drift: random.lognormal(1, 0.08),
    latency(key, { lane, latencyMs }) {
      const pool = pools.get(key) ?? pools.get(lane);
      return pool === undefined ? latencyMs : (pool[random.below(pool.length)] ?? latencyMs);
    },
    memory(key, chains) {
      let known = remembered.get(key);
      if (known === undefined) {
        known = chains
          .map(() => chains[random.below(chains.length)] ?? chains[0])
          .filter((chain) => chain !== undefined);
        remembered.set(key, known);
      }
      return known;
    },
  };
}

/** The same case on other models: the lanes of then, in order of appearance, become those planned now. */
function laneNow(chain: PastChain, planned: PlannedCase): (lane: LaneKey) => LaneKey {
  const then = [...new Set(chain.calls.map(({ lane }) => lane))];
  const now = [...new Set([planned.lane, ...planned.guess.map(({ lane }) => lane)])];
  return (lane) => now[then.indexOf(lane)] ?? lane;
}

/** Mean weight of the guessed calls: what the plan knows of a case's size. */
const guessedInput = ({ guess }: PlannedCase): number =>
  guess.length === 0 ? 0 : guess.reduce((sum, { inputTokens }) => sum + inputTokens, 0) / guess.length;

/** Mean guessed weight per family, of the cases that have a past: others are as much heavier as their prompts are. */
export function guessedWeights(cases: Iterable<PlannedCase>, past: PastCases): ReadonlyMap<string, number> {
  const sums = new Map<string, { total: number; count: number }>();
  for (const planned of cases) {
    if (!past.byName.has(nameKey(planned.family, planned.name))) continue;
    const sum = sums.get(planned.family) ?? { total: 0, count: 0 };
    sum.total += guessedInput(planned);
    sum.count++;
    sums.set(planned.family, sum);
  }
  return new Map([...sums].map(([family, { total, count }]) => [family, total / count]));
}

function repeat(
  chain: PastChain,
  planned: PlannedCase,
  lanes: readonly PlannedLane[],
  at: ReadonlyMap<LaneKey, number>,
  world: World,
  weight: number,
): SimCase | undefined {
  const calls: SimCall[] = [];
  const move = laneNow(chain, planned);
  for (const call of chain.calls) {
    const key = move(call.lane);
    const lane = at.get(key);
    if (lane === undefined) return undefined;
    calls.push({
      lane,
      latencyMs: world.latency(key, call) * world.drift,
      gapMs: call.gapMs,
      input: (call.usage?.inputTokens ?? chain.inputTokens) * weight,
      output: call.usage?.outputTokens ?? chain.outputTokens,
      maxOutput: mostOutput(lanes[lane]),
    });
  }
  return { calls, expected: planned.expectedCalls ?? calls.length };
}

/** A conversation may be longer or shorter than guessed, to and fro between its two sides; what closes it comes once. */
function guessedChain({ guess: all }: PlannedCase, world: World): GuessedCall[] {
  const body = all.filter(({ closing }) => closing !== true);
  const { length } = body;
  const wanted = length < 3 ? length : Math.max(1, Math.round(length * world.lengthFactor));
  const drawn = Array.from({ length: wanted }, (_, made) =>
    made < length ? body[made] : body[length - 2 + ((made - length) % 2)],
  );
  return [...drawn, ...all.filter(({ closing }) => closing === true)].filter((call) => call !== undefined);
}

function guess(
  planned: PlannedCase,
  lanes: readonly PlannedLane[],
  at: ReadonlyMap<LaneKey, number>,
  world: World,
): SimCase {
  const calls: SimCall[] = [];
  for (const call of guessedChain(planned, world)) {
    const lane = at.get(call.lane);
    if (lane === undefined) continue;
    const latency = lanes[lane]?.latency;
    const median = latency?.medianMs ?? guessedLatency(call.outputTokens) * world.latencyFactor;
    calls.push({
      lane,
      latencyMs: world.random.lognormal(median, latency?.sigma ?? 0.4),
      gapMs: 0,
      input: call.inputTokens,
      output: call.outputTokens,
      maxOutput: mostOutput(lanes[lane]),
    });
  }
  return { calls, expected: planned.expectedCalls ?? planned.guess.length };
}

/** Draws how one case goes: as it went before, as one of its kind went, or as the plan guesses. */
export function drawCase(
  planned: PlannedCase,
  past: PastCases,
  lanes: readonly PlannedLane[],
  at: ReadonlyMap<LaneKey, number>,
  world: World,
): DrawnCase {
  const name = nameKey(planned.family, planned.name);
  const sources = [
    ['name', name, past.byName.get(name)],
    ['family', planned.family, past.byFamily.get(planned.family)],
  ] as const;
  for (const [from, key, chains] of sources) {
    if (chains === undefined || chains.length === 0) continue;
    // One memory of a case is one draw: now and then it goes as others of its kind did.
    if (from === 'name' && world.random.next() * (chains.length + 1) >= chains.length) continue;
    const usual = from === 'name' ? undefined : world.weights.get(planned.family);
    const weight = usual === undefined || usual === 0 ? 1 : guessedInput(planned) / usual;
    const memory = world.memory(key, chains);
    const chain = memory[world.random.below(memory.length)];
    const work = chain === undefined ? undefined : repeat(chain, planned, lanes, at, world, weight);
    if (chain === undefined || work === undefined) continue;
    const move = laneNow(chain, planned);
    const unchanged = from === 'name' && chain.calls.every(({ lane }) => move(lane) === lane);
    return { work, from, pastCost: chain.costUsdMicros, unchanged };
  }
  return { work: guess(planned, lanes, at, world), from: 'guess', pastCost: undefined, unchanged: false };
}
