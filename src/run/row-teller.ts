import type { Row } from '../domain/row.ts';
import type { RunEvent } from '../domain/run-event.ts';

/** Tells everybody of each row once, with how far the run is; counts what was told, for the run's own check at its end. */
export class RowTeller {
  /** Cases that are done for good, those of earlier sittings included. */
  completed = 0;
  /** Rows told, provisional ones included. */
  told = 0;
  readonly #emit: (event: RunEvent) => void;
  readonly #now: () => number;
  readonly #total: () => number;

  constructor(parts: { emit: (event: RunEvent) => void; now: () => number; total: () => number }) {
    this.#emit = parts.emit;
    this.#now = parts.now;
    this.#total = parts.total;
  }

  /** Cases whose rows an earlier sitting has told. */
  restore(completed: number): void {
    this.completed = completed;
    this.told = completed;
  }

  final(rows: readonly Row[]): void {
    for (const row of rows) {
      this.completed++;
      this.provisional(row);
    }
  }

  /** A row that a later sitting replaces: told, and not counted as completed. */
  provisional(row: Row): void {
    this.told++;
    const { index, status } = row;
    const { completed } = this;
    this.#emit({ type: 'case-end', index, at: this.#now(), status, row, completed, total: this.#total() });
  }
}
