/**
 * Job: end a run before its plan is done, in two moments: at once nothing new starts; after a short grace what is still
 * in flight is cancelled. An answer that arrives within the grace is kept, because it is paid for.
 */
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { StopReason } from '../domain/run-event.ts';
import type { Clock } from '../platform/clock.ts';
import type { StoreError } from '../store/store-errors.ts';

/** Thrown out of a case's effects when the run is stopping: the case is suspended, not finished. */
export class Suspended extends Error {
  constructor() {
    super('the run was stopped');
    this.name = 'Suspended';
  }
}

export class RunStop {
  readonly #clock: Clock;
  readonly #graceMs: Millis;
  readonly #starts = new AbortController();
  readonly #flights = new AbortController();
  #inFlight = 0;
  #cancelTimer: () => void = () => {};
  reason: StopReason | undefined;
  until: EpochMillis | undefined;
  error: StoreError | undefined;

  constructor(clock: Clock, graceMs: Millis) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Aborts the moment the run stops: nothing may start any more. */
  get starts(): AbortSignal {
    return this.#starts.signal;
  }

  /** Aborts when the grace is over: nothing may go on any more. */
  get flights(): AbortSignal {
    return this.#flights.signal;
  }

  /** The first reason counts. */
  stop(reason: StopReason, until?: EpochMillis): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.until = until;
    this.#starts.abort(new Suspended());
    if (this.#inFlight === 0 || this.#graceMs <= 0 || reason === 'storage') this.cut();
    else this.#cancelTimer = this.#clock.at(this.#clock.now() + this.#graceMs, () => this.cut());
  }

  /** Stops on the caller's signal and when the time is up; the returned function ends that. */
  arm(signal: AbortSignal | undefined, maxDurationMs: Millis | undefined): () => void {
    const interrupt = (): void => this.stop('interrupted');
    const cancelTimer =
      maxDurationMs === undefined
        ? () => {}
        : this.#clock.at(this.#clock.now() + maxDurationMs, () => this.stop('max-duration'));
    signal?.addEventListener('abort', interrupt, { once: true });
    if (signal?.aborted === true) interrupt();
    return () => {
      cancelTimer();
      signal?.removeEventListener('abort', interrupt);
    };
  }

  /** Resolves so long after the run was stopped; never, when it is not. */
  longAfter(ms: Millis): Promise<void> {
    return new Promise((resolve) => {
      const wait = (): void => void this.#clock.at(this.#clock.now() + ms, resolve);
      if (this.starts.aborted) wait();
      else this.starts.addEventListener('abort', wait, { once: true });
    });
  }

  /** The store has failed: nothing that happens now could be kept. */
  fail(error: StoreError): void {
    this.error ??= error;
    this.stop('storage');
  }

  /** Ends the grace. */
  cut(): void {
    this.#cancelTimer();
    if (!this.#flights.signal.aborted) this.#flights.abort(new Suspended());
  }

  /** Something is on the wire; the returned function says that it no longer is. */
  takeOff(): () => void {
    this.#inFlight++;
    return () => {
      this.#inFlight--;
      if (this.#inFlight === 0 && this.#starts.signal.aborted) this.cut();
    };
  }
}
