/**
 * What a run will take, before anything is sent.
 *
 * Job: play the plan several times through the real scheduler on the virtual clock, each time drawing anew what nobody
 * knows, and tell the middle and the edges. Not its job: where knowledge comes from, prices, words on a screen.
 *
 * 1. The same input gives the same forecast: every draw comes from the seed.
 * 2. The scheduler is the one that runs: a forecast differs from a run by its draws only.
 * 3. A price that is unknown anywhere makes the whole unknown, never cheaper.
 */
import type { Forecast, LaneForecast, Range } from '../domain/forecast.ts';
import type { LaneKey } from '../domain/ids.ts';
import { counted } from '../domain/measures.ts';
import { SeededRandom } from '../domain/seeded-random.ts';
import { boundWords } from './bound-words.ts';
import { guessedWeights, latencyPools, newWorld } from './draw-case.ts';
import type { PastCases } from './past-cases.ts';
import type { PlannedCase, PlannedLane } from './planned-work.ts';
import { playWorld, type WorldResult } from './play-world.ts';

export interface ForecastInput {
  /** Read once per world, so give a list or something that starts anew. */
  readonly cases: Iterable<PlannedCase>;
  readonly lanes: readonly PlannedLane[];
  readonly past?: PastCases;
  readonly seed?: number;
  readonly globalCap?: number;
  /** What the past cases are, for people: `past runs` or `a pilot of 5`. */
  readonly pastName?: string;
  readonly pricesFrom?: string;
}

const nothingPast: PastCases = { byName: new Map(), byFamily: new Map(), seen: 0 };
/** Fewer worlds for larger plans: chance evens out there, and nobody waits half a minute for a forecast. */
const [mostWorlds, callBudget] = [11, 250_000];
/** First calls kept submitted per lane, as in a run. */
const ahead = 64;

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

function rangeOf(values: readonly number[]): Range {
  const order = sorted(values);
  const at = (share: number): number => order[Math.round(share * (order.length - 1))] ?? 0;
  // The outermost of eleven worlds: about nine runs in ten should fall between.
  return { low: at(0), likely: at(0.5), high: at(1) };
}

function costRange(costs: readonly (number | null)[]): Range | null {
  const known = costs.filter((cost) => cost !== null);
  return known.length < costs.length ? null : rangeOf(known.map(Math.round));
}

function playWorlds(input: ForecastInput): WorldResult[] {
  const past = input.past ?? nothingPast;
  const random = new SeededRandom(input.seed ?? 1);
  const pools = latencyPools(past);
  const weights = guessedWeights(input.cases, past);
  const worlds: WorldResult[] = [];
  let wanted = mostWorlds;
  const options = { ahead, ...(input.globalCap === undefined ? {} : { globalCap: input.globalCap }) };
  while (worlds.length < wanted) {
    const result = playWorld(
      input.cases,
      input.lanes,
      past,
      newWorld(random.fork(worlds.length), pools, weights),
      options,
    );
    worlds.push(result);
    const calls = result.lanes.reduce((sum, lane) => sum + lane.calls, 0);
    wanted = Math.max(1, Math.min(mostWorlds, Math.floor(callBudget / Math.max(1, calls))));
  }
  return worlds;
}

interface Ownership {
  readonly cases: ReadonlyMap<LaneKey, number>;
  readonly largest: LaneKey | undefined;
}

function ownership(cases: Iterable<PlannedCase>): Ownership {
  const owned = new Map<LaneKey, number>();
  for (const { lane } of cases) owned.set(lane, (owned.get(lane) ?? 0) + 1);
  let largest: LaneKey | undefined;
  for (const [lane, count] of owned)
    if (count > (owned.get(largest ?? lane) ?? 0) || largest === undefined) largest = lane;
  return { cases: owned, largest };
}

function laneForecast(
  input: ForecastInput,
  worlds: readonly WorldResult[],
  position: number,
  own: Ownership,
): LaneForecast[] {
  const planned = input.lanes[position];
  const middle = middleWorld(worlds);
  if (planned === undefined || middle === undefined) return [];
  const results = worlds.map(({ lanes }) => lanes[position]).filter((lane) => lane !== undefined);
  const typical = middle.lanes[position];
  const cases = own.cases.get(planned.spec.key) ?? 0;
  if (typical === undefined || results.every(({ calls }) => calls === 0)) return [];
  return [
    {
      lane: planned.spec.key,
      cases,
      calls: rangeOf(results.map(({ calls }) => calls)),
      tokens: rangeOf(results.map(({ tokens }) => Math.round(tokens))),
      timeMs: rangeOf(results.map(({ endsAtMs }) => endsAtMs)),
      costUsdMicros: costRange(results.map(({ costUsdMicros }) => costUsdMicros)),
      boundBy: boundWords(planned, typical, cases === 0 ? own.largest : undefined),
    },
  ];
}

function middleWorld(worlds: readonly WorldResult[]): WorldResult | undefined {
  return [...worlds].sort((a, b) => a.makespanMs - b.makespanMs)[Math.floor(worlds.length / 2)];
}

function basisOf(input: ForecastInput, worlds: readonly WorldResult[]): string {
  const sources = worlds[0]?.sources ?? { name: 0, family: 0, guess: 0 };
  const known = sources.name + sources.family;
  if (known === 0)
    return `${input.past === undefined ? 'no past runs' : 'no past run with these prompts'}: lengths and times are guessed`;
  const from = `from ${counted(input.past?.seen ?? 0, 'case')} of ${input.pastName ?? 'past runs'}`;
  return sources.guess === 0 ? from : `${from}; ${counted(sources.guess, 'case')} guessed`;
}

function lastLane(lanes: readonly LaneForecast[]): LaneKey | undefined {
  let last: LaneForecast | undefined;
  for (const lane of lanes) if (lane.timeMs.likely > (last?.timeMs.likely ?? -1)) last = lane;
  return last?.lane;
}

export function forecastRun(input: ForecastInput): Forecast {
  const own = ownership(input.cases);
  const worlds = playWorlds(input);
  const lanes = input.lanes.flatMap((_, position) => laneForecast(input, worlds, position, own));
  const costs = worlds.map(({ lanes: each }) =>
    each.reduce<number | null>(
      (sum, { calls, costUsdMicros }) =>
        calls === 0 ? sum : sum === null || costUsdMicros === null ? null : sum + costUsdMicros,
      0,
    ),
  );
  return {
    cases: [...own.cases.values()].reduce((sum, count) => sum + count, 0),
    lanes,
    timeMs: rangeOf(worlds.map(({ makespanMs }) => makespanMs)),
    costUsdMicros: costRange(costs),
    decidedBy: lastLane(lanes),
    basis: basisOf(input, worlds),
    ...(input.pricesFrom === undefined ? {} : { pricesFrom: input.pricesFrom }),
  };
}
