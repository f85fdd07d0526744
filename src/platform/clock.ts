import { setTimeout as wait } from 'node:timers/promises';

/** Time as an argument. The real clock lives here, the virtual one in `sim/`; nothing else tells the time. */
export interface Clock {
  now(): number;
  /** Calls `fire` once, not before `at`; returns a function that cancels it. */
  at(at: number, fire: () => void): () => void;
  /**
   * A function that tells how long, in milliseconds, one turn of this process's event loop takes lately while it has no
   * idle time left; 0 while it has. An answer may wait that long for us after it has come.
   */
  turnMeter?(): () => number;
}

/** `setTimeout` fires at once above this. */
const longestTimer = 2 ** 31 - 1;

const busyShare = 0.9;
const busySampleMs = 50;

function turnMeter(): () => number {
  let turnMs = 0;
  let sampledAt = performance.now();
  let use = performance.eventLoopUtilization();
  let turns = performance.nodeTiming.uvMetricsInfo.loopCount;
  return () => {
    const now = performance.now();
    const elapsed = now - sampledAt;
    if (elapsed < busySampleMs) return turnMs;
    const useNow = performance.eventLoopUtilization();
    const turnsNow = performance.nodeTiming.uvMetricsInfo.loopCount;
    const busy = performance.eventLoopUtilization(useNow, use).utilization > busyShare;
    turnMs = busy ? elapsed / Math.max(1, turnsNow - turns) : 0;
    sampledAt = now;
    use = useNow;
    turns = turnsNow;
    return turnMs;
  };
}

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
  turnMeter,
};

/** Waits on the wall clock; rejects when the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(Math.min(ms, longestTimer), undefined, signal ? { signal } : {});
