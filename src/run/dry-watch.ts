/**
 * Job: notice that a run waits for a budget that nothing can fill up any more, and stop it then.
 * Not its job: what else may still happen in the run; it asks.
 *
 * 1. While something is on the wire, or a case may still go on by itself, nobody is refused. 2. It looks when things have
 * come to rest, and again after a while as long as calls wait: a lane may have been waiting for time alone.
 */
import type { WaitCause } from '../domain/lane.ts';
import type { Clock } from '../platform/clock.ts';
import type { Budget } from './budget.ts';

const lookAgainMs = 250;

export interface DryWatchParts {
  readonly budget: Budget;
  readonly clock: Clock;
  /** Something may still happen without the budget. */
  readonly moving: () => boolean;
  readonly stop: () => void;
}

/** The lane's next call starts without another one ending first. */
export const startsByItself = ({ kind }: WaitCause): boolean =>
  kind === 'rate-limited' ||
  kind === 'backing-off' ||
  kind === 'paused' ||
  kind === 'parked' ||
  kind === 'tokens' ||
  kind === 'requests';

export class DryWatch {
  readonly #parts: DryWatchParts;
  #looking = false;
  #cancel: () => void = () => {};
  #over = false;

  constructor(parts: DryWatchParts) {
    this.#parts = parts;
    parts.budget.onChange = () => this.look();
  }

  /** Looks once what is going on at this moment has come to rest. */
  look(): void {
    if (this.#looking || this.#over || !this.#parts.budget.dry) return;
    this.#looking = true;
    setImmediate(() => {
      this.#looking = false;
      this.#judge();
    });
  }

  stop(): void {
    this.#over = true;
    this.#cancel();
  }

  #judge(): void {
    const { budget, clock, moving, stop } = this.#parts;
    this.#cancel();
    if (this.#over || !budget.dry) return;
    if (!moving()) stop();
    else this.#cancel = clock.at(clock.now() + lookAgainMs, () => this.look());
  }
}
