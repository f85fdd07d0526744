import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { realClock } from './clock.ts';

const work = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

describe('the real clock', () => {
  it('tells how long a turn of a busy event loop takes', async () => {
    const turnMs = realClock.turnMeter?.() ?? (() => Number.NaN);
    expect(turnMs()).toBe(0);
    for (let turn = 0; turn < 6; turn += 1) {
      work(25);
      await setImmediate();
    }
    expect(turnMs()).toBeGreaterThanOrEqual(20);
  });
});
