/**
 * Models of how providers limit: what they admit, what they count, what their headers say. One model, described by data.
 *
 * A request bucket and a token bucket (continuous, quantised to a step, or a fixed window), a concurrency cap, a budget
 * per day, a silent queue, rejections that cost quota, a neighbour on the same key, limits that change on the way, and
 * headers with their quirks. Time is a parameter; the model draws no randomness.
 */
import type { RateHints, RateReading, Resource } from '../domain/reply.ts';

export interface BucketSpec {
  readonly perMinute: number;
  /** Units the bucket holds; at the start it is full. */
  readonly capacity: number;
  /** A fixed window of this length instead of continuous refill; `phaseMs` of the first one are over at time 0. */
  readonly fixedWindowMs?: number;
  readonly phaseMs?: number;
  /** Refill arrives in steps of this length. */
  readonly quantumMs?: number;
}

export interface ServerSpec {
  readonly requests?: BucketSpec;
  readonly tokens?: BucketSpec & {
    /** `real`: input when admitted, output when produced. `reserve`: input + max at admission, the rest given back. */
    readonly rule: 'real' | 'reserve';
  };
  /** Requests above this many at once are rejected. */
  readonly maxConcurrent?: number;
  /** Requests above this many at once wait inside the server: no rejection, only latency. */
  readonly silentQueue?: number;
  readonly perDay?: number;
  readonly headers?: 'consistent' | 'per-minute' | 'rounded' | 'none';
  readonly retryAfter?: boolean;
  readonly rejectionsCost?: boolean;
  /** Somebody else on the same key takes this share of the rate for a while. */
  readonly neighbour?: { readonly fromMs: number; readonly untilMs: number; readonly share: number };
  /** From `atMs` on, rates are multiplied by `factor`. */
  readonly changes?: readonly { readonly atMs: number; readonly factor: number }[];
}

export interface SimRequest {
  readonly input: number;
  readonly output: number;
  readonly maxOutput: number;
}

export type Admission =
  | { readonly accepted: true; readonly hints: RateHints; readonly extraLatencyMs: number }
  | {
      readonly accepted: false;
      readonly hints: RateHints;
      readonly resource: Resource;
      readonly retryAfterMs: number | undefined;
    };

const dayMs = 86_400_000;

/** One bucket of a server, with everything that can happen to its rate. */
class ServerBucket {
  level: number;
  private at = 0;
  private window = -1;
  /** Nothing ever happens to the rate. */
  private readonly steady: boolean;
  private readonly spec: BucketSpec;
  private readonly server: ServerSpec;

  constructor(spec: BucketSpec, server: ServerSpec) {
    this.spec = spec;
    this.server = server;
    this.level = spec.capacity;
    this.steady = server.neighbour === undefined && server.changes === undefined;
  }

  refill(now: number): void {
    if (this.spec.fixedWindowMs !== undefined) {
      const window = Math.floor((now + (this.spec.phaseMs ?? 0)) / this.spec.fixedWindowMs);
      if (window !== this.window) this.level = this.spec.capacity;
      this.window = window;
      return;
    }
    const quantum = this.spec.quantumMs;
    const upTo = quantum === undefined ? now : Math.floor(now / quantum) * quantum;
    if (upTo <= this.at) return;
    this.level = Math.min(this.spec.capacity, this.level + this.grown(this.at, upTo));
    this.at = upTo;
  }

  /** Units refilled between two times, less what the neighbour took. */
  private grown(from: number, to: number): number {
    if (this.steady) return (to - from) * (this.spec.perMinute / 60_000);
    let units = 0;
    let at = from;
    const edges = [
      this.server.neighbour?.fromMs,
      this.server.neighbour?.untilMs,
      ...(this.server.changes ?? []).map((change) => change.atMs),
      to,
    ];
    for (const edge of edges
      .filter((each): each is number => each !== undefined && each > from && each <= to)
      .sort((a, b) => a - b)) {
      units += (edge - at) * this.rateAt(at);
      at = edge;
    }
    return units;
  }

  rateAt(now: number): number {
    let rate = this.spec.perMinute / 60_000;
    for (const change of this.server.changes ?? []) if (now >= change.atMs) rate *= change.factor;
    const { neighbour } = this.server;
    if (neighbour !== undefined && now >= neighbour.fromMs && now < neighbour.untilMs) rate *= 1 - neighbour.share;
    return rate;
  }

  /** Time until `units` are there, as an honest server would tell. */
  waitFor(units: number, now: number): number {
    if (this.spec.fixedWindowMs !== undefined) return this.windowLeft(now);
    const wait = Math.max(0, units - this.level) / this.rateAt(now);
    const { quantumMs } = this.spec;
    return quantumMs === undefined ? wait : Math.ceil((now + wait) / quantumMs) * quantumMs - now;
  }

