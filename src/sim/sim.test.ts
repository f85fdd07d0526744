import { describe, expect, it } from 'vitest';
import { laneKey } from '../domain/ids.ts';
import { SeededRandom } from '../domain/seeded-random.ts';
import { lowerBound } from './bound.ts';
import { simulationReport } from './report.ts';
import { ServerModel } from './server-model.ts';
import { simulate } from './simulate.ts';
import { VirtualClock } from './virtual-clock.ts';
import { conversations, gradedCalls, type SimCase } from './workload.ts';

const small = { input: 10, output: 5, maxOutput: 100 };

describe('the virtual clock', () => {
  it('fires timers in order of time, then of setting, and stands still in between', () => {
    const clock = new VirtualClock(100);
    const fired: string[] = [];
    clock.at(300, () => fired.push(`late ${clock.now()}`));
    clock.at(200, () => fired.push(`early ${clock.now()}`));
    clock.at(200, () => fired.push('early too'));
    const cancel = clock.at(250, () => fired.push('never'));
    cancel();
    expect(clock.now()).toBe(100);
    clock.advanceTo(400);
    expect(fired).toEqual(['early 200', 'early too', 'late 300']);
    expect(clock.now()).toBe(400);
  });
});

describe('seeded randomness', () => {
  it('gives the same numbers for the same seed, and a lognormal with the median asked for', () => {
    const draw = (seed: number) => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 4_001 }, () => random.lognormal(7, 0.7)).sort((a, b) => a - b);
    };
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
    expect(draw(3)[2_000]).toBeGreaterThan(6.5);
    expect(draw(3)[2_000]).toBeLessThan(7.5);
  });
});

describe('server models', () => {
  const admit = (server: ServerModel, now: number) => server.arrive(small, 0, now);

  it('a token bucket admits its capacity at once and then its rate', () => {
    const server = new ServerModel({ requests: { perMinute: 60, capacity: 3 }, headers: 'consistent' });
    expect([0, 0, 0, 0, 999, 1_000].map((now) => admit(server, now).accepted)).toEqual([
      true,
      true,
      true,
      false,
      false,
      true,
    ]);
  });

  it('headers are consistent with the bucket, and Retry-After is when one fits again', () => {
    const server = new ServerModel({ requests: { perMinute: 60, capacity: 3 }, headers: 'consistent' });
    expect(admit(server, 0).hints.readings).toEqual([{ resource: 'requests', limit: 3, remaining: 2, resetMs: 1_000 }]);
    admit(server, 0);
    admit(server, 0);
    expect(admit(server, 400)).toMatchObject({ accepted: false, resource: 'requests', retryAfterMs: 600 });
  });

  it('a fixed window refills all at once at its end, wherever its phase puts that', () => {
    const server = new ServerModel({ requests: { perMinute: 60, capacity: 2, fixedWindowMs: 1_000, phaseMs: 300 } });
    expect([0, 0, 600, 700, 700, 701].map((now) => admit(server, now).accepted)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ]);
  });

  it('a quantised bucket refills in steps', () => {
    const server = new ServerModel({ requests: { perMinute: 60, capacity: 1, quantumMs: 5_000 } });
    expect([0, 4_999, 5_000].map((now) => admit(server, now).accepted)).toEqual([true, false, true]);
  });

  it('reserve-and-refund takes max_tokens and gives back the rest; counting real use takes output at the end', () => {
    const reserve = new ServerModel({ tokens: { perMinute: 60, capacity: 200, rule: 'reserve' } });
    expect([admit(reserve, 0).accepted, admit(reserve, 0).accepted]).toEqual([true, false]);
    reserve.complete(small, 0);
    expect(admit(reserve, 0).accepted).toBe(true);
    const real = new ServerModel({ tokens: { perMinute: 60, capacity: 15, rule: 'real' } });
    expect(admit(real, 0).accepted).toBe(true);
    real.complete(small, 0);
    expect(admit(real, 0).accepted).toBe(false);
  });

  it('a concurrency cap, a day budget and a silent queue', () => {
    const cap = new ServerModel({ maxConcurrent: 1 });
    expect([admit(cap, 0).accepted, admit(cap, 0).accepted]).toEqual([true, false]);
    cap.complete(small, 5);
    expect(admit(cap, 5).accepted).toBe(true);
    const day = new ServerModel({ perDay: 1 });
    expect([0, 1, 86_400_000].map((now) => admit(day, now).accepted)).toEqual([true, false, true]);
    const queue = new ServerModel({ silentQueue: 1 });
    expect(queue.arrive(small, 1_000, 0)).toMatchObject({ accepted: true, extraLatencyMs: 0 });
    expect(queue.arrive(small, 1_000, 200)).toMatchObject({ accepted: true, extraLatencyMs: 800 });
  });

  it('rejections that cost quota, a neighbour, and limits that change on the way', () => {
    const costly = new ServerModel({ requests: { perMinute: 60, capacity: 1 }, rejectionsCost: true });
    expect([0, 900, 1_000].map((now) => admit(costly, now).accepted)).toEqual([true, false, false]);
    const shared = new ServerModel({
      requests: { perMinute: 60, capacity: 1 },
      neighbour: { fromMs: 0, untilMs: 10_000, share: 0.5 },
    });
    expect([0, 1_500, 2_000].map((now) => admit(shared, now).accepted)).toEqual([true, false, true]);
    const changed = new ServerModel({
      requests: { perMinute: 60, capacity: 1 },
      changes: [{ atMs: 1_000, factor: 0.1 }],
    });
    expect([0, 1_000, 2_000, 11_000].map((now) => admit(changed, now).accepted)).toEqual([true, true, false, true]);
  });
});

