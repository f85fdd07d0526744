import { VirtualClock } from '../../src/sim/virtual-clock.ts';

/** Lets everything happen that can happen now: promises, sockets, files. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Until this store has committed what the present moment brings about: a write, what follows from it, the next write. */
export const untilKept = (store: { flush(): Promise<void> }) => async (): Promise<void> => {
  for (let step = 0; step < 8; step += 1) {
    await turn();
    await store.flush();
  }
};

/**
 * Does some work on a clock of its own. Time goes on, to the next timer, only when the present moment is quiet: what takes
 * a millisecond of ours would otherwise take seconds of the work's.
 */
export async function letTimePass<T>(
  clock: VirtualClock,
  quiet: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  const result = work();
  result.then(end, end);
  for (;;) {
    await quiet();
    if (over) return result;
    if (!clock.step()) await turn();
  }
}

/** A moment between two full seconds, so that dates of whole seconds are told apart from exact times. */
const start = Date.UTC(2026, 0, 5, 12, 0, 0, 250);

/**
 * Virtual time beside real sockets. It stands still while anything is on the wire and goes straight to the next timer
 * when nothing is: a busy machine makes a test slower, never later.
 */
export class WireClock extends VirtualClock {
  #onWire = 0;

  constructor() {
    super(start);
  }

  /** No time passes during this work. */
  async onWire<T>(work: () => Promise<T>): Promise<T> {
    this.#onWire += 1;
    try {
      return await work();
    } finally {
      this.#onWire -= 1;
    }
  }

  /** Lets time pass until the result is there; `silent` says when it passes although something is on the wire. */
  async until<T>(result: Promise<T>, silent: () => boolean = () => false): Promise<T> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    result.then(end, end);
    while (!over) {
      await turn();
      if (!over && (this.#onWire === 0 || silent())) this.step();
    }
    return result;
  }
}
