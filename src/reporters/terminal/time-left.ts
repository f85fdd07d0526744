import type { LaneKey } from '../../domain/ids.ts';
import type { LiveLane, LiveState } from './live-state.ts';

/** How many calls a lane is expected to make in all, by the forecast; absent lanes are estimated from the run so far. */
export type ExpectedCalls = ReadonlyMap<LaneKey, number>;

/** Fewer completed cases than this say nothing about the rest. */
const enoughCases = 5;

function expectedCalls(state: LiveState, lane: LiveLane, expected: ExpectedCalls): number | undefined {
  const forecast = expected.get(lane.key);
  const known = lane.ended + lane.inFlight + lane.queued;
  if (state.completed >= enoughCases) {
    const soFar = (lane.ended * state.planned) / state.completed;
    // The run's own experience outweighs the forecast as it grows.
    const share = state.completed / Math.max(1, state.planned);
    const blended = forecast === undefined ? soFar : forecast * (1 - share) + soFar * share;
    return Math.max(known, blended);
  }
  return forecast === undefined ? undefined : Math.max(known, forecast);
}

/** Calls per millisecond: recent ones when there are some, else the mean since the first. */
function rateOf(state: LiveState, lane: LiveLane): number {
  const elapsed = state.now - lane.firstStartAt;
  if (lane.ended === 0 || elapsed <= 0) return 0;
  const mean = lane.ended / elapsed;
  const warmth = 1 - Math.exp(-elapsed / 30_000);
  const recent = (lane.rate * Math.exp((lane.rateAt - state.now) / 30_000)) / warmth;
  return Math.max(recent, mean * 0.5);
}

/** Milliseconds until this lane is through; undefined while nobody can know. */
export function laneTimeLeft(state: LiveState, lane: LiveLane, expected: ExpectedCalls): number | undefined {
  // A lane with work left has calls queued; an idle one follows others, and only a forecast knows for how long.
  const idle = lane.inFlight === 0 && lane.queued === 0;
  if (state.complete !== undefined) return 0;
  if (idle && !expected.has(lane.key)) return undefined;
  const all = expectedCalls(state, lane, expected);
  if (all === undefined) return undefined;
  const left = all - lane.ended;
  if (left < 0.5) return 0;
  const rate = rateOf(state, lane);
  if (rate === 0) return undefined;
  const held = Math.max(0, lane.blockedUntil - state.now);
  return held + left / rate;
}

/** Milliseconds until the whole run is through: its slowest lane, or the pace of its cases. */
export function runTimeLeft(state: LiveState, expected: ExpectedCalls): number | undefined {
  if (state.complete !== undefined || state.completed >= state.planned) return 0;
  let most: number | undefined;
  for (const lane of state.lanes.values()) {
    const left = laneTimeLeft(state, lane, expected);
    if (left !== undefined && (most === undefined || left > most)) most = left;
  }
  if (most !== undefined && most > 0) return most;
  if (state.completed < enoughCases) return undefined;
  return ((state.now - state.startedAt) / state.completed) * (state.planned - state.completed);
}
