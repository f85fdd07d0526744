import { describe, expect, it } from 'vitest';
import { caseIndex, laneKey } from '../domain/ids.ts';
import type { LaneEvent } from '../domain/lane.ts';
import type { Outcome, ProviderFailure, RateHints, Reply } from '../domain/reply.ts';
import { realClock } from '../platform/clock.ts';
import { createSimProvider } from '../providers/sim/sim-provider.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { Lanes } from './lanes.ts';
import type { LaneCall } from './model-lanes.ts';

const lane = laneKey('lane');
const reply: Reply = {
  kind: 'reply',
  text: 'hi',
  output: 'hi',
  toolCalls: [],
  finishReason: 'stop',
  status: 200,
  raw: '',
  flags: [],
  cached: false,
};
const failure = (code: ProviderFailure['code'], more: Partial<ProviderFailure> = {}): ProviderFailure => ({
  kind: 'failure',
  code,
  message: code,
  retryable: ['rate_limited', 'transient', 'overloaded', 'timeout'].includes(code),
  billed: 'no',
  ...more,
});

const call = (perform: LaneCall['perform'], more: Partial<LaneCall> = {}): LaneCall => ({
  lane,
  index: caseIndex(0),
  path: 'call',
  estimate: { input: 10, output: 10 },
  expectedCalls: 1,
  made: 0,
  perform,
  ...more,
});

/** Lanes on a virtual clock, with a loop that lets promises run between timers. */
function rig() {
  const clock = new VirtualClock();
  const events: LaneEvent[] = [];
  const lanes = new Lanes({ clock, onEvent: (event) => events.push(event) });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let done = false;
    const watched = promise.finally(() => {
      done = true;
    });
    await settle();
    while (!done && clock.step()) await settle();
    return watched;
  };
  return { clock, lanes, events, run, settle };
}

const answerAfter = (clock: VirtualClock, ms: number, outcome: Outcome): Promise<Outcome> =>
  new Promise((resolve) => clock.at(clock.now() + ms, () => resolve(outcome)));

