/**
 * Job: keep a run's spend under its cap by reserving the most a call may cost before it is sent, and settling after.
 *
 * Invariants: 1. spent + reserved never exceeds the cap when a call is let go. 2. A call that does not fit now but may fit
 * when others settle waits for them; one that cannot fit any more is refused. 3. Without a cap everything is let go.
 */
import type { UsdMicros } from '../domain/ids.ts';

export class Budget {
  readonly #cap: UsdMicros;
  #spent: UsdMicros;
  #unknown: number;
  #reserved = 0;
  #holders = 0;
  readonly #waiting: (() => void)[] = [];

  /** `spent`: what earlier processes of this run have paid, or may have paid. */
  constructor(cap: UsdMicros | undefined, spent: UsdMicros, unknown = 0) {
    this.#cap = cap ?? Number.POSITIVE_INFINITY;
    this.#spent = spent;
    this.#unknown = unknown;
  }

  get spent(): UsdMicros {
    return this.#spent;
  }

  /** Calls whose price is not known. */
  get unknown(): number {
    return this.#unknown;
  }

  get capped(): boolean {
    return this.#cap !== Number.POSITIVE_INFINITY;
  }

  /** True: reserved. False: the cap leaves no room for it, now or later. */
  async reserve(amount: UsdMicros): Promise<boolean> {
    while (this.#spent + this.#reserved + amount > this.#cap) {
      if (this.#holders === 0 || this.#spent + amount > this.#cap) return false;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#reserved += amount;
    this.#holders++;
    return true;
  }

  /** Gives the reservation back and books what it really was; null: the price is unknown. */
  settle(reserved: UsdMicros, cost: UsdMicros | null): void {
    this.#reserved -= reserved;
    this.#holders--;
    if (cost === null) this.#unknown++;
    else this.#spent += cost;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
