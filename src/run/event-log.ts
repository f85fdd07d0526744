/**
 * Job: one order of events for everybody: every observer sees every event, in the same order, whoever causes what.
 *
 * Invariants: 1. An event that is caused while another is being told is told afterwards. 2. An observer that throws is
 * told about no more, and stops nobody. 3. Events go to the store in chunks; a case's start refers to its column, its end
 * to its stored row.
 */
import type { RunEvent } from '../domain/run-event.ts';
import type { StoredEvent } from '../store/store.ts';

export type RunObserver = (event: RunEvent) => void;

const chunk = 128;

const forStore = (event: RunEvent): StoredEvent => {
  if (event.type === 'case-start') {
    const { column, ...rest } = event;
    return column === undefined ? rest : { ...rest, column: column.position };
  }
  if (event.type !== 'case-end') return event;
  const { row: _, ...rest } = event;
  return rest;
};

export class EventLog {
  readonly #observers: Set<RunObserver>;
  readonly #write: (events: readonly StoredEvent[]) => void;
  readonly #now: () => number;
  readonly #queue: RunEvent[] = [];
  #telling = false;
  #pending: StoredEvent[] = [];

  constructor(observers: readonly RunObserver[], write: (events: readonly StoredEvent[]) => void, now: () => number) {
    this.#observers = new Set(observers);
    this.#write = write;
    this.#now = now;
  }

  emit(event: RunEvent): void {
    this.#queue.push(event);
    if (this.#telling) return;
    this.#telling = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#tell(next);
    this.#telling = false;
  }

  warn(message: string): void {
    this.emit({ type: 'warning', at: this.#now(), message });
  }

  /** Hands what is left to the store. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#write(this.#pending);
    this.#pending = [];
  }

  #tell(event: RunEvent): void {
    this.#pending.push(forStore(event));
    if (this.#pending.length >= chunk) this.flush();
    for (const observer of this.#observers) {
      try {
        observer(event);
      } catch (cause) {
        this.#observers.delete(observer);
        this.warn(`An observer of the run failed and is no longer told: ${String(cause)}`);
      }
    }
  }
}