describe('the driver', () => {
  it('resolves with the outcome and tells queue, back-off and provider time apart', async () => {
    const { clock, lanes, run } = rig();
    lanes.openLane({ key: lane, limits: { rpm: 60 } });
    const outcomes: Outcome[] = [failure('rate_limited', { hints: { readings: [], retryAfterMs: 5_000 } }), reply];
    const first = lanes.submit(call(() => answerAfter(clock, 100, reply)));
    const second = lanes.submit(
      call(() => answerAfter(clock, 200, outcomes.shift() ?? reply), { index: caseIndex(1) }),
    );
    expect((await run(first)).times).toMatchObject({ queueMs: 0, backoffMs: 0, latencyMs: 100, attempts: 1 });
    const { outcome, times } = await run(second);
    expect(outcome).toBe(reply);
    expect(times).toMatchObject({ queueMs: 1_000, latencyMs: 200, attempts: 2 });
    expect(times.backoffMs).toBeGreaterThanOrEqual(5_000);
  });

  it('a retry-after of 30 days neither fires early nor loops', async () => {
    const { clock, lanes, settle } = rig();
    lanes.openLane({ key: lane });
    let requests = 0;
    const wait = 30 * 86_400_000;
    const result = lanes.submit(
      call(async () => {
        requests += 1;
        return requests === 1 ? failure('rate_limited', { hints: { readings: [], retryAfterMs: wait } }) : reply;
      }),
    );
    await settle();
    clock.advanceTo(wait - 1);
    await settle();
    expect(requests).toBe(1);
    expect(lanes.stalledUntil()).toBe(wait);
    clock.advanceTo(wait + 10_000);
    await settle();
    expect(requests).toBe(2);
    expect((await result).outcome).toBe(reply);
  });

  it('on the real clock a timer 30 days away does not fire at once', async () => {
    let fired = 0;
    const cancel = realClock.at(Date.now() + 30 * 86_400_000, () => {
      fired += 1;
    });
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    expect(fired).toBe(0);
  });

  it('hears the response head before the body', async () => {
    const { clock, lanes, run } = rig();
    lanes.openLane({ key: lane });
    const hints: RateHints = { readings: [{ resource: 'requests', limit: 500, remaining: 499, resetMs: 120 }] };
    const result = lanes.submit(
      call(async (_signal, onHead) => {
        onHead(hints);
        expect(lanes.snapshot()[0]?.rpm).toBeCloseTo(500, 6);
        return answerAfter(clock, 10, { ...reply, hints });
      }),
    );
    await run(result);
    expect(lanes.learned(lane)).toHaveLength(1);
  });

  it('a transient failure is tried again up to maxRetries, and the last failure is what comes back', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane, limits: { maxRetries: 2 } });
    let requests = 0;
    const result = await run(
      lanes.submit(
        call(async () => {
          requests += 1;
          return failure('transient', { message: `try ${requests}` });
        }),
      ),
    );
    expect(requests).toBe(3);
    expect(result.outcome).toMatchObject({ code: 'transient', message: 'try 3' });
    expect(result.times.attempts).toBe(3);
  });

  it('a failure that says it is final is not tried again', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane });
    const result = await run(lanes.submit(call(async () => failure('overloaded', { retryable: false }))));
    expect(result.times.attempts).toBe(1);
  });

  it('a key error closes the lane: everything left in it ends with that error and sends nothing', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane, limits: { maxConcurrent: 1 } });
    let requests = 0;
    const perform = async (): Promise<Outcome> => {
      requests += 1;
      return failure('auth', { message: 'no such key' });
    };
    const results = await run(
      Promise.all([0, 1, 2].map((index) => lanes.submit(call(perform, { index: caseIndex(index) })))),
    );
    expect(requests).toBe(1);
    for (const { outcome } of results) expect(outcome).toMatchObject({ code: 'auth', message: 'no such key' });
    expect(results[2]?.times.attempts).toBe(0);
  });

  it('abort cancels what is in flight through its signal and ends what waits', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane, limits: { maxConcurrent: 1 } });
    const perform: LaneCall['perform'] = (signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(failure('aborted'))));
    const both = Promise.all([0, 1].map((index) => lanes.submit(call(perform, { index: caseIndex(index) }))));
    lanes.abort();
    for (const { outcome } of await run(both)) expect(outcome).toMatchObject({ code: 'aborted' });
    await expect(lanes.submit(call(perform))).rejects.toMatchObject({ code: 'lanes/stopped' });
  });

  it('after shutdown no timer is left and a call is refused with what to do', async () => {
    const { clock, lanes, run } = rig();
    lanes.openLane({ key: lane, limits: { rpm: 1 } });
    const results = Promise.all(
      [0, 1].map((index) => lanes.submit(call(async () => reply, { index: caseIndex(index) }))),
    );
    lanes.shutdown();
    await run(results);
    expect(clock.next()).toBeUndefined();
    await expect(lanes.submit(call(async () => reply))).rejects.toThrow(/shutdown.*Open new lanes/);
  });

  it('a provider that throws ends its own call only', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane });
    const thrown = lanes.submit(
      call(() => {
        throw new Error('boom');
      }),
    );
    const fine = lanes.submit(call(async () => reply, { index: caseIndex(1) }));
    expect((await run(thrown)).outcome).toMatchObject({
      kind: 'failure',
      code: 'program',
      message: expect.stringContaining('boom'),
    });
    expect((await run(fine)).outcome).toBe(reply);
  });

  it('an unknown lane is refused, with the lanes there are', async () => {
    const { lanes } = rig();
    lanes.openLane({ key: lane });
    await expect(lanes.submit(call(async () => reply, { lane: laneKey('nowhere') }))).rejects.toMatchObject({
      code: 'lanes/unknown-lane',
    });
  });

  it('tells calls that grade a case from those of the case itself', async () => {
    const { lanes, events, run } = rig();
    lanes.openLane({ key: lane });
    for (const path of ['1/agent/0', 'grade/judge/1', 'compare/grade/0/0'])
      await run(lanes.submit({ ...call(async () => reply), path }));
    const queued = events.filter((event) => event.type === 'call-queue');
    expect(queued.map(({ closing }) => closing)).toEqual([undefined, true, true]);
  });

  it('pause, resume and retune act on a running lane, and every event is told', async () => {
    const { lanes, events, run, settle } = rig();
    lanes.openLane({ key: lane });
    lanes.pause(lane);
    const result = lanes.submit(call(async () => reply));
    await settle();
    expect(lanes.snapshot()[0]?.cause).toEqual({ kind: 'paused' });
    lanes.retune(lane, { rpm: 30 });
    lanes.resume(lane);
    await run(result);
    expect(lanes.snapshot()[0]?.rpm).toBeCloseTo(30, 9);
    expect(events.map((event) => event.type)).toEqual([
      'lane-pause',
      'call-queue',
      'lane-resume',
      'call-start',
      'call-end',
    ]);
  });

  it('serial cases hold the gate from open to close', async () => {
    const { lanes, run } = rig();
    lanes.openLane({ key: lane });
    const order: number[] = [];
    for (const index of [0, 1]) lanes.openCase(caseIndex(index), 'gate');
    const submit = (index: number) =>
      lanes.submit(
        call(
          async () => {
            order.push(index);
            return reply;
          },
          { index: caseIndex(index) },
        ),
      );
    const second = submit(1);
    await run(submit(0));
    expect(order).toEqual([0]);
    lanes.closeCase(caseIndex(0));
    await run(second);
    expect(order).toEqual([0, 1]);
  });

  it('lanes of one group share its limits, also when they are of different providers', async () => {
    const clock = new VirtualClock();
    const lanes = new Lanes({ clock, limits: () => ({ rpm: 60, group: 'my-account' }) });
    const starts: number[] = [];
    const providers = ['a', 'b'].map((name) =>
      createSimProvider({ id: `sim:instant?seed=${name === 'a' ? 1 : 2}` }, clock),
    );
    const calls = providers.map((provider, index) => {
      lanes.open(provider);
      const perform = async (): Promise<Outcome> => {
        starts.push(clock.now());
        return reply;
      };
      return lanes.submit(call(perform, { lane: provider.laneKey, index: caseIndex(index) }));
    });
    for (let step = 0; step < 20; step += 1) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      clock.step();
    }
    await Promise.all(calls);
    expect(starts).toEqual([0, 1_000]);
  });
});
