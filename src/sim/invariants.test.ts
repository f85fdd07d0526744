import { describe, expect, it } from 'vitest';
import { laneKey } from '../domain/ids.ts';
import { checkInvariants } from './invariants.ts';
import { simulate } from './simulate.ts';
import { independentCalls } from './workload.ts';

const runs = 1_200;
const chunk = 100;

describe('over random work, servers and faults, the lanes keep L1-L9', () => {
  for (let from = 1; from <= runs; from += chunk) {
    it(`L1 L2 L3 L4 L5 L6 L7 L8 L9 hold for seeds ${from} to ${from + chunk - 1}`, () => {
      for (let seed = from; seed < from + chunk; seed += 1)
        expect({ seed, breaches: checkInvariants(seed) }).toEqual({ seed, breaches: [] });
    });
  }

  it('L7: a call of a chain is never started before the one before it has ended', () => {
    const cases = [...independentCalls({ calls: 60, lanes: 2, seed: 3, latencyMs: 900 })].map(({ calls }) => ({
      calls: [...calls, ...calls, ...calls],
      expected: 3,
    }));
    const lanes = ['a', 'b'].map((key) => ({ spec: { key: laneKey(key), limits: { rpm: 600 } }, server: {} }));
    const open = new Map<number, number>();
    const ended = new Map<number, number>();
    simulate({
      lanes,
      cases,
      scheduler: { events: true },
      watch: (command, now) => {
        if (command.type !== 'event') return;
        const { event } = command;
        if (event.type === 'call-start') {
          expect(open.get(event.index) ?? 0).toBe(0);
          expect(now).toBeGreaterThanOrEqual(ended.get(event.index) ?? 0);
          open.set(event.index, 1);
        }
        if (event.type === 'call-end') {
          open.set(event.index, 0);
          ended.set(event.index, now);
        }
      },
    });
    expect(ended.size).toBe(60);
  });
});

describe("R5: one provider's outage never delays another", () => {
  const laneCount = 50;
  const play = (failing: number): string => {
    const starts: number[] = [];
    const lanes = Array.from({ length: laneCount }, (_, lane) => ({
      spec: { key: laneKey(`lane-${lane}`) },
      server: { requests: { perMinute: 300, capacity: 10 }, headers: 'consistent' as const, retryAfter: true },
      ...(lane > 0 && lane <= failing ? { fault: () => ({ type: 'retry' as const }) } : {}),
    }));
    simulate({
      lanes,
      cases: independentCalls({ calls: 2_000, lanes: laneCount, seed: 5, latencyMs: 800 }),
      watch: (command, now) => {
        if (command.type === 'start' && command.lane === 'lane-0') starts.push(now);
      },
    });
    return starts.join();
  };

  it('fifty lanes with 1, 10 or 49 of them failing: the healthy one starts at the very same times', () => {
    const healthy = play(0);
    expect(healthy.split(',')).toHaveLength(40);
    for (const failing of [1, 10, 49]) expect(play(failing)).toBe(healthy);
  });
});

describe('R7: never above a known request limit', () => {
  it('20,000 calls against servers with headers of every style: never a start before a server-given time', () => {
    const gates = new Map<string, number>();
    let early = 0;
    let gated = 0;
    const styles = ['consistent', 'per-minute', 'rounded', 'none'] as const;
    simulate({
      lanes: Array.from({ length: 8 }, (_, lane) => ({
        spec: { key: laneKey(`lane-${lane}`) },
        server: {
          requests: { perMinute: 1_200, capacity: 5 + lane },
          headers: styles[lane % 4] ?? 'none',
          retryAfter: lane < 6,
        },
      })),
      cases: independentCalls({ calls: 20_000, lanes: 8, seed: 9, latencyMs: 700 }),
      ahead: 64,
      scheduler: { events: true },
      watch: (command, now) => {
        if (command.type === 'event' && command.event.type === 'lane-block') {
          gated += 1;
          gates.set(command.event.lane, Math.max(gates.get(command.event.lane) ?? 0, command.event.until));
        }
        if (command.type === 'start' && now < (gates.get(command.lane) ?? 0)) early += 1;
      },
    });
    expect(gated).toBeGreaterThan(0);
    expect(early).toBe(0);
  });
});
