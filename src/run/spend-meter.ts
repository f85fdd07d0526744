/**
 * What a run has paid, told while it grows.
 *
 * Job: add up the price of every recorded answer, and tell the sum soon after it has changed.
 * Not its job: the cap, which must also count what may have been billed.
 *
 * 1. The sum is that of the journal: every other place that tells a run's cost says the same. 2. It is told at most a few
 * times a second, however many answers come, and never later than that after the last one.
 */
import type { Millis } from '../domain/ids.ts';
import type { RunEvent, RunSpend } from '../domain/run-event.ts';
import type { Clock } from '../platform/clock.ts';
import type { StepEnd } from './step.ts';

const gapMs: Millis = 250;

export class SpendMeter {
  readonly #clock: Clock;
  readonly #emit: (event: RunEvent) => void;
  #paid: RunSpend;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, before: RunSpend, emit: (event: RunEvent) => void) {
    this.#clock = clock;
    this.#paid = before;
    this.#emit = emit;
  }

  get paid(): RunSpend {
    return this.#paid;
  }

  add({ kind, answer: { costUsdMicros }, replayed }: StepEnd): void {
    if (replayed || kind !== 'model' || costUsdMicros === 0) return;
    const { usdMicros, unknown } = this.#paid;
    this.#paid =
      costUsdMicros === null ? { usdMicros, unknown: unknown + 1 } : { usdMicros: usdMicros + costUsdMicros, unknown };
    if (this.#cancel !== undefined) return;
    const now = this.#clock.now();
    if (now - this.#toldAt >= gapMs) this.tell();
    else this.#cancel = this.#clock.at(this.#toldAt + gapMs, () => this.tell());
  }

  /** Tells the sum now. */
  tell(): void {
    this.stop();
    this.#toldAt = this.#clock.now();
    this.#emit({ type: 'spend', at: this.#toldAt, ...this.#paid });
  }

  /** Nothing is told any more by itself. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
