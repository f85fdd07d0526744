import { Heap } from '../lanes/heap.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
  cancelled: boolean;
}

/** A clock that stands still until it is told to go on: same shape as the real one, for tests, forecasts and `sim:`. */
export class VirtualClock {
  private time: number;
  private order = 0;
  private readonly timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  constructor(start = 0) {
    this.time = start;
  }

  // Bound, because a clock's functions are also handed on alone.
  readonly now = (): number => this.time;

  readonly at = (at: number, fire: () => void): (() => void) => {
    this.order += 1;
    const timer: Timer = { at: Math.max(at, this.time), order: this.order, fire, cancelled: false };
    this.timers.push(timer);
    return () => {
      timer.cancelled = true;
    };
  };

  /** When the next timer fires; undefined when none is set. */
  next(): number | undefined {
    this.dropCancelled();
    return this.timers.peek()?.at;
  }

  /** Moves to the next timer and fires it; false when there is none. */
  step(): boolean {
    this.dropCancelled();
    const timer = this.timers.pop();
    if (timer === undefined) return false;
    this.time = timer.at;
    timer.fire();
    return true;
  }

  /** Moves on to `at`, firing everything on the way. */
  advanceTo(at: number): void {
    for (let next = this.next(); next !== undefined && next <= at; next = this.next()) this.step();
    this.time = Math.max(this.time, at);
  }

  private dropCancelled(): void {
    while (this.timers.peek()?.cancelled) this.timers.pop();
  }
}
