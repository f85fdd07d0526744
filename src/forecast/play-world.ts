import type { LaneKey, UsdMicros } from '../domain/ids.ts';
import type { LearnedLimit } from '../domain/lane.ts';
import type { ServerSpec } from '../sim/server-model.ts';
import { type SimulatedLane, simulate } from '../sim/simulate.ts';
import { type DrawnCase, drawCase, type World } from './draw-case.ts';
import type { PastCases } from './past-cases.ts';
import type { PastLane } from './past-lanes.ts';
import type { PlannedCase, PlannedLane } from './planned-work.ts';
import { listedPrices } from './repeat-case.ts';

/** What one world came to, per lane and in all. */
export interface WorldLane {
  calls: number;
  tokens: number;
  latencyMs: number;
  /** Null as soon as one price is unknown. */
  costUsdMicros: UsdMicros | null;
  endsAtMs: number;
  /** Of the cases that ask this lane: what one of them takes by itself. */
  longestCaseMs: number;
  /** And how many calls the longest of them makes. */
  mostCallsOfCase: number;
}

export interface WorldResult {
  readonly lanes: readonly WorldLane[];
  readonly makespanMs: number;
  /** How many cases were drawn from each source. */
  readonly sources: Readonly<Record<DrawnCase['from'], number>>;
}

function bucketOf(learned: readonly LearnedLimit[] | undefined, resource: LearnedLimit['resource']) {
  const limit = learned?.find((each) => each.resource === resource);
  if (limit === undefined) return undefined;
  // A lane begins with the cautious end of what a few answers told it; the server itself is likelier at the other end.
  return { perMinute: limit.mostPerMinute ?? limit.ratePerMinute, capacity: limit.capacity };
}

/** The server as it was last seen. Declared limits need none: the lane itself keeps to them. */
export function serverOf({ spec }: PlannedLane, seen?: PastLane): ServerSpec {
  const requests = bucketOf(spec.learned, 'requests');
  const tokens = bucketOf(spec.learned, 'tokens');
  // It rejected and never said why: it will do so again, and the lane will have to find out again.
  const silent = requests === undefined && tokens === undefined && spec.limits?.rpm === undefined;
  if (silent && seen?.requests !== undefined) return { requests: seen.requests, headers: 'none' };
  return {
    ...(requests === undefined ? {} : { requests }),
    ...(tokens === undefined ? {} : { tokens: { ...tokens, rule: 'real' as const } }),
    headers: 'consistent',
  };
}

function addCost(lane: WorldLane, price: UsdMicros | undefined): void {
  lane.costUsdMicros = lane.costUsdMicros === null || price === undefined ? null : lane.costUsdMicros + price;
}

function tally(drawn: DrawnCase, lanes: readonly WorldLane[]): void {
  const caseMs = drawn.work.calls.reduce((sum, call) => sum + call.gapMs + call.latencyMs, 0);
  for (const [at, call] of drawn.work.calls.entries()) {
    const lane = lanes[call.lane];
    if (lane === undefined) continue;
    lane.calls++;
    lane.longestCaseMs = Math.max(lane.longestCaseMs, caseMs);
    lane.mostCallsOfCase = Math.max(lane.mostCallsOfCase, drawn.work.calls.length);
    lane.tokens += call.input + call.output;
    lane.latencyMs += call.latencyMs;
    addCost(lane, drawn.costs[at]);
  }
}

/** The lane with its server, failing as often as it did. */
function simulatedLane(lane: PlannedLane, seen: PastLane | undefined, { random }: World): SimulatedLane {
  const server = serverOf(lane, seen);
  if (seen === undefined || seen.faultShare === 0) return { spec: lane.spec, server };
  const { faultShare, faultMs } = seen;
  return {
    spec: lane.spec,
    server,
    fault: () => (random.next() < faultShare ? { type: 'retry' } : undefined),
    faultMs,
  };
}

/** Plays all cases once, through the real scheduler, on the virtual clock. */
export function playWorld(
  cases: Iterable<PlannedCase>,
  planned: readonly PlannedLane[],
  past: PastCases,
  world: World,
  options: { readonly globalCap?: number; readonly ahead: number },
): WorldResult {
  const at = new Map(planned.map(({ spec }, position) => [spec.key, position]));
  const lanes: WorldLane[] = planned.map(() => ({
    calls: 0,
    tokens: 0,
    latencyMs: 0,
    costUsdMicros: 0,
    endsAtMs: 0,
    longestCaseMs: 0,
    mostCallsOfCase: 0,
  }));
  const sources = { name: 0, family: 0, guess: 0 };
  const setting = { past, lanes: planned, at, price: listedPrices(planned), world };
  function* work() {
    for (const one of cases) {
      const drawn = drawCase(one, setting);
      sources[drawn.from]++;
      tally(drawn, lanes);
      yield drawn.work;
    }
  }
  const laneOfCall = new Map<number, LaneKey>();
  const { makespanMs } = simulate({
    lanes: planned.map((lane) => simulatedLane(lane, past.lanes?.get(lane.spec.key), world)),
    cases: work(),
    scheduler: { events: false, ...(options.globalCap === undefined ? {} : { globalCap: options.globalCap }) },
    ahead: options.ahead,
    watch(command, now) {
      if (command.type === 'start') laneOfCall.set(command.call, command.lane);
      if (command.type !== 'finish') return;
      const lane = lanes[at.get(laneOfCall.get(command.call) as LaneKey) ?? -1];
      if (lane !== undefined) lane.endsAtMs = now;
      laneOfCall.delete(command.call);
    },
  });
  return { lanes, makespanMs, sources };
}
