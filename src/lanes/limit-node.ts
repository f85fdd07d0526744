import type { LaneNode } from '../domain/lane.ts';
import { Bucket } from './bucket.ts';
import { INPUT, OUTPUT, REQUESTS, TOKENS } from './queued-call.ts';

const minute = 60_000;

/**
 * A limit that one or several lanes stand under: buckets and gates per resource, and a concurrency limit. A call pays at
 * every node on its path, all or nothing, in one synchronous step; it never holds one node while it waits for another.
 */
export class LimitNode {
  readonly key: string;
  /** Per resource; undefined while nothing is known. */
  readonly buckets: (Bucket | undefined)[] = [undefined, undefined, undefined, undefined];
  /** Declared units per millisecond, per resource; a learned rate never exceeds it. */
  readonly declared: (number | undefined)[] = [undefined, undefined, undefined, undefined];
  /** No start on a resource before this time (L5). */
  readonly gatedUntil: number[] = [0, 0, 0, 0];
  maxConcurrent: number;
  inFlight = 0;
  /** Books for L2: reserved = settled + refunded + held, per resource. */
  readonly reserved: number[] = [0, 0, 0, 0];
  readonly settled: number[] = [0, 0, 0, 0];
  readonly refunded: number[] = [0, 0, 0, 0];
  readonly held: number[] = [0, 0, 0, 0];

  constructor(spec: LaneNode, now: number) {
    this.key = spec.key;
    this.maxConcurrent = spec.limits?.maxConcurrent ?? Number.POSITIVE_INFINITY;
    this.declare(spec.limits ?? {}, now);
  }

  /** Declared limits pace strictly, with no burst credit; one minute's worth is the most a single call may weigh. */
  declare(limits: NonNullable<LaneNode['limits']>, now: number): void {
    if (limits.maxConcurrent !== undefined) this.maxConcurrent = limits.maxConcurrent;
    const perMinute = [limits.rpm, limits.tpm, limits.inputTpm, limits.outputTpm];
    for (const resource of [REQUESTS, TOKENS, INPUT, OUTPUT]) {
      const units = perMinute[resource];
      if (units === undefined) continue;
      const rate = units / minute;
      this.declared[resource] = rate;
      const bucket = this.buckets[resource];
      if (bucket === undefined) this.buckets[resource] = new Bucket(rate, 0, Math.max(1, units), now);
      else {
        bucket.setRate(rate, now);
        bucket.burst = 0;
        bucket.limit = Math.max(1, units);
      }
    }
  }

  reserve(resource: number, units: number, now: number): void {
    if (units === 0) return;
    this.buckets[resource]?.charge(units, now);
    this.reserved[resource] = (this.reserved[resource] ?? 0) + units;
    this.held[resource] = (this.held[resource] ?? 0) + units;
  }

  /** Replaces a reservation by what was really used. */
  settle(resource: number, reservedUnits: number, usedUnits: number, now: number): void {
    if (reservedUnits === 0 && usedUnits === 0) return;
    if (usedUnits !== reservedUnits) this.buckets[resource]?.adjust(usedUnits - reservedUnits, now);
    this.held[resource] = (this.held[resource] ?? 0) - reservedUnits;
    this.settled[resource] = (this.settled[resource] ?? 0) + usedUnits;
    this.refunded[resource] = (this.refunded[resource] ?? 0) + (reservedUnits - usedUnits);
  }
}
