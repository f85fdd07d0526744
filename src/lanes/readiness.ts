import type { WaitCause } from '../domain/lane.ts';
import type { LaneState } from './lane-state.ts';
import type { QueuedCall } from './queued-call.ts';
import { REQUESTS, resourceNames } from './queued-call.ts';
import { reserveFor } from './reservation.ts';

const never = Number.POSITIVE_INFINITY;

/** Most calls of this lane that may be in flight now. */
function inFlightLimit(lane: LaneState): number {
  const limit = Math.min(lane.concurrency.dynamic, lane.pace.window);
  return lane.probing ? Math.min(1, limit) : limit;
}

/** Moves the calls whose own time has come to the ready ones. */
function promoteDue(lane: LaneState, now: number): void {
  for (let next = lane.delayed.peek(); next !== undefined && next.notBefore <= now; next = lane.delayed.peek()) {
    lane.delayed.pop();
    lane.ready.push(next);
  }
}

/** When the nodes on the lane's path let this call start; Infinity while only an ending call can change that. */
function nodesOpenAt(lane: LaneState, call: QueuedCall, now: number): number {
  let at = now;
  for (const node of lane.nodes) {
    if (node.inFlight >= node.maxConcurrent) return never;
    for (let resource = 0; resource < 4; resource += 1) {
      const cost = call.reserved[resource] as number;
      if (cost === 0) continue;
      const gate = node.gatedUntil[resource] as number;
      if (gate > at) at = gate;
      const bucket = node.buckets[resource];
      if (bucket === undefined) continue;
      const open = bucket.eligibleAt(cost, now);
      if (open > at) at = open;
    }
  }
  return at;
}

/**
 * The start rule: the earliest time at which the lane's next call may start, which is
 * `max(now, blockedUntil, nextReqAt, nextTokAt, notBefore)` over every node on its path.
 */
export function readyAt(lane: LaneState, now: number): number {
  if (lane.paused || lane.closedReason !== undefined) return never;
  promoteDue(lane, now);
  const call = lane.ready.peek();
  if (call === undefined) return lane.delayed.peek()?.notBefore ?? never;
  if (lane.inFlight >= inFlightLimit(lane)) return never;
  reserveFor(call);
  let at = nodesOpenAt(lane, call, now);
  if (lane.parkedUntil > at) at = lane.parkedUntil;
  if (lane.breakerUntil > at) at = lane.breakerUntil;
  const gap = lane.lastStartAt + lane.minGapMs;
  return gap > at ? gap : at;
}

/** A resource of which this call alone needs more than there can ever be. */
export function tooLarge(call: QueuedCall): { resource: number; limit: number; cost: number } | undefined {
  for (const node of call.lane.nodes) {
    for (let resource = REQUESTS + 1; resource < 4; resource += 1) {
      const cost = call.reserved[resource] ?? 0;
      const limit = node.buckets[resource]?.limit ?? never;
      if (cost > limit) return { resource, limit, cost };
    }
  }
  return undefined;
}

/** The one cause why a lane does not start its next call now. */
export function waitCause(lane: LaneState, now: number, serialHolder: number | undefined): WaitCause {
  if (lane.closedReason !== undefined) return { kind: 'closed', reason: lane.closedReason };
  if (lane.parkedUntil > now) return { kind: 'parked', until: lane.parkedUntil, reason: lane.parkedReason };
  const gated = latestGate(lane, now);
  if (gated !== undefined) return gated;
  if (lane.breakerUntil > now) return { kind: 'backing-off', until: lane.breakerUntil };
  if (lane.paused) return { kind: 'paused' };
  if (lane.aside > 0 && lane.queued === 0 && serialHolder !== undefined) {
    return { kind: 'serial-gate', heldBy: serialHolder as never };
  }
  return paceCause(lane, now) ?? flowCause(lane, now);
}

function latestGate(lane: LaneState, now: number): WaitCause | undefined {
  let latest: WaitCause | undefined;
  let until = now;
  for (const node of lane.nodes) {
    node.gatedUntil.forEach((gate, resource) => {
      const name = resourceNames[resource];
      if (gate <= until || name === undefined) return;
      until = gate;
      latest = { kind: 'rate-limited', until: gate, resource: name };
    });
  }
  return latest;
}

function paceCause(lane: LaneState, now: number): WaitCause | undefined {
  const call = lane.ready.peek();
  if (call === undefined) return undefined;
  if (lane.inFlight >= inFlightLimit(lane)) return heldInFlight(lane);
  reserveFor(call);
  const openAt = [0, 1, 2, 3].map((resource) => bucketsOpenAt(lane, call, resource, now));
  const requests = Math.max(openAt[REQUESTS] ?? now, lane.lastStartAt + lane.minGapMs);
  const tokens = Math.max(now, ...openAt.slice(1));
  if (tokens > now && tokens >= requests) return { kind: 'tokens', until: tokens };
  if (requests > now) return { kind: 'requests', until: requests };
  const full = lane.nodes.find((node) => node.inFlight >= node.maxConcurrent);
  if (full !== undefined) return full.key === 'global' ? { kind: 'global-cap' } : { kind: 'concurrency' };
  return undefined;
}

/** Why no more calls may be in flight: the cap itself, a lane that feels its way, or one that was cut after rejections. */
function heldInFlight(lane: LaneState): WaitCause {
  const { configured, dynamic } = lane.concurrency;
  if (lane.inFlight >= configured) return { kind: 'concurrency' };
  const atOnce = inFlightLimit(lane);
  if (!lane.pace.known) return { kind: 'finding-pace', atOnce };
  return dynamic < configured || lane.probing ? { kind: 'cut-back', atOnce } : { kind: 'concurrency' };
}

function bucketsOpenAt(lane: LaneState, call: QueuedCall, resource: number, now: number): number {
  let at = now;
  const cost = call.reserved[resource] ?? 0;
  if (cost === 0) return at;
  for (const node of lane.nodes) at = Math.max(at, node.buckets[resource]?.eligibleAt(cost, now) ?? now);
  return at;
}

function flowCause(lane: LaneState, now: number): WaitCause {
  const next = lane.delayed.peek();
  if (next !== undefined && lane.ready.size === 0) return { kind: 'backing-off', until: Math.max(now, next.notBefore) };
  if (lane.inFlight > 0 && lane.recentLatencyMs > 1.5 * lane.usualLatencyMs && lane.usualLatencyMs > 0) {
    return { kind: 'slow-answers' };
  }
  return { kind: 'nothing-left' };
}
