import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillHistory, laneHistory, markRejected, stretches } from './lane-history.ts';

const sum = (slices: Float64Array): number => slices.reduce((total, value) => total + value, 0);

describe('the history of a lane', () => {
  it('tells busy, waiting, rejected and idle stretches apart', () => {
    const history = laneHistory(0, 64, 100);
    fillHistory(history, { inFlight: 2, queued: 0, blockedUntil: 0 }, 1000);
    markRejected(history, 1000);
    fillHistory(history, { inFlight: 0, queued: 3, blockedUntil: 2000 }, 2000);
    fillHistory(history, { inFlight: 0, queued: 3, blockedUntil: 2000 }, 3000);
    fillHistory(history, { inFlight: 0, queued: 0, blockedUntil: 0 }, 4000);
    expect(stretches(history, 0, 4000, 8)).toEqual([
      'busy',
      'busy',
      'rejected',
      'rejected',
      'waiting',
      'waiting',
      'idle',
      'idle',
    ]);
  });

  it('keeps every millisecond in a fixed number of slices, however long the run is', () => {
    const steps = fc.array(
      fc.record({ ms: fc.integer({ min: 1, max: 5000 }), inFlight: fc.integer({ min: 0, max: 4 }) }),
      {
        maxLength: 200,
      },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const history = laneHistory(1000, 16, 10);
        let now = 1000;
        let flight = 0;
        let waiting = 0;
        for (const { ms, inFlight } of all) {
          now += ms;
          fillHistory(history, { inFlight, queued: 1, blockedUntil: 0 }, now);
          flight += ms * inFlight;
          if (inFlight === 0) waiting += ms;
        }
        expect(sum(history.flight)).toBeCloseTo(flight, 3);
        expect(sum(history.waiting)).toBeCloseTo(waiting, 3);
        expect(history.used).toBeLessThanOrEqual(16);
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
