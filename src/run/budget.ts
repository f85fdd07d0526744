/**
 * Job: keep a run's spend under its cap by reserving the most a request may cost before it is sent, and settling after.
 * Not its job: to say when a run is stuck (the run knows what else may still happen); what is told as spent.
 *
 * Invariants: 1. What was spent and what is reserved together never exceed the cap. 2. A request that does not fit waits;
 * whatever settles lets those go that fit then, the longest waiting first. 3. Only `close` refuses. 4. Without a cap
 * everything is let go.
 */
import type { UsdMicros } from '../domain/ids.ts';
import type { BudgetNeed } from '../domain/run-event.ts';

interface Waiting {
  readonly amount: UsdMicros;
  readonly answer: (granted: boolean) => void;
}

export class Budget {
  readonly #cap: UsdMicros;
  #committed: UsdMicros;
  #reserved = 0;
  #holders = 0;
  #granted = 0;
  #closed = false;
  #waiting: Waiting[] = [];
  /** Told when a request has to wait, and when a reservation was given back. */
  onChange: () => void = () => {};

  /** `committed`: what earlier processes of this run have paid, or may have paid. */
  constructor(cap: UsdMicros | undefined, committed: UsdMicros) {
    this.#cap = cap ?? Number.POSITIVE_INFINITY;
    this.#committed = committed;
  }

  get capped(): boolean {
    return this.#cap !== Number.POSITIVE_INFINITY;
  }

  /** Requests that were let go so far. */
  get granted(): number {
    return this.#granted;
  }

  /** Some wait, and nothing is on its way that could give back what they need. */
  get dry(): boolean {
    return this.#waiting.length > 0 && this.#holders === 0;
  }

  /** What the cheapest of those that wait would need; undefined when none waits. */
  get need(): BudgetNeed | undefined {
    if (this.#waiting.length === 0) return undefined;
    const next = Math.min(...this.#waiting.map(({ amount }) => amount));
    return {
      capUsdMicros: this.#cap,
      leftUsdMicros: Math.max(0, this.#cap - this.#committed),
      nextUsdMicros: next,
      enoughUsdMicros: this.#committed + next,
    };
  }

  /** True: reserved. False: the budget was closed before there was room. */
  reserve(amount: UsdMicros): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (this.#fits(amount)) {
      this.#take(amount);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      this.#waiting.push({ amount, answer: resolve });
      this.onChange();
    });
  }

  /** Gives the reservation back and books what it was, or may have been. */
  settle(reserved: UsdMicros, booked: UsdMicros): void {
    this.#holders--;
    this.#reserved = this.#holders === 0 ? 0 : this.#reserved - reserved;
    this.#committed += booked;
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ amount, answer }) => {
      if (!this.#fits(amount)) return true;
      this.#take(amount);
      answer(true);
      return false;
    });
    this.onChange();
  }

  /** Refuses those that wait, and whatever comes. */
  close(): void {
    this.#closed = true;
    for (const { answer } of this.#waiting.splice(0)) answer(false);
  }

  #fits(amount: UsdMicros): boolean {
    return this.#committed + this.#reserved + amount <= this.#cap;
  }

  #take(amount: UsdMicros): void {
    this.#reserved += amount;
    this.#holders++;
    this.#granted++;
  }
}
