/** What a wire request's end means for its call and its lane: settle, gate, back off, park, close, or finish. */
import { assertNever } from '../domain/errors.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { RateHints } from '../domain/reply.ts';
import type { LaneState } from './lane-state.ts';
import type { AttemptResult, CallEnd, SchedulerEvent } from './messages.ts';
import { type QueuedCall, REQUESTS, resourceNames } from './queued-call.ts';
import { realUse, takenAtEnd } from './reservation.ts';

const firstBackoffMs = 500;
const longestBackoffMs = 60_000;
/** Rejections in a row after which a lane goes one call at a time. */
const stormAfter = 3;
/** Transient failures in a row after which a lane's breaker opens. */
const breakerAfter = 5;

/**
 * An answer that took fewer turns of our own busy event loop than this has waited for us rather than for the provider:
 * more calls at once would not come back faster, they would only wait longer and take memory.
 */
const waitedHereTurns = 4;

type CallEnded = Extract<SchedulerEvent, { type: 'end' }>;
type Requeue = Extract<LaneEvent, { type: 'call-requeue' }>;

interface Outlet {
  finish(call: QueuedCall, end: CallEnd, now: number): void;
  tell(event: LaneEvent): void;
}

export class Ending {
  private readonly maxWaitMs: number;
  private readonly outlet: Outlet;

  constructor(maxWaitMs: number, outlet: Outlet) {
    this.maxWaitMs = maxWaitMs;
    this.outlet = outlet;
  }

  /** A response head tells what is left. */
  hear(call: QueuedCall, hints: RateHints | undefined, now: number): void {
    const { lane } = call;
    for (const resource of lane.pace.hear(call, hints, now)) {
      const learned = lane.pace.remember().find((limit) => limit.resource === resourceNames[resource]);
      if (learned === undefined) continue;
      const { ratePerMinute, windowMs } = learned;
      this.outlet.tell({
        type: 'lane-learn',
        lane: lane.key,
        at: now,
        resource: learned.resource,
        ratePerMinute,
        windowMs,
      });
    }
  }

  /** Returns true when the call is to be queued again. */
  end(call: QueuedCall, { result, hostTurnMs = 0 }: CallEnded, aborted: boolean, now: number): boolean {
    const { lane } = call;
    this.release(call);
    if (result.type === 'ok' || result.type === 'rate-limited' || result.type === 'retry')
      this.hear(call, result.hints, now);
    const stopping = aborted || call.cancelled;
    switch (result.type) {
      case 'ok':
        return this.ok(call, result, hostTurnMs, now);
      case 'rate-limited':
        this.settle(call, [1, 0, 0, 0], now);
        this.rejected(call, result, now);
        return this.again(call, 'rate-limited', stopping, call.rateLimited > lane.maxRateLimited, now);
      case 'retry': {
        this.settle(call, undefined, now);
        this.failedOnce(call, now);
        const used = call.retries > (result.once ? Math.min(1, lane.maxRetries) : lane.maxRetries);
        return this.again(call, 'retry', stopping, used, now);
      }
      case 'park':
        this.settle(call, [1, 0, 0, 0], now);
        this.park(lane, result.until, result.reason, now);
        call.notBefore = result.until;
        return this.again(call, 'parked', stopping, false, now);
      case 'close':
        this.settle(call, undefined, now);
        lane.closedReason ??= result.reason;
        this.outlet.tell({ type: 'lane-close', lane: lane.key, at: now, reason: result.reason });
        return this.done(call, { type: 'failed' }, now);
      case 'fail':
        this.settle(call, undefined, now);
        return this.done(call, { type: 'failed' }, now);
      case 'aborted':
        this.settle(call, undefined, now);
        return this.done(call, { type: 'aborted' }, now);
      default:
        return assertNever(result);
    }
  }

  private done(call: QueuedCall, end: CallEnd, now: number): false {
    this.outlet.finish(call, end, now);
    return false;
  }

  private again(call: QueuedCall, reason: Requeue['reason'], stopping: boolean, usedUp: boolean, now: number): boolean {
    if (stopping) return this.done(call, { type: 'aborted' }, now);
    if (usedUp) {
      return this.done(call, { type: 'exhausted', counter: reason === 'retry' ? 'maxRetries' : 'maxRateLimited' }, now);
    }
    const { id, index, notBefore, lane } = call;
    this.outlet.tell({ type: 'call-requeue', lane: lane.key, call: id, index, at: now, notBefore, reason });
    return true;
  }

  private release(call: QueuedCall): void {
    const { lane } = call;
    call.running = false;
    lane.inFlight -= 1;
    for (const node of lane.nodes) node.inFlight -= 1;
    lane.precharged = Math.max(0, lane.precharged - takenAtEnd(call, lane.profile));
  }

  /** `used` undefined: the provider did not say, the reservation stays taken. */
  private settle(call: QueuedCall, used: readonly number[] | undefined, now: number): void {
    for (const node of call.lane.nodes) {
      for (let resource = 0; resource < 4; resource += 1) {
        const reserved = call.reserved[resource] as number;
        node.settle(resource, reserved, used === undefined ? reserved : (used[resource] as number), now);
      }
    }
  }

