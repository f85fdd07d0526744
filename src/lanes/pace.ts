/**
 * How fast a lane goes: probes first, then the limits its provider tells in headers, else slow start and a rate of its own.
 *
 * Job: keep the buckets of the lane's own node in step with what the provider shows. Not its job: gates, retries, order.
 * Modes: `declared` (the config says it), `probing` (a few calls until the first response head), `mirror` (headers
 * tell the limits), `slow-start` (no headers: window doubled per round trip until the first rejection), `rate` (no
 * headers: AIMD on the rate). One cut per episode: a rejection of a call sent before the last cut says nothing new.
 */
import type { LearnedLimit } from '../domain/lane.ts';
import type { RateHints, RateReading } from '../domain/reply.ts';
import { Bucket } from './bucket.ts';
import { type LearnedRate, LimitLearner } from './limit-learner.ts';
import type { LimitNode } from './limit-node.ts';
import { INPUT, OUTPUT, type QueuedCall, REQUESTS, resourceNames, TOKENS } from './queued-call.ts';
import { RecentlyAccepted } from './recently-accepted.ts';

const probes = 3;
const slowStartWindow = 4;
/** However short the round trips, a window takes this long to double: whether more brings more must show first. */
const fastestDoublingMs = 50;
/** A window never narrows below this: so many places cost little, and answers that come together are kept together. */
const narrowestWindow = 32;
/** A window this long is a budget, not a pace: all of it may be used at once. */
const budgetWindowsMs = [3_600_000, 86_400_000];
/** Burst credit before a burst has been seen accepted. */
const firstBurstMs = 1_500;
/** Share of a bucket that is used; the rest covers rounding and what has not been counted yet. */
const usableShare = 0.92;
/** Requests are told exactly: of a large bucket of them no more than this is left unused. */
const mostRequestsKept = 2;
const episodeCut = 0.8;
/** Share of a fixed window that may be used ahead of time. */
const windowBurstShare = 0.15;
const factorFloor = 0.05;
const factorGrowthPerMs = 0.01 / 1000;
const fastestGrowthPerMs = 0.005 / 1000;
const slowestGrowthPerMs = 0.0015 / 1000;

const isBudget = (windowMs: number): boolean => budgetWindowsMs.includes(windowMs);

export type PaceMode = 'declared' | 'probing' | 'mirror' | 'slow-start' | 'rate';

export class Pace {
  mode: PaceMode;
  /** Most calls in flight while the limits are unknown. */
  window: number;
  /** Share of the learned rate that is used; others on the same key take the rest. */
  factor = 1;
  private factorAt: number;
  private readonly node: LimitNode;
  private readonly learners: (LimitLearner | undefined)[] = [undefined, undefined, undefined, undefined];
  /** Burst credit may grow up to here, per resource. */
  private readonly burstCeiling: number[] = [Infinity, Infinity, Infinity, Infinity];
  /** Units added to what is owed because headers said so, in all, per resource. */
  readonly corrected: number[] = [0, 0, 0, 0];
  /** Send order of the newest reading applied, per resource. */
  private readonly newest: number[] = [-1, -1, -1, -1];
  /** Units the provider has accepted, per resource: grows at a start, falls back at a rejection. */
  readonly accepted: number[] = [0, 0, 0, 0];
  private lastCutAt = -Infinity;
  private readonly recent = new RecentlyAccepted();
  private measured: number | undefined;
  private growthPerMs = fastestGrowthPerMs;
  private grownAt = 0;
  private doublingFrom = slowStartWindow;
  private doublingSince = -Infinity;

  constructor(node: LimitNode, now: number, learned: readonly LearnedLimit[] = []) {
    this.node = node;
    this.factorAt = now;
    const declared = node.declared.some((rate) => rate !== undefined);
    this.mode = declared ? 'declared' : 'probing';
    this.window = declared ? Infinity : probes;
    if (!declared && learned.length > 0) this.recall(learned, now);
  }

