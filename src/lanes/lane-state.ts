import { hashText } from '../domain/hash-text.ts';
import type { LaneKey, Millis } from '../domain/ids.ts';
import type { LaneLimits, LaneNode, LearnedLimit } from '../domain/lane.ts';
import type { AccountingProfile } from '../domain/provider.ts';
import { SeededRandom } from '../domain/seeded-random.ts';
import { Concurrency } from './concurrency.ts';
import { Heap } from './heap.ts';
import type { LaneGroup } from './lane-group.ts';
import type { LimitNode } from './limit-node.ts';
import { goesFirst } from './order.ts';
import { OutputEstimate } from './output-estimate.ts';
import { Pace } from './pace.ts';
import type { QueuedCall } from './queued-call.ts';
import { plainProfile } from './reservation.ts';

/** What a lane is opened with. */
export interface LaneSpec {
  readonly key: LaneKey;
  /** Declared limits of the lane itself; everything absent is learned. */
  readonly limits?: LaneLimits;
  /** Limits shared with other lanes, outermost first. */
  readonly shared?: readonly LaneNode[];
  /** Most calls in flight when nothing else is configured. */
  readonly ceiling?: number;
  readonly accounting?: AccountingProfile;
  /** What an earlier run learned about this lane. */
  readonly learned?: readonly LearnedLimit[];
  /** Weight among lanes that contend for a shared node. */
  readonly weight?: number;
}

const defaultCeiling = 512;
const defaultRetries = 3;
const defaultRateLimited = 8;

/** One lane: its queue, what is in flight, and everything that decides when its next call may start. */
export class LaneState {
  readonly key: LaneKey;
  /** Every node a call of this lane pays at; the lane's own node is the last. */
  readonly nodes: readonly LimitNode[];
  readonly own: LimitNode;
  readonly profile: AccountingProfile;
  readonly concurrency: Concurrency;
  readonly pace: Pace;
  readonly outputs = new OutputEstimate();
  /** Draws of this lane only: another lane's trouble never changes them (L4). */
  readonly random: SeededRandom;
  /** Calls that may start as soon as the lane may. */
  readonly ready = new Heap<QueuedCall>(goesFirst);
  /** Calls that wait for a time of their own. */
  readonly delayed = new Heap<QueuedCall>(
    (a, b) => a.notBefore < b.notBefore || (a.notBefore === b.notBefore && a.id < b.id),
  );
  readonly weight: number;
  readonly maxRetries: number;
  readonly maxRateLimited: number;
  group: LaneGroup;
  minGapMs: Millis;
  lastStartAt = Number.NEGATIVE_INFINITY;
  inFlight = 0;
  started = 0;
  ended = 0;
  rejections = 0;
  /** Rejections since the last accepted call. */
  rejectedInRow = 0;
  /** Transient failures since the last accepted call. */
  failedInRow = 0;
  /** No start before this time after repeated transient failures. */
  breakerUntil = 0;
  /** One call at a time until one is accepted. */
  probing = false;
  paused = false;
  parkedUntil = 0;
  parkedReason = '';
  closedReason: string | undefined;
  /** When the lane's one timer fires; Infinity when none is set. */
  timerAt = Number.POSITIVE_INFINITY;
  /** Service received, for fairness among lanes under one node. */
  served = 0;
  /** Output tokens that in-flight calls have reserved but the provider has not counted yet. */
  precharged = 0;
  /** Calls put aside by the serial gate. */
  aside = 0;
  /** Smoothed latency of accepted calls, recent and long-run: tells slow answers. */
  recentLatencyMs = 0;
  usualLatencyMs = 0;

  constructor(
    spec: LaneSpec,
    shared: readonly LimitNode[],
    own: LimitNode,
    group: LaneGroup,
    seed: number,
    now: number,
  ) {
    this.key = spec.key;
    this.own = own;
    this.nodes = [...shared, own];
    this.group = group;
    this.profile = spec.accounting ?? plainProfile;
    this.concurrency = new Concurrency(spec.limits?.maxConcurrent ?? spec.ceiling ?? defaultCeiling);
    this.pace = new Pace(own, now, spec.learned);
    this.random = new SeededRandom(seed ^ hashText(spec.key));
    this.weight = spec.weight ?? 1;
    this.maxRetries = spec.limits?.maxRetries ?? defaultRetries;
    this.maxRateLimited = spec.limits?.maxRateLimited ?? defaultRateLimited;
    this.minGapMs = spec.limits?.minGapMs ?? 0;
  }

  get queued(): number {
    return this.ready.size + this.delayed.size;
  }
}