  private ok(call: QueuedCall, result: Extract<AttemptResult, { type: 'ok' }>, hostTurnMs: number, now: number): false {
    const { lane } = call;
    const output = result.usage?.outputTokens;
    if (output !== undefined) lane.outputs.observe(output);
    this.settle(call, realUse(lane.profile, result.usage), now);
    lane.rejectedInRow = 0;
    lane.failedInRow = 0;
    lane.breakerUntil = 0;
    lane.probing = false;
    const latency = now - call.startedAt;
    this.noteLatency(lane, latency);
    const waitedHere = latency < waitedHereTurns * hostTurnMs;
    lane.pace.succeed(call, lane.ready.size > 0 && !waitedHere, now);
    if (waitedHere) lane.pace.narrow();
    const from = lane.concurrency.dynamic;
    const saturated = lane.ready.size > 0 && (lane.pace.known || lane.inFlight + 1 >= from);
    if (lane.concurrency.succeed(saturated, lane.pace.known)) {
      this.outlet.tell({
        type: 'lane-concurrency',
        lane: lane.key,
        at: now,
        from,
        to: lane.concurrency.dynamic,
        reason: 'recovered',
      });
    }
    return this.done(call, { type: 'ok', usage: result.usage }, now);
  }

  private noteLatency(lane: LaneState, latency: number): void {
    lane.recentLatencyMs += (latency - lane.recentLatencyMs) * (lane.recentLatencyMs === 0 ? 1 : 0.2);
    lane.usualLatencyMs += (latency - lane.usualLatencyMs) * (lane.usualLatencyMs === 0 ? 1 : 0.01);
  }

  private rejected(call: QueuedCall, result: Extract<AttemptResult, { type: 'rate-limited' }>, now: number): void {
    const { lane } = call;
    call.rateLimited += 1;
    lane.rejections += 1;
    lane.rejectedInRow += 1;
    const resource = namedResource(result);
    const remaining = result.hints?.readings.find((reading) => reading.resource === resourceNames[resource])?.remaining;
    if (lane.pace.reject(call, resource, remaining, now)) this.brake(lane, now);
    if (lane.rejectedInRow >= stormAfter) lane.probing = true;
    const until = now + this.waitAfterRejection(lane, result.retryAfterMs);
    if (until - now > this.maxWaitMs) this.park(lane, until, 'the provider asked for a long wait', now);
    else this.block(lane, resource, until, now);
    call.notBefore = until + lane.random.next() * this.spacingMs(lane);
  }

  private brake(lane: LaneState, now: number): void {
    const from = lane.concurrency.dynamic;
    if (!lane.concurrency.halve()) return;
    this.outlet.tell({
      type: 'lane-concurrency',
      lane: lane.key,
      at: now,
      from,
      to: lane.concurrency.dynamic,
      reason: 'rate-limited',
    });
  }

  /** The provider's hint, never shortened; without one, exponential from the lane's own state. A hint of 0 counts once. */
  private waitAfterRejection(lane: LaneState, hint: number | undefined): number {
    if (hint !== undefined && (hint > 0 || lane.rejectedInRow <= 1)) return hint;
    const base = Math.min(firstBackoffMs * 4, Math.max(50, 2 * this.spacingMs(lane)));
    return Math.min(longestBackoffMs, base * 2 ** Math.min(16, Math.max(0, lane.rejectedInRow - 1)));
  }

  private spacingMs(lane: LaneState): number {
    const rate = lane.own.buckets[REQUESTS]?.rate;
    return rate === undefined ? firstBackoffMs / 2 : Math.min(firstBackoffMs, 1 / rate);
  }

  private block(lane: LaneState, resource: number, until: number, now: number): void {
    if (until <= (lane.own.gatedUntil[resource] as number)) return;
    lane.own.gatedUntil[resource] = until;
    this.outlet.tell({
      type: 'lane-block',
      lane: lane.key,
      at: now,
      until,
      resource: resourceNames[resource] ?? 'requests',
    });
  }

  private park(lane: LaneState, until: number, reason: string, now: number): void {
    if (until <= lane.parkedUntil) return;
    lane.parkedUntil = until;
    lane.parkedReason = reason;
    this.outlet.tell({ type: 'lane-park', lane: lane.key, at: now, until, reason });
  }

  /** Full jitter for the call; a breaker for the lane when nothing gets through any more. */
  private failedOnce(call: QueuedCall, now: number): void {
    const { lane } = call;
    call.retries += 1;
    lane.failedInRow += 1;
    const most = Math.min(longestBackoffMs, firstBackoffMs * 2 ** call.retries);
    call.notBefore = now + lane.random.next() * most;
    if (lane.failedInRow < breakerAfter) return;
    const wait = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(16, lane.failedInRow - breakerAfter + 1));
    lane.breakerUntil = Math.max(lane.breakerUntil, now + wait * lane.random.between(0.5, 1));
    lane.probing = true;
  }
}

function namedResource(result: Extract<AttemptResult, { type: 'rate-limited' }>): number {
  if (result.resource !== undefined) return resourceNames.indexOf(result.resource);
  const empty = result.hints?.readings.find((reading) => reading.remaining === 0);
  return empty === undefined ? REQUESTS : resourceNames.indexOf(empty.resource);
}
