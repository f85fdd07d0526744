import type { EpochMillis, Millis } from '../domain/ids.ts';

export interface BucketSpec {
  /** How much flows in per window. */
  readonly perWindow: number;
  readonly windowMs: Millis;
  /** What it holds at most, and at the start; one window's worth unless said otherwise. */
  readonly capacity?: number;
  /** Flows in at once at the end of each window, counted from the first use, instead of continuously. */
  readonly fixedWindow?: boolean;
}

/** A token bucket as a provider keeps it: continuous, or refilled window by window. */
export class Bucket {
  readonly capacity: number;
  readonly #spec: BucketSpec;
  #level: number;
  #at: EpochMillis | undefined;

  constructor(spec: BucketSpec) {
    this.#spec = spec;
    this.capacity = spec.capacity ?? spec.perWindow;
    this.#level = this.capacity;
  }

  level(now: EpochMillis): number {
    const { perWindow, windowMs, fixedWindow } = this.#spec;
    const since = this.#at ?? now;
    const windows = fixedWindow ? Math.floor((now - since) / windowMs) : Math.max(0, now - since) / windowMs;
    this.#level = Math.min(this.capacity, this.#level + windows * perWindow);
    this.#at = fixedWindow ? since + windows * windowMs : Math.max(now, since);
    return this.#level;
  }

  /** Takes whatever is asked for, also below zero: check `wait` first. */
  take(amount: number, now: EpochMillis): void {
    this.level(now);
    this.#level -= amount;
  }

  /** How long until `amount` is there; infinite when it can never be. */
  wait(amount: number, now: EpochMillis): Millis {
    const missing = amount - this.level(now);
    // Rounding must not reject what a client that computes the same refill may rightly send.
    if (missing <= 1e-6) return 0;
    if (amount > this.capacity) return Number.POSITIVE_INFINITY;
    return this.#timeFor(missing, now);
  }

  untilFull(now: EpochMillis): Millis {
    const missing = this.capacity - this.level(now);
    return missing <= 0 ? 0 : this.#timeFor(missing, now);
  }

  #timeFor(missing: number, now: EpochMillis): Millis {
    const { perWindow, windowMs, fixedWindow } = this.#spec;
    if (!fixedWindow) return (missing / perWindow) * windowMs;
    return Math.ceil(missing / perWindow) * windowMs - (now - (this.#at ?? now));
  }
}
