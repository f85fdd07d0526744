/**
 * The time in which nobody played a case: between what was recorded of it and what is done now, after a stop, a kill or in
 * a fork. It is noted in the journal, so that a replay, a later resume and a fork of a fork know of it too.
 *
 * 1. At most one a sitting, before its first step that is not replayed. 2. A pause counts only when something recorded or
 * done came after it: a fork that keeps what was before leaves it behind.
 */
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Answer } from '../store/store.ts';
import type { Journal } from './journal.ts';

const isPause = (path: string): boolean => path.startsWith('pause/');

export class Pauses {
  readonly #journal: Journal;
  readonly #now: () => EpochMillis;
  /** Those of earlier sittings. */
  readonly #recorded: readonly Answer[];
  /** When the last recorded step ended, whether it has been replayed yet or not. */
  readonly #lastEnd: EpochMillis;
  /** The same of those that have been replayed. */
  #replayedTo: EpochMillis = Number.NEGATIVE_INFINITY;
  #present: Millis | undefined;

  constructor(journal: Journal, now: () => EpochMillis) {
    this.#journal = journal;
    this.#now = now;
    const answers = [...journal.recorded.answers.values()];
    this.#recorded = answers.filter(({ path }) => isPause(path));
    this.#lastEnd = answers.reduce(
      (last, { path, times }) => (isPause(path) ? last : Math.max(last, times.endedAt)),
      Number.NEGATIVE_INFINITY,
    );
  }

  /** A step gave its recorded answer. */
  replayed(endedAt: EpochMillis): void {
    if (endedAt > this.#replayedTo) this.#replayedTo = endedAt;
  }

  /** A step is about to be done. */
  playsOn(): void {
    if (this.#present !== undefined || this.#replayedTo === Number.NEGATIVE_INFINITY) return;
    const [startedAt, endedAt] = [this.#lastEnd, Math.max(this.#lastEnd, this.#now())];
    this.#present = endedAt - startedAt;
    this.#journal.note({
      path: this.#freePath(),
      send: 1,
      kind: 'clock',
      requestHash: '',
      value: this.#present,
      costUsdMicros: 0,
      times: { startedAt, endedAt, queueMs: 0, backoffMs: 0, latencyMs: 0, attempts: 0 },
      billing: 'none',
    });
  }

  /** All of them, so far. */
  get totalMs(): Millis {
    const earlier = this.#recorded.filter(({ times }) => times.startedAt < this.#replayedTo);
    return earlier.reduce((sum, { times }) => sum + times.endedAt - times.startedAt, this.#present ?? 0);
  }

  #freePath(): string {
    const used = new Set(this.#recorded.map(({ path }) => path));
    let number = used.size;
    while (used.has(`pause/${number}`)) number += 1;
    return `pause/${number}`;
  }
}
