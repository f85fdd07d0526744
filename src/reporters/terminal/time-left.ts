/**
 * How long a run still takes, from what was expected of it and from what it has done so far.
 *
 * 1. What earlier sittings of a resumed run did counts for nothing here: neither their calls nor their time are known.
 * 2. A lane is measured by its own cases where it is known how many it has: lanes go at different paces, so that the
 *    run's progress says little about one of them.
 */
import type { LaneKey } from '../../domain/ids.ts';
import type { LiveLane } from './live-lane.ts';
import type { LiveState } from './live-state.ts';

/** What is to be done on a lane from the start of this sitting. */
export interface LaneWork {
  /** Cases of its columns, and the providers that these name. */
  readonly cases: number;
  readonly providers: ReadonlySet<string>;
  /** Calls by the forecast; absent where nobody made one. */
  readonly calls?: number;
}

/** By lane; those that are absent are estimated from the run so far. */
export type ExpectedWork = ReadonlyMap<LaneKey, LaneWork>;

/** Fewer completed cases than this say nothing about the rest. */
const enoughCases = 5;

/** Cases that ended in this sitting and those still to end: the lane's own, or the run's where it has none. */
function progressOf(state: LiveState, work: LaneWork | undefined): { ended: number; left: number } {
  if (work === undefined || work.cases === 0)
    return { ended: state.endedHere, left: Math.max(0, state.planned - state.completed) };
  let ended = 0;
  for (const [position, count] of state.endedByColumn)
    if (work.providers.has(state.columns.get(position)?.provider ?? '')) ended += count;
  return { ended, left: Math.max(0, work.cases - ended) };
}

function callsLeft(state: LiveState, lane: LiveLane, work: LaneWork | undefined): number | undefined {
  const { ended, left } = progressOf(state, work);
  const known = lane.inFlight + lane.queued;
  const forecast = work?.calls === undefined ? undefined : work.calls - lane.ended;
  if (ended < enoughCases && left > 0) return forecast === undefined ? undefined : Math.max(known, forecast);
  const soFar = left === 0 ? 0 : (lane.ended * left) / ended;
  // The run's own experience outweighs the forecast as it grows.
  const share = ended / Math.max(1, ended + left);
  return Math.max(known, forecast === undefined ? soFar : forecast * (1 - share) + soFar * share);
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
export function laneTimeLeft(state: LiveState, lane: LiveLane, expected: ExpectedWork): number | undefined {
  // A lane with work left has calls queued; an idle one follows others, and only who counted before knows for how long.
  const idle = lane.inFlight === 0 && lane.queued === 0;
  if (state.complete !== undefined) return 0;
  const work = expected.get(lane.key);
  if (idle && work === undefined) return undefined;
  const left = callsLeft(state, lane, work);
  if (left === undefined) return undefined;
  if (left < 0.5) return 0;
  const rate = rateOf(state, lane);
  if (rate === 0) return undefined;
  const held = Math.max(0, lane.blockedUntil - state.now);
  return held + left / rate;
}

/** Milliseconds until the whole run is through: its slowest lane, or the pace of its cases. */
export function runTimeLeft(state: LiveState, expected: ExpectedWork): number | undefined {
  if (state.complete !== undefined || state.completed >= state.planned) return 0;
  let most: number | undefined;
  for (const lane of state.lanes.values()) {
    const left = laneTimeLeft(state, lane, expected);
    if (left !== undefined && (most === undefined || left > most)) most = left;
  }
  if (most !== undefined && most > 0) return most;
  if (state.endedHere < enoughCases) return undefined;
  return ((state.now - state.startedAt) / state.endedHere) * (state.planned - state.completed);
}
