import { describe, expect, it } from 'vitest';
import { conversationCase, echoProvider, hostOf, promptCase, reply } from '../../test/support/run-harness.ts';
import { letTimePass, untilKept } from '../../test/support/wire-clock.ts';
import type { Case } from '../domain/case.ts';
import type { LaneLimits } from '../domain/lane.ts';
import type { Outcome, ProviderFailure } from '../domain/reply.ts';
import type { RunEfficiency, TimeSpent } from '../domain/run-efficiency.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { createSimProvider } from '../providers/sim/sim-provider.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { openStore } from '../store/open-store.ts';
import { Lanes } from './lanes.ts';
import { RunMeter } from './run-meter.ts';
import { type RunHost, runPlan } from './run-plan.ts';
import type { StepEnd } from './step.ts';

const waits = (clock: VirtualClock, ms: number, outcome: Outcome): Promise<Outcome> =>
  new Promise((resolve) => clock.at(clock.now() + ms, () => resolve(outcome)));

async function measured(
  cases: readonly Case[],
  limits: LaneLimits,
  answer: (clock: VirtualClock, name: string) => Promise<Outcome> = (clock) => waits(clock, 500, reply('a:b')),
  more: (clock: VirtualClock) => Partial<RunHost> = () => ({}),
): Promise<RunEfficiency> {
  const clock = new VirtualClock(1_000);
  const store = await openStore({ at: ':memory:' });
  const events: RunEvent[] = [];
  const host = hostOf(store, {
    clock,
    provider: (name) => echoProvider(name, () => answer(clock, name)),
    lanes: ({ onEvent }) => new Lanes({ clock, onEvent, limits: () => limits }),
    observers: [(event) => events.push(event)],
    ...more(clock),
  });
  const outcome = await letTimePass(clock, untilKept(store), () =>
    runPlan({ name: 'test', snapshot: {}, cases }, host),
  );
  const { efficiency } = outcome;
  if (efficiency === undefined) throw new Error('nothing was measured');
  // The same figures everywhere: to the caller, to every observer, in the store.
  expect(events.at(-1)).toMatchObject({ type: 'run-end', efficiency });
  expect((await (await store.openRun(outcome.run))?.record())?.efficiency).toEqual(efficiency);
  await store.close();
  return efficiency;
}

const prompts = (count: number, extra: Parameters<typeof promptCase>[1] = {}): Case[] =>
  Array.from({ length: count }, (_, index) => promptCase(index, extra));
const timeOf = ({ lanes, decidingLane }: RunEfficiency): TimeSpent => {
  const found = lanes.find(({ lane }) => lane === decidingLane);
  if (found === undefined) throw new Error('the deciding lane is not among the lanes');
  return found.timeMs;
};
const none: TimeSpent = { atPace: 0, ramp: 0, rejected: 0, userCap: 0, idle: 0, drain: 0 };

