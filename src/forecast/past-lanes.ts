/**
 * What past runs teach about lanes themselves, beside the limits that providers tell.
 *
 * Job: how often requests fail and are tried again, and what a server seems to allow that rejects without telling why.
 * Not its job: the cases' chains (`past-cases.ts`), limits that were told (the store's).
 *
 * 1. A rejection says that the bucket is empty just then. Two of them, far enough apart, give its rate: what was taken in
 *    between; and the first one what it held at the beginning.
 * 2. Each run is counted by itself; of several, the newest that tells anything counts.
 */
import type { LaneKey, Millis } from '../domain/ids.ts';
import type { RunEvent } from '../domain/run-event.ts';

export interface PastLane {
  /** Share of requests that failed and were tried again. */
  readonly faultShare: number;
  /** How long such a request took, on average. */
  readonly faultMs: Millis;
  /** What the server seems to allow, judged by its rejections. */
  readonly requests?: { readonly perMinute: number; readonly capacity: number };
}

/** Fewer requests between two rejections than this tell chance rather than a rate. */
const fewest = 10;

interface Rejection {
  readonly at: number;
  readonly taken: number;
}

interface LaneBook {
  requests: number;
  faults: number;
  faultMs: number;
  readonly onWire: Map<number, number>;
  /** Of the present run. */
  firstAt: number | undefined;
  taken: number;
  first: Rejection | undefined;
  seen: PastLane['requests'] | undefined;
}

const newBook = (): LaneBook => ({
  requests: 0,
  faults: 0,
  faultMs: 0,
  onWire: new Map(),
  firstAt: undefined,
  taken: 0,
  first: undefined,
  seen: undefined,
});

function reject(book: LaneBook, at: number): void {
  book.taken--;
  book.first ??= { at, taken: book.taken };
  const [units, ms] = [book.taken - book.first.taken, at - book.first.at];
  if (units < fewest || ms <= 0) return;
  const perMs = units / ms;
  const before = book.first.at - (book.firstAt ?? book.first.at);
  book.seen = { perMinute: perMs * 60_000, capacity: Math.max(1, book.first.taken - perMs * before) };
}

export interface PastLanesCollector {
  observe(event: RunEvent): void;
  build(): ReadonlyMap<LaneKey, PastLane>;
}

export function pastLanes(): PastLanesCollector {
  const books = new Map<LaneKey, LaneBook>();
  const bookOf = (lane: LaneKey): LaneBook => {
    const book = books.get(lane) ?? newBook();
    books.set(lane, book);
    return book;
  };
  const start = (book: LaneBook, call: number, at: number): void => {
    book.requests++;
    book.taken++;
    book.firstAt ??= at;
    book.onWire.set(call, at);
  };
  const again = (book: LaneBook, event: Extract<RunEvent, { type: 'call-requeue' }>): void => {
    const startedAt = book.onWire.get(event.call) ?? event.at;
    book.onWire.delete(event.call);
    if (event.reason === 'rate-limited') reject(book, event.at);
    if (event.reason !== 'retry') return;
    book.faults++;
    book.faultMs += event.at - startedAt;
  };
  return {
    observe(event) {
      if (event.type === 'call-start') start(bookOf(event.lane), event.call, event.at);
      else if (event.type === 'call-requeue') again(bookOf(event.lane), event);
      else if (event.type === 'call-end') bookOf(event.lane).onWire.delete(event.call);
      else if (event.type === 'run-start')
        for (const book of books.values()) Object.assign(book, { firstAt: undefined, taken: 0, first: undefined });
    },
    build: () =>
      new Map(
        [...books].map(([lane, { requests, faults, faultMs, seen }]): [LaneKey, PastLane] => [
          lane,
          {
            faultShare: requests === 0 ? 0 : faults / requests,
            faultMs: faults === 0 ? 0 : faultMs / faults,
            ...(seen === undefined ? {} : { requests: seen }),
          },
        ]),
      ),
  };
}