  /** True once starts are spaced by a pace and not by what is in flight. */
  get known(): boolean {
    return this.mode === 'declared' || this.mode === 'mirror' || this.mode === 'rate';
  }

  /** Limits of an earlier run are believed at four fifths until a header confirms them. */
  private recall(learned: readonly LearnedLimit[], now: number): void {
    for (const limit of learned) {
      const resource = resourceNames.indexOf(limit.resource);
      const rate = (limit.ratePerMinute / 60_000) * 0.8;
      if (resource < 0 || !(rate > 0)) continue;
      const burst = isBudget(limit.windowMs) ? limit.capacity : Math.min(limit.capacity, rate * firstBurstMs);
      this.node.buckets[resource] = new Bucket(rate, burst, limit.capacity, now);
      this.mode = 'mirror';
      this.window = Infinity;
    }
  }

  /** Called right after a start was charged; `precharged` output tokens the provider has not counted yet. */
  note(call: QueuedCall, now: number, precharged: number): void {
    const { accepted } = this;
    const { reserved } = call;
    for (let resource = 0; resource < 4; resource += 1) {
      accepted[resource] = (accepted[resource] as number) + (reserved[resource] as number);
    }
    call.baseline = [
      this.baseline(REQUESTS, 0, now),
      this.baseline(TOKENS, precharged, now),
      this.baseline(INPUT, 0, now),
      this.baseline(OUTPUT, precharged, now),
    ];
    // Needed where a bucket may still be made from the first reading, and now and then for the rate.
    const { buckets } = this.node;
    const complete = buckets[REQUESTS] !== undefined && buckets[TOKENS] !== undefined;
    if (complete && !this.recent.wants(now)) return;
    call.acceptedAtStart = accepted.slice();
    this.recent.note(now, call.acceptedAtStart);
  }

  /** What is owed right after a start, as the provider would see it, less the corrections made so far. */
  private baseline(resource: number, precharged: number, now: number): number {
    const bucket = this.node.buckets[resource];
    const owed = bucket === undefined ? 0 : Math.max(0, bucket.owed(now) - precharged);
    return owed - (this.corrected[resource] as number);
  }

  /** A response head: success or not, it tells what is left. Returns the resources whose limit became known or changed. */
  hear(call: QueuedCall, hints: RateHints | undefined, now: number): number[] {
    const news: number[] = [];
    for (const reading of hints?.readings ?? []) {
      const resource = resourceNames.indexOf(reading.resource);
      if (resource < 0 || reading.limit === undefined || reading.remaining === undefined) continue;
      this.learners[resource] ??= new LimitLearner();
      const learner = this.learners[resource];
      const before = learner.learned;
      const learned = learner.observe(
        reading.limit,
        reading.remaining,
        reading.resetMs ?? -1,
        call.startedAt,
        reading.windowMs,
      );
      if (learned === undefined || !learned.sure) {
        this.heedEmpty(resource, reading, now);
        continue;
      }
      if (before === undefined || Math.abs(before.rate / learned.rate - 1) > 0.02) news.push(resource);
      this.apply(resource, learned, reading.limit - reading.remaining, call, now);
    }
    if (this.mode === 'probing') this.leaveProbing();
    else if (this.mode === 'slow-start' && news.length > 0) this.enter('mirror');
    return news;
  }

  /** Nothing is left and the limit is not understood yet: wait for about one unit instead of running into a rejection. */
  private heedEmpty(resource: number, reading: RateReading, now: number): void {
    if (reading.remaining !== 0 || reading.resetMs === undefined || !(reading.resetMs > 0)) return;
    const until = now + reading.resetMs / Math.max(1, reading.limit ?? 1);
    this.node.gatedUntil[resource] = Math.max(this.node.gatedUntil[resource] ?? 0, until);
  }

  /** Headers that are not understood yet ask for more probes; no headers at all for a slow start. */
  private leaveProbing(): void {
    if (this.learners.some((learner) => learner?.learned?.sure === false)) return;
    if (this.node.buckets.some((bucket) => bucket !== undefined)) this.enter('mirror');
    else {
      this.mode = 'slow-start';
      this.window = slowStartWindow;
    }
  }

