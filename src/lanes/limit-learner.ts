/**
 * Learns one limit from header triples (`limit`, `remaining`, time to full).
 *
 * Job: rate, window and kind of a limit. Not its job: what is left of it now (the bucket's), nor how bold to be (the pace's).
 * A reading of whole units pins the rate to an interval: `used - 1 < true use <= used`, over the time to refill it. The
 * intervals of several readings are intersected, so that rounding costs a few readings and not accuracy. An empty
 * intersection means that the limit has changed, or that the window is fixed: then the time at which the window ends
 * stands still while the use grows.
 */
export interface LearnedRate {
  /** Units per millisecond. */
  readonly rate: number;
  /** The most that the readings allow; the more of them, the closer it is to the rate. */
  readonly most: number;
  readonly limit: number;
  readonly windowMs: number;
  /** False while a single odd reading is all there is: not enough to slow a lane down by. */
  readonly sure: boolean;
  /** Set when the provider counts in fixed windows: when the present one ends. */
  readonly fixedWindowEndsAt: number | undefined;
}

const knownWindowsMs = [1_000, 10_000, 60_000, 3_600_000, 86_400_000];
const windowTolerance = 0.04;
/** Readings that agree before a window of unusual length is believed. */
const sureAfter = 4;
/** How far two tellings of the same window's end may lie apart. */
const endTolerance = (leftMs: number): number => 2 + 0.0005 * leftMs;

export class LimitLearner {
  private limit = 0;
  private low = 0;
  private high = Number.POSITIVE_INFINITY;
  private readings = 0;
  private lastEndsAt = Number.NaN;
  private lastUsed = 0;
  /** Readings in a row that only a fixed window explains, and readings in a row that it does not explain. */
  private evidence = 0;
  private doubts = 0;
  private fixed: { endsAt: number; lengthMs: number } | undefined;
  private best: LearnedRate | undefined;

  get learned(): LearnedRate | undefined {
    return this.best;
  }

  /** Takes a reading made at `at` (when the request was sent); returns what is known now, or undefined. */
  observe(
    limit: number,
    remaining: number,
    resetMs: number,
    at: number,
    namedWindowMs?: number,
  ): LearnedRate | undefined {
    if (!(limit > 0) || !(remaining >= 0) || remaining > limit || !(resetMs >= 0) || !Number.isFinite(resetMs)) {
      return this.best;
    }
    if (limit !== this.limit) this.restart(limit);
    const used = limit - remaining;
    if (namedWindowMs !== undefined) return this.settle(limit / namedWindowMs, namedWindowMs);
    if (used <= 0 || resetMs <= 0) return this.best;
    const endsAt = at + resetMs;
    if (this.fixed !== undefined) return this.checkFixed(used, endsAt, at, resetMs);
    if (this.looksFixed(used, endsAt, at)) return this.settleFixed(endsAt, resetMs);
    return this.narrow(used, resetMs);
  }

  private restart(limit: number): void {
    this.limit = limit;
    this.low = 0;
    this.high = Number.POSITIVE_INFINITY;
    this.readings = 0;
    this.fixed = undefined;
    this.evidence = 0;
    this.lastEndsAt = Number.NaN;
  }

  /**
   * More was used and yet the end of the window did not move, though a bucket would have moved it by a lot: only a fixed
   * window does that. Once a bucket has explained several readings, it takes several to the contrary.
   */
  private looksFixed(used: number, endsAt: number, at: number): boolean {
    const tolerance = endTolerance(endsAt - at);
    const still = Math.abs(endsAt - this.lastEndsAt) <= tolerance;
    const wouldMove = Math.abs(used - this.lastUsed) / (this.best?.rate ?? 1);
    const early = this.readings <= sureAfter;
    if (still && (early || used > this.lastUsed) && wouldMove > 5 * tolerance) this.evidence += 1;
    else if (!still) this.evidence = 0;
    this.lastEndsAt = endsAt;
    this.lastUsed = used;
    return this.evidence >= (early ? 1 : 3);
  }

  private settleFixed(endsAt: number, resetMs: number): LearnedRate {
    const atLeast = Math.max(resetMs * 0.999, this.fixed?.lengthMs ?? 0);
    const lengthMs = knownWindowsMs.find((known) => known >= atLeast) ?? resetMs;
    this.fixed = { endsAt, lengthMs };
    this.doubts = 0;
    this.best = {
      rate: this.limit / lengthMs,
      most: this.limit / lengthMs,
      limit: this.limit,
      windowMs: lengthMs,
      sure: true,
      fixedWindowEndsAt: endsAt,
    };
    return this.best;
  }

  /** The end of a fixed window jumps by whole windows; several ends in between mean a bucket after all. */
  private checkFixed(used: number, endsAt: number, at: number, resetMs: number): LearnedRate | undefined {
    const fixed = this.fixed;
    if (fixed === undefined) return this.best;
    const off = Math.abs(endsAt - fixed.endsAt) % fixed.lengthMs;
    if (Math.min(off, fixed.lengthMs - off) <= endTolerance(endsAt - at)) return this.settleFixed(endsAt, resetMs);
    this.doubts += 1;
    if (this.doubts < 4) return this.best;
    this.restart(this.limit);
    return this.narrow(used, resetMs);
  }

  private narrow(used: number, resetMs: number): LearnedRate {
    const low = Math.max(0, used - 1) / (resetMs + 1);
    const high = used / Math.max(resetMs - 1, 0.5);
    const point = used / resetMs;
    if (low > this.high * 1.01 || high < this.low * 0.99) {
      this.low = low;
      this.high = high;
      this.readings = 1;
    } else {
      this.low = Math.max(this.low, low);
      this.high = Math.min(this.high, high);
      this.readings += 1;
    }
    const middle = this.readings === 1 || this.low === 0 ? point : Math.sqrt(this.low * this.high);
    return this.settleNear(middle);
  }

  /**
   * Providers count per second, ten seconds, minute, hour or day: a window close to one of them is that one. Whole uses
   * put the rate at the upper end of its interval, so that end is tried first.
   */
  private settleNear(rate: number): LearnedRate {
    const narrow = this.low > 0 && this.high < this.low * 1.25;
    const near = knownWindowsMs.find(
      (known) =>
        Math.abs(this.limit / this.high / known - 1) <= windowTolerance ||
        (narrow && this.limit / known >= this.low * 0.99 && this.limit / known <= this.high * 1.01),
    );
    if (near === undefined) return this.settle(rate, this.limit / rate, this.readings >= sureAfter, this.high);
    return this.settle(this.limit / near, near, near < 3_600_000 || this.readings >= 2);
  }

  private settle(rate: number, windowMs: number, sure = true, most = rate): LearnedRate {
    this.best = {
      rate,
      most: Math.max(rate, most),
      limit: this.limit,
      windowMs,
      sure: sure || this.best?.sure === true,
      fixedWindowEndsAt: undefined,
    };
    return this.best;
  }
}
