import { setTimeout as wait } from 'node:timers/promises';

/** Time as an argument. The real clock lives here, the virtual one in `sim/`; nothing else tells the time. */
export interface Clock {
  now(): number;
  /** Calls `fire` once, not before `at`; returns a function that cancels it. */
  at(at: number, fire: () => void): () => void;
}

/** `setTimeout` fires at once above this. */
const longestTimer = 2 ** 31 - 1;

/** The wall clock. Timers further away than `setTimeout` can hold are set again on the way. */
export const realClock: Clock = {
  now: () => Date.now(),
  at(at, fire) {
    let handle: NodeJS.Timeout | undefined;
    const arm = (): void => {
      const left = at - Date.now();
      handle = left > longestTimer ? setTimeout(arm, longestTimer) : setTimeout(fire, Math.max(0, Math.ceil(left)));
    };
    arm();
    return () => clearTimeout(handle);
  },
};

/** Waits on the wall clock; rejects when the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(Math.min(ms, longestTimer), undefined, signal ? { signal } : {});
