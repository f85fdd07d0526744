/**
 * One paced resource of one node, kept as a single number: the time at which nothing is owed any more.
 *
 * Job: say when a cost may start, charge it, settle it. Not its job: to know why the rate is what it is.
 * With no burst credit the arithmetic is the plain one: `nextAt = max(nextAt, t0) + cost / rate`, start at `nextAt`.
 * With a burst credit of `burst` units a cost may start that much earlier; what is owed never exceeds
 * `max(burst, cost)` at a start, which gives L1: starts in any interval <= max(burst, cost) + rate * dt.
 */
export class Bucket {
  /** Units per millisecond. */
  private ratePerMs: number;
  /** Units that may be owed at once; 0 means strict spacing. */
  burst: number;
  /** A single cost above this can never be accepted. */
  limit: number;
  /** When everything charged so far is paid off. */
  nextAt: number;
  /** Set for a fixed window: nothing is paid off before its end, everything at its end. */
  private window: FixedWindow | undefined;

  constructor(ratePerMs: number, burst: number, limit: number, now: number) {
    this.ratePerMs = ratePerMs;
    this.burst = burst;
    this.limit = limit;
    this.nextAt = now;
  }

  get rate(): number {
    return this.ratePerMs;
  }

  get fixedWindow(): boolean {
    return this.window !== undefined;
  }

  /** Units owed at `now`. */
  owed(now: number): number {
    if (this.window !== undefined) {
      this.turnWindow(now);
      return this.window.used;
    }
    return this.nextAt > now ? (this.nextAt - now) * this.ratePerMs : 0;
  }

  eligibleAt(cost: number, now: number): number {
    if (this.window !== undefined) return this.windowOpensAt(cost, now);
    const room = this.burst > cost ? this.burst : cost;
    const at = this.nextAt - (room - cost) / this.ratePerMs;
    return at > now ? at : now;
  }

  charge(cost: number, now: number): void {
    if (this.window !== undefined) {
      this.turnWindow(now);
      this.window.used += cost;
      return;
    }
    this.nextAt = (this.nextAt > now ? this.nextAt : now) + cost / this.ratePerMs;
  }

  /** Changes what is owed by a signed amount; never below nothing. */
  adjust(units: number, now: number): void {
    if (this.window !== undefined) {
      this.turnWindow(now);
      this.window.used = Math.max(0, this.window.used + units);
      return;
    }
    const base = this.nextAt > now ? this.nextAt : now;
    this.nextAt = Math.max(now, base + units / this.ratePerMs);
  }

  /** A new pace; what is owed stays owed. */
  setRate(ratePerMs: number, now: number): void {
    const owed = this.owed(now);
    this.ratePerMs = ratePerMs;
    if (this.window === undefined) this.nextAt = now + owed / ratePerMs;
  }

  /** Counts in a fixed window from now on. A telling of an earlier window's end changes nothing. */
  setWindow(lengthMs: number, endsAt: number, now: number): void {
    if (this.window !== undefined && endsAt <= this.window.endsAt && lengthMs === this.window.lengthMs) return;
    const used = this.window !== undefined && endsAt - this.window.endsAt > lengthMs / 2 ? 0 : this.owed(now);
    this.window = { lengthMs, endsAt, used };
    this.turnWindow(now);
  }

  /** True when a request sent at `at` was counted in the present window. */
  countsNow(at: number, now: number): boolean {
    if (this.window === undefined) return true;
    const window = this.turnWindow(now);
    return at >= window.endsAt - window.lengthMs;
  }

  clearWindow(now: number): void {
    if (this.window === undefined) return;
    const owed = this.owed(now);
    this.window = undefined;
    this.nextAt = now + owed / this.ratePerMs;
  }

  /** A fixed window is used evenly, with the burst credit ahead of time: all at once would make every case wait for the next. */
  private windowOpensAt(cost: number, now: number): number {
    const window = this.turnWindow(now);
    const wanted = window.used + cost;
    if (window.used === 0) return now;
    if (wanted > this.limit) return window.endsAt;
    const start = window.endsAt - window.lengthMs;
    const at = start + ((wanted - Math.max(this.burst, cost)) * window.lengthMs) / this.limit;
    return at > now ? at : now;
  }

  private turnWindow(now: number): FixedWindow {
    const window = this.window ?? noWindow;
    if (now < window.endsAt) return window;
    const passed = Math.floor((now - window.endsAt) / window.lengthMs) + 1;
    window.endsAt += passed * window.lengthMs;
    window.used = 0;
    return window;
  }
}

interface FixedWindow {
  readonly lengthMs: number;
  endsAt: number;
  used: number;
}

const noWindow: FixedWindow = { lengthMs: 1, endsAt: Number.POSITIVE_INFINITY, used: 0 };
