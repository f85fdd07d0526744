import { describe, expect, it } from 'vitest';
import { caseIndex, laneKey, runId } from '../domain/ids.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { pastLanes } from './past-lanes.ts';

const lane = laneKey('sim:fast');
const common = (call: number) => ({ lane, call, index: caseIndex(call) });
const start = (call: number, at: number): RunEvent => ({ type: 'call-start', ...common(call), at, attempt: 1 });
const again = (call: number, at: number, reason: 'retry' | 'rate-limited'): RunEvent => ({
  type: 'call-requeue',
  ...common(call),
  at,
  notBefore: at,
  reason,
});
const begin: RunEvent = { type: 'run-start', run: runId('r'), at: 0, planned: 1, resumed: false };

/** A server that holds `capacity` requests and gets one more every `everyMs`; whoever is there asks twice as often. */
function rejections(capacity: number, everyMs: number, untilMs: number): RunEvent[] {
  const events: RunEvent[] = [];
  let [level, call] = [capacity, 0];
  for (let at = 0; at <= untilMs; at += everyMs / 2) {
    events.push(start(call, at));
    if (level >= 1) level -= 1;
    else events.push(again(call, at, 'rate-limited'));
    level += 0.5;
    call++;
  }
  return events;
}

const seenIn = (events: readonly RunEvent[]) => {
  const collector = pastLanes();
  for (const event of events) collector.observe(event);
  return collector.build().get(lane);
};

describe('past lanes', () => {
  it('tell how often requests failed and were tried again, and how long that took', () => {
    const seen = seenIn([start(1, 0), again(1, 300, 'retry'), start(1, 900), start(2, 900), again(2, 1000, 'retry')]);
    expect(seen).toEqual({ faultShare: 2 / 3, faultMs: 200 });
  });

  it('tell rate and capacity of a server that rejects and never says why', () => {
    const { perMinute, capacity } = seenIn(rejections(8, 1_000, 60_000))?.requests ?? { perMinute: 0, capacity: 0 };
    expect(perMinute).toBeGreaterThan(55);
    expect(perMinute).toBeLessThan(65);
    expect(capacity).toBeGreaterThan(6);
    expect(capacity).toBeLessThan(10);
  });

  it('tell no limit where too little came between two rejections', () => {
    expect(seenIn([start(1, 0), again(1, 10, 'rate-limited'), start(2, 500), again(2, 510, 'rate-limited')])).toEqual({
      faultShare: 0,
      faultMs: 0,
    });
  });

  it('count each run by itself', () => {
    const far = [start(1, 900_000), again(1, 900_000, 'rate-limited')];
    expect(seenIn([begin, ...rejections(8, 1_000, 60_000), begin, ...far])?.requests?.perMinute).toBeGreaterThan(55);
  });
});
