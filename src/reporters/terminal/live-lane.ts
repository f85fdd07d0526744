/** What the live view knows of one lane: a reducer of its events, as `live-state.ts` is of the run's. */
import type { EpochMillis, LaneKey } from '../../domain/ids.ts';
import type { LaneEvent } from '../../domain/lane.ts';
import type { Resource } from '../../domain/reply.ts';
import { fillHistory, type LaneHistory, laneHistory, markRejected } from '../lane-history.ts';

/** What a lane is in for: changes of it are news, everything else is traffic. */
export type LaneMode = 'running' | 'blocked' | 'paused' | 'parked' | 'closed';

export interface LiveLane {
  readonly key: LaneKey;
  mode: LaneMode;
  inFlight: number;
  queued: number;
  started: number;
  ended: number;
  /** 429s, and how often they blocked the lane. */
  rejections: number;
  blocks: number;
  blockedUntil: EpochMillis;
  resource: Resource | undefined;
  /** Why it is parked or closed. */
  reason: string;
  /** The latest change of its limit: `8 -> 4`. */
  limitFrom: number;
  limitTo: number;
  firstStartAt: EpochMillis;
  lastEndAt: EpochMillis;
  /** Calls ended per millisecond, recent ones counting more. */
  rate: number;
  rateAt: EpochMillis;
  /** Mean milliseconds a call takes: the first twenty, and lately. */
  usualMs: number;
  recentMs: number;
  readonly history: LaneHistory;
  /** Start times of the calls in flight. */
  readonly starts: Map<number, EpochMillis>;
}

/** How far back the recent rate looks. */
const rateMemoryMs = 30_000;

export function newLane(key: LaneKey, startedAt: EpochMillis): LiveLane {
  return {
    key,
    mode: 'running',
    inFlight: 0,
    queued: 0,
    started: 0,
    ended: 0,
    rejections: 0,
    blocks: 0,
    blockedUntil: 0,
    resource: undefined,
    reason: '',
    limitFrom: 0,
    limitTo: 0,
    firstStartAt: 0,
    lastEndAt: 0,
    rate: 0,
    rateAt: 0,
    usualMs: 0,
    recentMs: 0,
    history: laneHistory(startedAt),
    starts: new Map(),
  };
}

function leaveFlight(lane: LiveLane, call: number): EpochMillis | undefined {
  const startedAt = lane.starts.get(call);
  if (startedAt === undefined) return undefined;
  lane.starts.delete(call);
  lane.inFlight--;
  return startedAt;
}

function endCall(lane: LiveLane, call: number, at: EpochMillis, ok: boolean): void {
  const startedAt = leaveFlight(lane, call);
  if (startedAt === undefined) lane.queued = Math.max(0, lane.queued - 1);
  else if (ok) {
    const took = at - startedAt;
    lane.recentMs = lane.ended === 0 ? took : lane.recentMs + (took - lane.recentMs) * 0.1;
    if (lane.ended < 20) lane.usualMs += (took - lane.usualMs) / (lane.ended + 1);
  }
  lane.ended++;
  lane.lastEndAt = at;
  lane.rate = lane.rate * Math.exp((lane.rateAt - at) / rateMemoryMs) + 1 / rateMemoryMs;
  lane.rateAt = at;
}

function startCall(lane: LiveLane, event: LaneEvent & { type: 'call-start' }): void {
  if (lane.started === 0) {
    lane.firstStartAt = event.at;
    lane.rateAt = event.at;
  }
  lane.started++;
  lane.queued = Math.max(0, lane.queued - 1);
  lane.inFlight++;
  lane.starts.set(event.call, event.at);
  if (lane.mode === 'blocked') lane.mode = 'running';
}

function requeueCall(lane: LiveLane, event: LaneEvent & { type: 'call-requeue' }): void {
  if (leaveFlight(lane, event.call) !== undefined) lane.queued++;
  if (event.reason !== 'rate-limited') return;
  lane.rejections++;
  markRejected(lane.history, event.at);
}

function blockLane(lane: LiveLane, event: LaneEvent & { type: 'lane-block' }): void {
  if (lane.mode === 'running') {
    lane.mode = 'blocked';
    lane.blocks++;
  }
  lane.blockedUntil = Math.max(lane.blockedUntil, event.until);
  lane.resource = event.resource;
}

/** Takes one event of the lane in. */
export function reduceLane(lane: LiveLane, event: LaneEvent): void {
  fillHistory(lane.history, lane, event.at);
  switch (event.type) {
    case 'call-queue':
      lane.queued++;
      return;
    case 'call-start':
      startCall(lane, event);
      return;
    case 'call-requeue':
      requeueCall(lane, event);
      return;
    case 'call-end':
      endCall(lane, event.call, event.at, event.result === 'ok');
      return;
    case 'lane-block':
      blockLane(lane, event);
      return;
    case 'lane-park':
      lane.mode = 'parked';
      lane.blockedUntil = event.until;
      lane.reason = event.reason;
      return;
    case 'lane-close':
      lane.mode = 'closed';
      lane.reason = event.reason;
      return;
    case 'lane-pause':
      lane.mode = 'paused';
      return;
    case 'lane-resume':
      lane.mode = 'running';
      return;
    case 'lane-concurrency':
      lane.limitFrom = event.from;
      lane.limitTo = event.to;
      return;
    case 'lane-learn':
      // Learned limits show through the lane's pace.
      return;
    default:
      // An event of a later version, read from a store, changes nothing here.
      event satisfies never;
  }
}