describe('the lower bound', () => {
  const one = (latencyMs: number, lane = 0): SimCase => ({
    calls: [{ lane, latencyMs, input: 10, output: 0, maxOutput: 0, gapMs: 0 }],
    expected: 1,
  });

  it('is (N - B) / rate + p for equal independent calls', () => {
    const cases = Array.from({ length: 100 }, () => one(500));
    expect(lowerBound(cases, [{ requests: { perMinute: 60, capacity: 10 } }], ['lane']).ms).toBeCloseTo(90_500, 6);
  });

  it('is the longest case when limits do not bind', () => {
    expect(lowerBound([one(500), one(9_000)], [{}], ['lane'])).toEqual({ ms: 9_000, term: 'longest case' });
  });

  it('counts windows when the server does', () => {
    const cases = Array.from({ length: 25 }, () => one(100));
    const server = { requests: { perMinute: 600, capacity: 10, fixedWindowMs: 1_000, phaseMs: 400 } };
    expect(lowerBound(cases, [server], ['lane']).ms).toBeCloseTo(2 * 1_000 - 400 + 100, 6);
  });

  it('is never above what any simulated run needs, on servers of every kind', () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = new SeededRandom(seed);
      const server = {
        requests: {
          perMinute: 300 + random.below(2_000),
          capacity: 1 + random.below(200),
          ...(seed % 3 === 0 ? { fixedWindowMs: 10_000, phaseMs: random.below(10_000) } : {}),
        },
        ...(seed % 2 === 0 ? { tokens: { perMinute: 300_000, capacity: 60_000, rule: 'real' as const } } : {}),
        ...(seed % 4 === 0 ? { neighbour: { fromMs: 5_000, untilMs: 30_000, share: 0.5 } } : {}),
        headers: 'consistent' as const,
      };
      const cases = conversations({ cases: 40, seed, agentLane: 0, clientLane: 1, forecastSigma: 0.6 });
      const lanes = ['a', 'b'].map((key) => ({ spec: { key: laneKey(key) }, server }));
      const result = simulate({ lanes, cases });
      expect(result.ends.ok).toBe(cases.reduce((sum, each) => sum + each.calls.length, 0));
      expect(lowerBound(cases, [server, server], ['a', 'b']).ms).toBeLessThanOrEqual(result.makespanMs + 1e-6);
    }
  });
});

describe('the report', () => {
  it('tells where the time went, and the parts add up to the makespan', () => {
    const cases = conversations({ cases: 120, seed: 4, agentLane: 0, clientLane: 1, forecastSigma: 0.6 });
    const server = { requests: { perMinute: 300, capacity: 5 }, headers: 'none', retryAfter: false } as const;
    const lanes = ['a', 'b'].map((key) => ({ spec: { key: laneKey(key) }, server }));
    const report = simulationReport({ lanes, cases });
    const { atPace, ramp, rejected, userCap, idle, drain } = report.timeMs;
    expect(atPace + ramp + rejected + userCap + idle + drain).toBeCloseTo(report.makespanMs, 3);
    expect(report.efficiency).toBeCloseTo(report.boundMs / report.makespanMs, 9);
    expect(report.bindingTerm).toMatch(/requests|longest case/);
    expect(report.rejections).toBeGreaterThan(0);
    for (const part of [atPace, ramp, rejected, drain]) expect(part).toBeGreaterThan(0);
  });
});

describe('L10: close to the physical limit (a small grid; the whole one is `bench lanes`)', () => {
  const headers = { headers: 'consistent', retryAfter: true } as const;

  it('conversations over two declared lanes', () => {
    const cases = conversations({ cases: 1_000, seed: 1, agentLane: 0, clientLane: 1, forecastSigma: 0.6 });
    const server = { requests: { perMinute: 600, capacity: 10 }, ...headers };
    const result = simulate({
      lanes: ['a', 'b'].map((key) => ({ spec: { key: laneKey(key), limits: { rpm: 600 } }, server })),
      cases,
    });
    expect(result.rejections).toBe(0);
    expect(lowerBound(cases, [server, server], ['a', 'b']).ms / result.makespanMs).toBeGreaterThan(0.9);
  });

  it('independent calls with graders on another lane, nothing declared: no rejection', () => {
    const cases = gradedCalls({ cases: 1_500, seed: 2, lane: 0, graderLane: 1 });
    const servers = [600, 400].map((perMinute) => ({ requests: { perMinute, capacity: 10 }, ...headers }));
    const result = simulate({
      lanes: servers.map((server, at) => ({ spec: { key: laneKey(`lane-${at}`) }, server })),
      cases,
    });
    expect(result.rejections).toBe(0);
    expect(lowerBound(cases, servers, ['a', 'b']).ms / result.makespanMs).toBeGreaterThan(0.93);
  });

  it('no headers and no Retry-After: finds the rate by itself', () => {
    const cases = gradedCalls({ cases: 3_000, seed: 2, lane: 0, graderLane: 1 });
    const server = { requests: { perMinute: 600, capacity: 10 }, headers: 'none', retryAfter: false } as const;
    const result = simulate({ lanes: ['a', 'b'].map((key) => ({ spec: { key: laneKey(key) }, server })), cases });
    expect(lowerBound(cases, [server, server], ['a', 'b']).ms / result.makespanMs).toBeGreaterThan(0.88);
    expect(result.rejections).toBeLessThan(100);
  });
});