  private enter(mode: PaceMode): void {
    this.mode = mode;
    this.window = Infinity;
  }

  private apply(resource: number, learned: LearnedRate, used: number, call: QueuedCall, now: number): void {
    const declared = this.node.declared[resource];
    const rate = Math.min(learned.rate * this.factor, declared ?? Infinity);
    let bucket = this.node.buckets[resource];
    if (bucket === undefined) {
      bucket = new Bucket(rate, 0, learned.limit, now);
      this.node.buckets[resource] = bucket;
      bucket.burst = this.firstBurst(resource, learned);
      const after = (this.accepted[resource] ?? 0) - (call.acceptedAtStart[resource] ?? 0);
      bucket.charge(Math.max(0, used + after - learned.rate * (now - call.startedAt)), now);
      this.newest[resource] = call.startSeq;
      this.mindWindow(bucket, learned, now);
      return;
    }
    if (bucket.rate !== rate) bucket.setRate(rate, now);
    if (declared === undefined) {
      bucket.limit = learned.limit;
      if (isBudget(learned.windowMs)) bucket.burst = learned.limit;
      this.mindWindow(bucket, learned, now);
    }
    if (call.startSeq <= (this.newest[resource] ?? -1) || !bucket.countsNow(call.startedAt, now)) return;
    this.newest[resource] = call.startSeq;
    const told = used - (call.baseline[resource] ?? 0) - (this.corrected[resource] ?? 0);
    // Headers may slow a declared lane down, for others on the same key; they never make it faster than declared.
    const drift = declared === undefined ? told : Math.max(0, told);
    this.corrected[resource] = (this.corrected[resource] ?? 0) + drift;
    bucket.adjust(drift, now);
  }

  private mindWindow(bucket: Bucket, learned: LearnedRate, now: number): void {
    if (learned.fixedWindowEndsAt === undefined) bucket.clearWindow(now);
    else {
      bucket.setWindow(learned.windowMs, learned.fixedWindowEndsAt, now);
      bucket.burst = learned.limit * windowBurstShare;
    }
  }

  private firstBurst(resource: number, learned: LearnedRate): number {
    if (isBudget(learned.windowMs)) return learned.limit;
    // The probes went out together and were accepted: that is a burst seen, and it may double.
    const seen = resource === REQUESTS ? 2 * probes : 1;
    return Math.min(this.burstMost(resource, learned.limit), Math.max(seen, learned.rate * firstBurstMs));
  }

  private burstMost(resource: number, limit: number): number {
    const rest = limit * (1 - usableShare);
    const kept = resource === REQUESTS ? Math.min(rest, mostRequestsKept) : rest;
    return Math.min(Math.max(1, limit - kept), this.burstCeiling[resource] ?? Infinity);
  }

  /** An accepted call: burst credit doubles per round trip, the window too, the rate and the factor grow slowly. */
  succeed(call: QueuedCall, saturated: boolean, now: number): void {
    this.factor = Math.min(1, this.factor + factorGrowthPerMs * (now - this.factorAt));
    this.factorAt = now;
    if (this.mode === 'slow-start' && saturated) this.widen(now);
    else if (this.mode === 'mirror') this.growBursts(call);
    else if (this.mode === 'rate') this.growRate(saturated, now);
  }

  private widen(now: number): void {
    if (now - this.doublingSince >= fastestDoublingMs) {
      this.doublingFrom = this.window;
      this.doublingSince = now;
    }
    if (this.window < 2 * this.doublingFrom) this.window += 1;
  }

  /** An answer waited for our own process: a place too many is open. */
  narrow(): void {
    if (this.mode === 'slow-start' && this.window > narrowestWindow) this.window -= 1;
  }

