/**
 * Job: turn many small writes into few transactions without making anybody wait long.
 * Not its job: knowing what is written.
 *
 * Invariants: 1. Writes become visible in the order in which they were added. 2. A promise resolves only after its write
 * is committed; a durable one only after it was synced to disk. 3. After a failed commit nothing more is written: every
 * later write fails with the same error, so that nothing is ever used that was not kept.
 */
import type { StoreError } from './store-errors.ts';

/** One statement with its values. */
export interface Write {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** Seams for tests that pull the plug or fill the disk at the n-th commit. */
export interface CommitHooks {
  readonly before?: (commit: number) => void;
  readonly after?: (commit: number) => void;
}

/** How the database underneath commits a group: everything or nothing. */
export interface GroupTarget {
  /** Commits in one transaction; with `durable` the data is on disk when it returns. False: busy, try again later. */
  commit(writes: readonly Write[], durable: boolean): boolean;
  asError(cause: unknown): StoreError;
  /** A wall clock in milliseconds. */
  now(): number;
}

interface Group {
  readonly writes: Write[];
  durable: boolean;
  readonly done: Promise<void>;
  readonly settle: (error?: StoreError) => void;
}

function openGroup(): Group {
  let settle: (error?: StoreError) => void = () => {};
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  done.catch(() => {});
  return { writes: [], durable: false, done, settle };
}

export class GroupCommit {
  readonly #target: GroupTarget;
  readonly #patienceMs: number;
  #group: Group | undefined;
  #scheduled = false;
  #broken: StoreError | undefined;
  /** Syncing takes at most about half of the time: the next durable group waits as long as the last one took. */
  #restUntil = 0;
  #busySince: number | undefined;
  /** Nothing was committed since the last sync. */
  #synced = true;

  /** `patienceMs`: how long the store may be locked by somebody else before writing gives up. */
  constructor(target: GroupTarget, patienceMs: number) {
    this.#target = target;
    this.#patienceMs = patienceMs;
  }

  /** Adds writes to the group that is being gathered. */
  add(writes: readonly Write[], durable: boolean): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    this.#group ??= openGroup();
    const group = this.#group;
    for (const write of writes) group.writes.push(write);
    if (durable) group.durable = true;
    this.#schedule();
    return group.done;
  }

  /** Resolves when everything added so far is on disk. */
  drain(): Promise<void> {
    return this.#group === undefined && this.#synced ? Promise.resolve() : this.add([], true);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const wait = this.#busySince === undefined ? Math.min(10, this.#restUntil - this.#target.now()) : 20;
    if (wait >= 1) setTimeout(() => this.#flush(), wait);
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const group = this.#group;
    if (group === undefined) return;
    const from = this.#target.now();
    try {
      if (!this.#target.commit(group.writes, group.durable)) {
        this.#waitForLock(group, from);
        return;
      }
    } catch (cause) {
      this.#fail(group, cause);
      return;
    }
    this.#busySince = undefined;
    this.#synced = group.durable;
    if (group.durable) {
      const to = this.#target.now();
      this.#restUntil = to + (to - from);
    }
    this.#group = undefined;
    group.settle();
  }

  #waitForLock(group: Group, now: number): void {
    this.#busySince ??= now;
    if (now - this.#busySince > this.#patienceMs) this.#fail(group, { errcode: 5, message: 'database is locked' });
    else this.#schedule();
  }

  #fail(group: Group, cause: unknown): void {
    this.#broken = this.#target.asError(cause);
    this.#group = undefined;
    group.settle(this.#broken);
  }
}
