import type { Clock } from '../../src/platform/clock.ts';

/** A clock on which every wait is over at once: time jumps to whoever waits. */
export function hastyClock(start = 0): Clock {
  let time = start;
  return {
    now: () => time,
    at(at, fire) {
      const handle = setImmediate(() => {
        time = Math.max(time, at);
        fire();
      });
      return () => clearImmediate(handle);
    },
  };
}