  reading(resource: Resource, now: number): RateReading {
    const remaining = Math.max(0, Math.floor(this.level));
    const style = this.server.headers;
    const resetMs =
      this.spec.fixedWindowMs === undefined
        ? (this.spec.capacity - this.level) / (this.spec.perMinute / 60_000)
        : this.windowLeft(now);
    if (style === 'per-minute') {
      const limit = this.spec.perMinute;
      return {
        resource,
        limit,
        remaining: Math.max(0, Math.floor(limit - (this.spec.capacity - this.level))),
        resetMs,
      };
    }
    if (style === 'rounded')
      return { resource, limit: this.spec.capacity, remaining, resetMs: Math.ceil(resetMs / 1000) * 1000 };
    return { resource, limit: this.spec.capacity, remaining, resetMs };
  }

  private windowLeft(now: number): number {
    const length = this.spec.fixedWindowMs ?? 60_000;
    return length - ((now + (this.spec.phaseMs ?? 0)) % length);
  }
}

export class ServerModel {
  readonly spec: ServerSpec;
  private readonly requests: ServerBucket | undefined;
  private readonly tokens: ServerBucket | undefined;
  private busy = 0;
  private today = 0;
  private day = 0;
  /** Times at which the silent queue's places come free. */
  private readonly places: number[] = [];

  constructor(spec: ServerSpec) {
    this.spec = spec;
    this.requests = spec.requests === undefined ? undefined : new ServerBucket(spec.requests, spec);
    this.tokens = spec.tokens === undefined ? undefined : new ServerBucket(spec.tokens, spec);
  }

  arrive(request: SimRequest, latencyMs: number, now: number): Admission {
    this.requests?.refill(now);
    this.tokens?.refill(now);
    const refused = this.refuse(request, now);
    if (refused !== undefined) {
      if (this.spec.rejectionsCost && this.requests !== undefined)
        this.requests.level = Math.max(0, this.requests.level - 1);
      const retryAfterMs = this.spec.retryAfter === false ? undefined : Math.ceil(refused.waitMs);
      return { accepted: false, hints: this.hints(now), resource: refused.resource, retryAfterMs };
    }
    this.busy += 1;
    this.today += 1;
    if (this.requests !== undefined) this.requests.level -= 1;
    if (this.tokens !== undefined) this.tokens.level -= this.atAdmission(request);
    return { accepted: true, hints: this.hints(now), extraLatencyMs: this.queueFor(latencyMs, now) };
  }

  /** The answer is complete: what was produced is counted, or what was not is given back. */
  complete(request: SimRequest, now: number): void {
    this.busy -= 1;
    if (this.tokens === undefined) return;
    this.tokens.refill(now);
    const rest = this.spec.tokens?.rule === 'reserve' ? request.maxOutput - request.output : -request.output;
    this.tokens.level = Math.min(this.spec.tokens?.capacity ?? 0, this.tokens.level + rest);
  }

  private atAdmission(request: SimRequest): number {
    return this.spec.tokens?.rule === 'reserve' ? request.input + request.maxOutput : request.input;
  }

  private refuse(request: SimRequest, now: number): { resource: Resource; waitMs: number } | undefined {
    const { maxConcurrent, perDay } = this.spec;
    if (maxConcurrent !== undefined && this.busy >= maxConcurrent) return { resource: 'requests', waitMs: 1000 };
    if (Math.floor(now / dayMs) !== this.day) this.today = 0;
    this.day = Math.floor(now / dayMs);
    if (perDay !== undefined && this.today >= perDay) return { resource: 'requests', waitMs: dayMs - (now % dayMs) };
    // A hair of tolerance: refilled in floating-point steps, a full unit may read 0.9999999.
    if (this.requests !== undefined && this.requests.level < 1 - 1e-6)
      return { resource: 'requests', waitMs: this.requests.waitFor(1, now) };
    if (this.tokens === undefined) return undefined;
    const need = this.atAdmission(request);
    return this.tokens.level < need - 1e-6 ? { resource: 'tokens', waitMs: this.tokens.waitFor(need, now) } : undefined;
  }

  private hints(now: number): RateHints {
    if (this.spec.headers === 'none' || this.spec.headers === undefined) return { readings: [] };
    const readings: RateReading[] = [];
    if (this.requests !== undefined) readings.push(this.requests.reading('requests', now));
    if (this.tokens !== undefined) readings.push(this.tokens.reading('tokens', now));
    return { readings };
  }

  private queueFor(latencyMs: number, now: number): number {
    const { silentQueue } = this.spec;
    if (silentQueue === undefined) return 0;
    if (this.places.length < silentQueue) {
      this.places.push(now + latencyMs);
      return 0;
    }
    let first = 0;
    for (let at = 1; at < this.places.length; at += 1)
      if ((this.places[at] as number) < (this.places[first] as number)) first = at;
    const starts = Math.max(now, this.places[first] as number);
    this.places[first] = starts + latencyMs;
    return starts - now;
  }
}