describe('how close a run came to the least possible time', () => {
  it('a declared pace that is kept is all there is to have', async () => {
    const told = await measured(prompts(20), { rpm: 600 });
    expect(told).toMatchObject({ makespanMs: 2_400, boundMs: 2_400, efficiency: 1 });
    expect(told).toMatchObject({ bindingTerm: 'requests', bindingLimit: 'a', decidingLane: 'a' });
    expect(timeOf(told)).toEqual({ ...none, atPace: 1_900, drain: 500 });
  });

  it('a cap on calls in flight binds by the time the calls take', async () => {
    const told = await measured(prompts(10), { maxConcurrent: 2 });
    expect(told).toMatchObject({ makespanMs: 2_500, boundMs: 2_500, bindingTerm: 'concurrency', bindingLimit: 'a' });
    expect(timeOf(told)).toEqual({ ...none, userCap: 2_000, drain: 500 });
  });

  it('a lane that feels its way spends its time on the ramp, and the longest case is the bound', async () => {
    const told = await measured(prompts(20), {});
    expect(told).toMatchObject({ boundMs: 500, bindingTerm: 'longest-case' });
    expect(told.bindingLimit).toBeUndefined();
    expect(timeOf(told).ramp).toBeGreaterThanOrEqual(500);
    expect(told.efficiency).toBeCloseTo(500 / told.makespanMs, 9);
  });

  it('a rejection without a limit told is time lost, and the bound says that it does not know the limit', async () => {
    const rejected: ProviderFailure = {
      kind: 'failure',
      code: 'rate_limited',
      message: 'slow down',
      retryable: true,
      billed: 'no',
      hints: { readings: [], retryAfterMs: 4_000 },
    };
    let requests = 0;
    const told = await measured(prompts(8), {}, (clock) => {
      requests += 1;
      return waits(clock, 100, requests === 3 ? rejected : reply('a:b'));
    });
    expect(told.lanes[0]).toMatchObject({ calls: 8, limitUnknown: true });
    expect(timeOf(told).rejected).toBeGreaterThanOrEqual(3_900);
    expect(told.bindingTerm).toBe('longest-case');
  });

  it('turns and tools of a conversation follow each other; parallel ones stand beside each other', async () => {
    // Per turn agent 500 and client 500; two judges beside each other 500: 2 turns take 2,500 at least.
    const told = await measured([conversationCase(0, 2, 2)], {});
    expect(told).toMatchObject({ boundMs: 2_500, bindingTerm: 'longest-case', decidingLane: 'b' });
    expect(told.makespanMs).toBe(2_500);
    // Spaced by 10 ms the two judges cannot start together, and nobody could have done better.
    expect(await measured([conversationCase(0, 2, 2)], { rpm: 6_000 })).toMatchObject({
      makespanMs: 2_510,
      boundMs: 2_510,
      bindingTerm: 'requests',
    });
  });

  it('cases that must run one by one are a bound of their own', async () => {
    const told = await measured(prompts(4, { serial: true }), { rpm: 60_000 });
    expect(told).toMatchObject({ makespanMs: 2_000, boundMs: 2_000, efficiency: 1, bindingTerm: 'one-by-one' });
  });

  it('a limit that several lanes share counts the calls of all of them', async () => {
    const cases = prompts(20).map(
      (one, index): Case => ({
        ...one,
        column: { position: index % 2, provider: index % 2 === 0 ? 'a' : 'b', prompt: 'q' },
      }),
    );
    const told = await measured(cases, {}, undefined, (clock) => ({
      lanes: ({ onEvent }) => new Lanes({ clock, onEvent, limits: () => ({ rpm: 600, group: 'account' }) }),
    }));
    expect(told).toMatchObject({ boundMs: 2_400, bindingTerm: 'requests', bindingLimit: 'group:account' });
  });

  it('a limit that a provider tells is used for the bound', async () => {
    const told = await measured(prompts(60), {}, undefined, (clock) => ({
      provider: () => createSimProvider({ id: 'sim:fast?rpm=600&burst=10&latency=300ms&seed=1' }, clock),
    }));
    // 50 of the 60 have to wait for a tenth of a second each.
    expect(told.bindingTerm).toBe('requests');
    expect(told.boundMs).toBeGreaterThan(5_000);
    expect(told.boundMs).toBeLessThan(5_600);
    expect(told.efficiency).toBeGreaterThan(0.7);
  });

  it('the parts of every lane add up to the time the run took', async () => {
    const cases = [...prompts(12), conversationCase(12, 3, 1), conversationCase(13, 2, 0)];
    const told = await measured(cases, { rpm: 1_200 });
    expect(told.lanes.map(({ lane }) => lane).sort()).toEqual(['a', 'b']);
    for (const { timeMs } of told.lanes) {
      const sum = Object.values(timeMs).reduce((all, part) => all + part, 0);
      expect(sum).toBeCloseTo(told.makespanMs, 6);
    }
  });
});

describe('what is noted of a call', () => {
  const provider = echoProvider('a');
  const step = (startedAt: number, latencyMs: number, more: Partial<StepEnd> = {}): StepEnd => ({
    kind: 'model',
    replayed: false,
    answer: {
      path: `${startedAt}`,
      send: 1,
      kind: 'model',
      requestHash: '',
      value: null,
      provider: 'a',
      costUsdMicros: 0,
      billing: 'once',
      times: { startedAt, endedAt: startedAt + latencyMs, queueMs: 0, backoffMs: 0, latencyMs, attempts: 1 },
    },
    ...more,
  });
  const facts = { limits: [], lanes: [{ lane: provider.laneKey, timeMs: none, rejections: 0 }] };

  it('nothing of what was replayed, and nothing of what a cache gave', () => {
    const meter = new RunMeter(() => provider);
    const one = meter.case(false);
    one.add(step(0, 500, { replayed: true }));
    const hit = step(500, 0);
    one.add({ ...hit, answer: { ...hit.answer, times: { ...hit.answer.times, attempts: 0 } } });
    one.close();
    expect(meter.tell(facts, 1_000)).toBeUndefined();
  });

  it('four numbers, and above 100,000 calls of a lane only sums: then it says so', () => {
    const meter = new RunMeter(() => provider);
    const limits = [
      {
        key: provider.laneKey,
        lanes: [provider.laneKey],
        maxConcurrent: Number.POSITIVE_INFINITY,
        rates: [{ resource: 'requests', perMs: 1, credit: 0 } as const],
      },
    ];
    for (let index = 0; index <= 100_000; index += 1) {
      const one = meter.case(false);
      one.add(step(0, 500));
      one.close();
    }
    expect(meter.tell({ ...facts, limits }, 400_000)).toMatchObject({
      boundMs: 100_500,
      bindingTerm: 'requests',
      simplified: true,
    });
  });
});
