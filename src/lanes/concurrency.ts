/**
 * How many calls of a lane may be in flight: starts at the configured maximum, halves once per episode of rate limiting
 * down to 1, and grows back on sustained success, only while the lane is really at its limit. While a pace is known this
 * is a brake and not the main control, so it recovers by doubling; otherwise by one.
 */
export class Concurrency {
  configured: number;
  dynamic: number;
  private successes = 0;

  constructor(configured: number) {
    this.configured = configured;
    this.dynamic = configured;
  }

  configure(configured: number): void {
    this.configured = configured;
    this.dynamic = configured;
    this.successes = 0;
  }

  /** Returns whether anything changed. */
  halve(): boolean {
    const before = this.dynamic;
    this.dynamic = Math.max(1, Math.floor(this.dynamic / 2));
    this.successes = 0;
    return this.dynamic !== before;
  }

  succeed(saturated: boolean, paceKnown: boolean): boolean {
    if (!saturated || this.dynamic >= this.configured) return false;
    this.successes += 1;
    if (this.successes < this.dynamic) return false;
    this.successes = 0;
    this.dynamic = Math.min(this.configured, paceKnown ? this.dynamic * 2 : this.dynamic + 1);
    return true;
  }
}
