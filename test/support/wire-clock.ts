import { VirtualClock } from '../../src/sim/virtual-clock.ts';

/** Lets everything happen that can happen now: promises, sockets, files. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets everything happen that can happen now, then time pass to the next timer, until the result is there. */
export async function letTimePass<T>(clock: VirtualClock, result: Promise<T>): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  result.then(end, end);
  while (!over) {
    for (let quiet = 0; quiet < 6 && !over; quiet += 1) await turn();
    if (!over) clock.step();
  }
  return result;
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
