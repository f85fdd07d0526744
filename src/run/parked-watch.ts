/** Notices when a run only waits for lanes that stay parked for long: then it stops, resumable, and says until when. */
import type { CaseIndex, EpochMillis, LaneKey, Millis } from '../domain/ids.ts';
import type { LaneEvent } from '../domain/lane.ts';

export class ParkedWatch {
  readonly #maxWaitMs: Millis;
  readonly #parked = new Map<LaneKey, EpochMillis>();
  readonly #calls = new Map<LaneKey, number>();
  readonly #cases = new Map<CaseIndex, number>();

  constructor(maxWaitMs: Millis) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** True when the event may have been the last thing the run waited for. */
  see(event: LaneEvent): boolean {
    if (event.type === 'lane-park') this.#parked.set(event.lane, event.until);
    else if (event.type === 'call-start') this.#parked.delete(event.lane);
    return event.type === 'lane-park';
  }

  /** A call waits for its lane or its answer; the returned function says that it no longer does. */
  enter(lane: LaneKey, index: CaseIndex): () => void {
    this.#calls.set(lane, (this.#calls.get(lane) ?? 0) + 1);
    this.#cases.set(index, (this.#cases.get(index) ?? 0) + 1);
    return () => {
      this.#calls.set(lane, (this.#calls.get(lane) ?? 1) - 1);
      const left = (this.#cases.get(index) ?? 1) - 1;
      if (left === 0) this.#cases.delete(index);
      else this.#cases.set(index, left);
    };
  }

  /** A call of the case waits for its lane or its answer. */
  waits(index: CaseIndex): boolean {
    return this.#cases.has(index);
  }

  parkedForLong(lane: LaneKey | undefined, now: EpochMillis): boolean {
    const until = lane === undefined ? undefined : this.#parked.get(lane);
    return until !== undefined && until - now > this.#maxWaitMs;
  }

  /** When the first of the parked lanes opens, if nothing else is going on among this many running cases. */
  onlyParkedUntil(running: number, now: EpochMillis): EpochMillis | undefined {
    if (running === 0 || this.#cases.size < running) return undefined;
    const busy = [...this.#calls].filter(([, calls]) => calls > 0).map(([lane]) => lane);
    if (busy.length === 0 || !busy.every((lane) => this.parkedForLong(lane, now))) return undefined;
    return Math.min(...busy.map((lane) => this.#parked.get(lane) ?? now));
  }
}