  private growBursts(call: QueuedCall): void {
    for (let resource = 0; resource <= OUTPUT; resource += 1) {
      const bucket = this.node.buckets[resource];
      if (bucket === undefined || this.node.declared[resource] !== undefined || bucket.fixedWindow) continue;
      const most = this.burstMost(resource, bucket.limit);
      if (bucket.burst >= most || (call.baseline[resource] ?? 0) + (this.corrected[resource] ?? 0) < bucket.burst / 2)
        continue;
      bucket.burst = Math.min(most, bucket.burst + (call.reserved[resource] ?? 0));
    }
  }

  private growRate(saturated: boolean, now: number): void {
    const elapsed = now - this.grownAt;
    this.grownAt = now;
    if (!saturated) return;
    for (const bucket of this.node.buckets) bucket?.setRate(bucket.rate * (1 + this.growthPerMs * elapsed), now);
  }

  /** A rejection. Returns true when it opens a new episode: only then anything is cut. */
  reject(call: QueuedCall, resource: number, remaining: number | undefined, now: number): boolean {
    for (let each = 0; each < 4; each += 1) {
      this.accepted[each] = (this.accepted[each] ?? 0) - (call.reserved[each] ?? 0);
    }
    if (call.startedAt < this.lastCutAt) return false;
    this.lastCutAt = now;
    const headers = this.learners[resource]?.learned;
    if (headers !== undefined) this.cutFactor(resource, remaining, headers, now);
    else if (this.mode !== 'declared') this.cutRate(call, resource, now);
    return true;
  }

  private cutFactor(resource: number, remaining: number | undefined, learned: LearnedRate, now: number): void {
    this.factor = Math.max(factorFloor, this.factor * episodeCut);
    const bucket = this.node.buckets[resource];
    if (bucket === undefined || this.node.declared[resource] !== undefined) return;
    bucket.setRate(learned.rate * this.factor, now);
    if (
      remaining !== undefined &&
      remaining > learned.limit * (1 - usableShare) &&
      remaining >= 1 &&
      !isBudget(learned.windowMs)
    ) {
      this.burstCeiling[resource] = Math.max(1, learned.rate * 1000);
      bucket.burst = Math.min(bucket.burst, this.burstCeiling[resource] ?? 1);
    }
  }

  /**
   * At a rejection the provider's bucket is empty: what it accepted since the last one, or lately, is its rate. The
   * first rejection ends a slow start, so only the last seconds count, and the bucket they emptied is allowed for.
   */
  private cutRate(call: QueuedCall, resource: number, now: number): void {
    const bucket = this.node.buckets[resource];
    const first = bucket === undefined;
    const measured = this.recent.rate(resource, call.startedAt, first ? 5_000 : 15_000);
    const rate = measured === undefined ? (bucket?.rate ?? 0.001) * episodeCut : measured * (first ? 0.85 : 0.97);
    if (measured !== undefined && this.measured !== undefined && Math.abs(measured / this.measured - 1) < 0.05) {
      this.growthPerMs = Math.max(slowestGrowthPerMs, this.growthPerMs * 0.8);
    } else this.growthPerMs = fastestGrowthPerMs;
    this.measured = measured;
    const paced = Math.max(resource === REQUESTS ? 1 / 60_000 : 1 / 1000, rate);
    if (first) this.node.buckets[resource] = new Bucket(paced, 1, Number.POSITIVE_INFINITY, now);
    else bucket.setRate(Math.min(paced, bucket.rate * 0.97), now);
    this.grownAt = now;
    this.enter('rate');
  }

  /** The user declared new limits: from now on they hold. */
  retuned(): void {
    if (this.node.declared.some((rate) => rate !== undefined)) this.enter('declared');
  }

  /** What a later run may start from. */
  remember(): LearnedLimit[] {
    return this.learners.flatMap((learner, resource) => {
      const learned = learner?.learned;
      const name = resourceNames[resource];
      if (learned === undefined || name === undefined) return [];
      const { rate, most, limit, windowMs } = learned;
      const room = most > rate ? { mostPerMinute: most * 60_000 } : {};
      return [{ resource: name, ratePerMinute: rate * 60_000, ...room, capacity: limit, windowMs }];
    });
  }
}
