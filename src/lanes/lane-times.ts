/**
 * Where each lane's time went, by the one cause that held it.
 *
 * Job: add up the time between events under the cause that stood between them. Not its job: why that cause stood.
 * 1. The parts of a lane add up to the time from the beginning to the last `until`.
 * 2. Idle time becomes the drain unless another call of the lane starts after it.
 * 3. Cheap: a driver on a real clock looks only when time has passed, and seldom enough that many lanes cost what few do.
 */
import { assertNever } from '../domain/errors.ts';
import type { LaneKey } from '../domain/ids.ts';
import type { TimeSpent } from '../domain/run-efficiency.ts';
import type { LaneState } from './lane-state.ts';
import { waitCause } from './readiness.ts';

export type Spent = keyof TimeSpent;

/** What the lane's time is spent on from now until the next event. */
export function spentOn(lane: LaneState, now: number, serialHolder: number | undefined): Spent {
  const { kind } = waitCause(lane, now, serialHolder);
  switch (kind) {
    case 'requests':
    case 'tokens':
      return 'atPace';
    case 'rate-limited':
    case 'backing-off':
    case 'parked':
    case 'closed':
    case 'cut-back':
      return 'rejected';
    case 'finding-pace':
      return 'ramp';
    case 'concurrency':
    case 'global-cap':
    case 'paused':
    case 'serial-gate':
      return 'userCap';
    case 'slow-answers':
    case 'nothing-left':
      return 'idle';
    default:
      return assertNever(kind);
  }
}

/** Lanes that are looked at per millisecond, at most. */
const looksPerMs = 8;

interface Book {
  readonly spent: TimeSpent;
  on: Spent;
  started: number;
  /** Idle time that becomes the drain unless another call starts. */
  maybeDrain: number;
}

type Standing = (see: (lane: LaneState, on: Spent) => void, now: number) => void;

export class LaneTimes {
  readonly #books = new Map<LaneKey, Book>();
  readonly #from: number;
  #since: number;
  #lastEventAt: number;

  constructor(now: number) {
    this.#from = now;
    this.#since = now;
    this.#lastEventAt = now;
  }

  /** Something is about to change at `now`: what stood since the last change is written down. */
  before(standing: Standing, now: number): void {
    const seenAt = this.#lastEventAt;
    this.#lastEventAt = now;
    const due = this.#books.size / looksPerMs;
    if (now <= this.#since || now - this.#since < due) return;
    this.see(standing, seenAt);
    this.until(now);
  }

  /** The lanes stand like this now. */
  see(standing: Standing, now: number): void {
    standing((lane, on) => {
      const book = this.#bookOf(lane.key);
      if (lane.started !== book.started) {
        book.spent.idle += book.maybeDrain;
        book.maybeDrain = 0;
        book.started = lane.started;
      }
      book.on = on;
    }, now);
  }

  /** They stood like that until now. */
  until(now: number): void {
    const span = now - this.#since;
    this.#since = now;
    for (const book of this.#books.values()) add(book, span);
  }

  /** Per lane; after an `until`. */
  *told(): Generator<readonly [LaneKey, TimeSpent]> {
    for (const [key, { spent, maybeDrain }] of this.#books) yield [key, { ...spent, drain: spent.drain + maybeDrain }];
  }

  #bookOf(key: LaneKey): Book {
    let book = this.#books.get(key);
    if (book === undefined) {
      const spent = { atPace: 0, ramp: 0, rejected: 0, userCap: 0, idle: 0, drain: 0 };
      // A lane that opens later had nothing to do until then.
      book = { spent, on: 'idle', started: 0, maybeDrain: this.#since - this.#from };
      this.#books.set(key, book);
    }
    return book;
  }
}

function add(book: Book, span: number): void {
  if (book.on === 'idle') book.maybeDrain += span;
  else book.spent[book.on] += span;
}
