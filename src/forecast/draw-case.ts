import type { LaneKey, UsdMicros } from '../domain/ids.ts';
import type { SeededRandom } from '../domain/seeded-random.ts';
import type { SimCall, SimCase } from '../sim/workload.ts';
import { nameKey, type PastCall, type PastCases, type PastChain } from './past-cases.ts';
import type { GuessedCall, PlannedCase, PlannedLane } from './planned-work.ts';
import { type Price, repeatCase } from './repeat-case.ts';

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
  /** What each call costs; undefined when nobody knows. */
  readonly costs: readonly (UsdMicros | undefined)[];
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

/** Everything that a draw is made with, beside the case. */
export interface Setting {
  readonly past: PastCases;
  readonly lanes: readonly PlannedLane[];
  readonly at: ReadonlyMap<LaneKey, number>;
  readonly price: Price;
  readonly world: World;
}

interface PricedCall {
  readonly call: SimCall;
  readonly cost: UsdMicros | undefined;
}

/** Undefined when one of its lanes is none of the plan's. */
function repeat(
  chain: PastChain,
  planned: PlannedCase,
  setting: Setting,
  from: 'name' | 'family',
): PricedCall[] | undefined {
  const { lanes, at, price, world } = setting;
  const usual = from === 'name' ? undefined : world.weights.get(planned.family);
  const weight = usual === undefined || usual === 0 ? 1 : guessedInput(planned) / usual;
  const { calls, added } = repeatCase(chain, planned, price);
  // The same case on the same models: what it cost then is worth more than a price list.
  const unchanged = from === 'name' && calls.every(({ past, lane }) => lane === past.lane);
  const repeated: PricedCall[] = [];
  for (const { past, lane: key, usage, paid } of calls) {
    const lane = at.get(key);
    if (lane === undefined) return undefined;
    const [input, output] = [usage.inputTokens * weight, usage.outputTokens];
    const call = {
      lane,
      latencyMs: world.latency(key, past) * world.drift,
      gapMs: past.gapMs,
      input,
      output,
      maxOutput: mostOutput(lanes[lane]),
    };
    const listed = price(key, { inputTokens: input, outputTokens: output });
    // What another model was paid says nothing about this one.
    const known = key === past.lane ? paid : undefined;
    repeated.push({ call, cost: unchanged ? (known ?? listed) : (listed ?? known) });
  }
  return [...repeated, ...guessed(added, setting)];
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

function guessed(all: readonly GuessedCall[], { lanes, at, price, world }: Setting): PricedCall[] {
  const calls: PricedCall[] = [];
  for (const { lane: key, inputTokens, outputTokens } of all) {
    const lane = at.get(key);
    if (lane === undefined) continue;
    const latency = lanes[lane]?.latency;
    const median = latency?.medianMs ?? guessedLatency(outputTokens) * world.latencyFactor;
    const call = {
      lane,
      latencyMs: world.random.lognormal(median, latency?.sigma ?? 0.4),
      gapMs: 0,
      input: inputTokens,
      output: outputTokens,
      maxOutput: mostOutput(lanes[lane]),
    };
    calls.push({ call, cost: price(key, { inputTokens, outputTokens }) });
  }
  return calls;
}

function drawn(calls: readonly PricedCall[], from: DrawnCase['from'], expected: number): DrawnCase {
  return { work: { calls: calls.map(({ call }) => call), expected }, from, costs: calls.map(({ cost }) => cost) };
}

/** Draws how one case goes: as it went before, as one of its kind went, or as the plan guesses. */
export function drawCase(planned: PlannedCase, setting: Setting): DrawnCase {
  const { past, world } = setting;
  const name = nameKey(planned.family, planned.name);
  const sources = [
    ['name', name, past.byName.get(name)],
    ['family', planned.family, past.byFamily.get(planned.family)],
  ] as const;
  for (const [from, key, chains] of sources) {
    if (chains === undefined || chains.length === 0) continue;
    // One memory of a case is one draw: now and then it goes as others of its kind did.
    if (from === 'name' && world.random.next() * (chains.length + 1) >= chains.length) continue;
    const memory = world.memory(key, chains);
    const chain = memory[world.random.below(memory.length)];
    const calls = chain === undefined ? undefined : repeat(chain, planned, setting, from);
    if (calls !== undefined) return drawn(calls, from, planned.expectedCalls ?? calls.length);
  }
  const calls = guessed(guessedChain(planned, world), setting);
  return drawn(calls, 'guess', planned.expectedCalls ?? planned.guess.length);
}
