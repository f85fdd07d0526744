/** How long a case's own calls and tools have been at work; queueing and back-off do not count, parallel work counts once. */
import type { StepTimes } from '../domain/effects.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';

export class WorkingTime {
  readonly #clock: Clock;
  readonly #limitMs: Millis | undefined;
  readonly #expire: () => void;
  #used = 0;
  #running = 0;
  #since: EpochMillis = 0;
  /** End of the latest recorded stretch that was counted. */
  #countedTo: EpochMillis = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** `expire` is called once, when the limit is reached; without a limit never. */
  constructor(clock: Clock, limitMs: Millis | undefined, expire: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#expire = expire;
  }

  /** Something begins to work; the returned function ends it. */
  begin(): () => void {
    if (this.#running++ === 0) this.#start();
    return () => {
      if (--this.#running === 0) this.#stop();
    };
  }

  /** Counts a stretch of an earlier process. */
  addRecorded({ endedAt, latencyMs }: StepTimes): void {
    const from = Math.max(endedAt - latencyMs, this.#countedTo);
    this.#used += Math.max(0, endedAt - from);
    this.#countedTo = Math.max(this.#countedTo, endedAt);
  }

  #start(): void {
    this.#since = this.#clock.now();
    if (this.#limitMs === undefined) return;
    this.#cancel = this.#clock.at(this.#since + Math.max(0, this.#limitMs - this.#used), this.#expire);
  }

  #stop(): void {
    this.#used += this.#clock.now() - this.#since;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
