/** The plan's demands, one by one: each has a test of its name. */
import { describe, expect, it } from 'vitest';
import { caseIndex, laneKey } from '../domain/ids.ts';
import type { LaneEvent, LaneLimits } from '../domain/lane.ts';
import type { LaneSpec } from './lane-state.ts';
import type { AttemptResult, CallEnd, Command } from './messages.ts';
import type { CallInput } from './queued-call.ts';
import { Scheduler, type SchedulerOptions } from './scheduler.ts';

/** A scheduler with somebody who writes down what it says and fires its timers. */
class Desk {
  readonly scheduler: Scheduler;
  readonly starts: { readonly call: number; readonly lane: string; readonly at: number }[] = [];
  readonly ends = new Map<number, CallEnd>();
  readonly cancelled: number[] = [];
  readonly events: LaneEvent[] = [];
  private readonly timers = new Map<string, number>();
  private nextId = 0;
  now = 0;

  constructor(options: SchedulerOptions = {}) {
    this.scheduler = new Scheduler({ events: true, ...options });
  }

  open(name: string, limits: LaneLimits = {}, more: Partial<LaneSpec> = {}): void {
    this.tell({ type: 'open', lane: { key: laneKey(name), limits, ...more } });
  }

  submit(name: string, more: Partial<CallInput> = {}): number {
    const id = this.nextId++;
    this.tell({ type: 'submit', lane: laneKey(name), call: { id, index: caseIndex(id), path: 'call', ...more } });
    return id;
  }

  end(call: number, result: AttemptResult = { type: 'ok' }): void {
    this.tell({ type: 'end', call, result });
  }

  tell(event: Parameters<Scheduler['handle']>[0]): void {
    this.obey(this.scheduler.handle(event, this.now));
  }

  /** Moves on to `at`, firing the timers on the way. */
  until(at: number): void {
    for (;;) {
      const due = [...this.timers].filter(([, time]) => time <= at).sort((a, b) => a[1] - b[1])[0];
      if (due === undefined) break;
      this.timers.delete(due[0]);
      this.now = Math.max(this.now, due[1]);
      this.tell({ type: 'timer', lane: laneKey(due[0]) });
    }
    this.now = at;
  }

  startsOf(lane: string): number[] {
    return this.starts.filter((start) => start.lane === lane).map((start) => start.at);
  }

  snapshot(lane: string) {
    const found = this.scheduler.snapshot(this.now).find((each) => each.key === lane);
    if (found === undefined) throw new Error(`no lane ${lane}`);
    return found;
  }

  private obey(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type === 'start') this.starts.push({ call: command.call, lane: command.lane, at: this.now });
      if (command.type === 'finish') {
        expect(this.ends.has(command.call)).toBe(false);
        this.ends.set(command.call, command.end);
      }
      if (command.type === 'cancel') this.cancelled.push(command.call);
      if (command.type === 'event') this.events.push(command.event);
      if (command.type !== 'timer') continue;
      if (command.at === undefined) this.timers.delete(command.lane);
      else this.timers.set(command.lane, command.at);
    }
  }
}

describe('tasks start per lane without cross-lane blocking', () => {
  it('tells with the end of a call what the provider counted for it', () => {
    const desk = new Desk();
    desk.open('a');
    const [told, silent] = [desk.submit('a'), desk.submit('a')];
    desk.end(told, { type: 'ok', usage: { inputTokens: 7, outputTokens: 3 } });
    desk.end(silent);
    const ends = desk.events.filter((event) => event.type === 'call-end');
    expect(ends.map((event) => event.usage)).toEqual([{ inputTokens: 7, outputTokens: 3 }, undefined]);
  });

  it('a lane that was told to wait does not hold another one', () => {
    const desk = new Desk();
    desk.open('slow', { rpm: 60 });
    desk.open('fast', { rpm: 600 });
    const first = desk.submit('slow');
    desk.end(first, { type: 'rate-limited', retryAfterMs: 60_000 });
    for (let each = 0; each < 5; each += 1) desk.submit('fast');
    desk.until(1_000);
    expect(desk.startsOf('fast')).toEqual([0, 100, 200, 300, 400]);
    expect(desk.startsOf('slow')).toEqual([0]);
  });
});

describe('a lane respects rpm, tpm and minGapMs', () => {
  it('rpm: starts are 60000 / rpm apart', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 120 });
    for (let each = 0; each < 4; each += 1) desk.submit('lane');
    desk.until(10_000);
    expect(desk.startsOf('lane')).toEqual([0, 500, 1_000, 1_500]);
  });

  it('tpm: a start waits until the tokens of the one before are paid off', () => {
    const desk = new Desk();
    desk.open(
      'lane',
      { tpm: 60_000 },
      {
        accounting: {
          name: 'p',
          reserve: 'input+max',
          settle: 'reserved',
          cachedFactor: 1,
          outputFactor: 1,
          separate: false,
          defaultMaxTokens: 0,
        },
      },
    );
    for (const input of [2_000, 500, 100]) desk.submit('lane', { input });
    desk.until(10_000);
    expect(desk.startsOf('lane')).toEqual([0, 2_000, 2_500]);
  });

  it('input and output tokens are paced apart where the provider counts them apart', () => {
    const desk = new Desk();
    desk.open(
      'lane',
      { inputTpm: 60_000, outputTpm: 6_000 },
      {
        accounting: {
          name: 'p',
          reserve: 'input+max',
          settle: 'reserved',
          cachedFactor: 1,
          outputFactor: 1,
          separate: true,
          defaultMaxTokens: 0,
        },
      },
    );
    desk.submit('lane', { input: 1_000, maxOutput: 300 });
    desk.submit('lane', { input: 4_000, maxOutput: 10 });
    desk.submit('lane', { input: 10, maxOutput: 10 });
    desk.until(20_000);
    expect(desk.startsOf('lane')).toEqual([0, 3_000, 7_000]);
  });

  it('minGapMs: a provider delay is kept start to start, through nextReqAt, and nothing sleeps in a slot', () => {
    const desk = new Desk();
    desk.open('lane', { minGapMs: 700, maxConcurrent: 8 });
    for (let each = 0; each < 3; each += 1) desk.submit('lane');
    expect(desk.snapshot('lane').nextReqAt).toBe(700);
    desk.end(0);
    expect(desk.snapshot('lane').inFlight).toBe(0);
    desk.until(5_000);
    expect(desk.startsOf('lane')).toEqual([0, 700, 1_400]);
  });

  it('tokens are settled with the real use, and a missing usage keeps the reservation', () => {
    const desk = new Desk();
    desk.open(
      'lane',
      { tpm: 60_000 },
      {
        accounting: {
          name: 'p',
          reserve: 'input+max',
          settle: 'real',
          cachedFactor: 0,
          outputFactor: 1,
          separate: false,
          defaultMaxTokens: 4_000,
        },
      },
    );
    const first = desk.submit('lane', { input: 1_000 });
    desk.submit('lane', { input: 1_000 });
    desk.until(100);
    desk.end(first, { type: 'ok', usage: { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 200 } });
    desk.until(20_000);
    expect(desk.startsOf('lane')).toEqual([0, 800]);
    desk.end(1);
    expect(desk.snapshot('lane').nextTokAt).toBe(5_800);
  });
});

describe('Retry-After blocks starts and requeues', () => {
  it('the lane is blocked until the hint, the slot is free at once, the call keeps its place', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 6_000 });
    const first = desk.submit('lane', { made: 3, expected: 9 });
    desk.submit('lane', { notBefore: 50 });
    desk.end(first, { type: 'rate-limited', retryAfterMs: 4_000 });
    expect(desk.snapshot('lane')).toMatchObject({
      inFlight: 0,
      blockedUntil: 4_000,
      queue: 2,
      cause: { kind: 'rate-limited', until: 4_000 },
    });
    desk.until(10_000);
    expect(
      desk.starts
        .slice(1)
        .map((start) => start.at)
        .every((at) => at >= 4_000),
    ).toBe(true);
    expect(desk.starts).toHaveLength(3);
    const requeue = desk.events.find((event) => event.type === 'call-requeue');
    expect(requeue).toMatchObject({ reason: 'rate-limited' });
    expect((requeue as { notBefore: number }).notBefore).toBeGreaterThanOrEqual(4_000);
  });

  it('after the hint the queue is not released at once but at the pace', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60 });
    const first = desk.submit('lane');
    for (let each = 0; each < 5; each += 1) desk.submit('lane');
    desk.end(first, { type: 'rate-limited', retryAfterMs: 10_000 });
    desk.until(13_500);
    expect(desk.startsOf('lane').length).toBeLessThanOrEqual(1 + 4);
  });

  it('a hint of 0 allows one immediate try; the second time it is not believed', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000 });
    desk.submit('lane');
    desk.end(0, { type: 'rate-limited', retryAfterMs: 0 });
    desk.until(5);
    expect(desk.startsOf('lane')).toHaveLength(2);
    desk.end(0, { type: 'rate-limited', retryAfterMs: 0 });
    expect(desk.snapshot('lane').blockedUntil).toBeGreaterThan(desk.now + 40);
  });

  it("without any hint the wait doubles from the lane's own state", () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 600 });
    desk.submit('lane');
    const waits: number[] = [];
    for (let each = 0; each < 4; each += 1) {
      desk.end(0, { type: 'rate-limited' });
      waits.push(desk.snapshot('lane').blockedUntil - desk.now);
      desk.until(desk.now + 60_000);
    }
    expect(waits).toEqual([200, 400, 800, 1_600]);
  });

  it('a rejection that names tokens gates tokens and leaves the request pace alone', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 600 });
    desk.submit('lane', { input: 10 });
    desk.end(0, { type: 'rate-limited', resource: 'tokens', retryAfterMs: 3_000 });
    expect(desk.snapshot('lane').cause).toMatchObject({ kind: 'rate-limited', resource: 'tokens' });
    expect(desk.snapshot('lane').rpm).toBeCloseTo(600, 9);
  });

  it('two counters: rate limits never use up maxRetries, and the other way round', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000, maxRetries: 1, maxRateLimited: 2 });
    const call = desk.submit('lane');
    for (const result of [
      { type: 'rate-limited', retryAfterMs: 10 },
      { type: 'retry' },
      { type: 'rate-limited', retryAfterMs: 10 },
    ] as const) {
      desk.end(call, result);
      desk.until(desk.now + 120_000);
    }
    expect(desk.ends.has(call)).toBe(false);
    desk.end(call, { type: 'rate-limited', retryAfterMs: 10 });
    expect(desk.ends.get(call)).toEqual({ type: 'exhausted', counter: 'maxRateLimited' });
    expect(desk.starts).toHaveLength(4);
  });

  it('an always rate-limited call makes exactly maxRateLimited + 1 wire requests', () => {
    const desk = new Desk();
    desk.open('lane');
    const call = desk.submit('lane');
    while (!desk.ends.has(call)) {
      desk.end(call, { type: 'rate-limited' });
      desk.until(desk.now + 600_000);
    }
    expect(desk.starts).toHaveLength(9);
  });

  it('a hint of 30 days parks the lane and starts nothing before it', () => {
    const desk = new Desk();
    const days = 30 * 86_400_000;
    desk.open('lane');
    desk.submit('lane');
    desk.end(0, { type: 'rate-limited', retryAfterMs: days });
    expect(desk.snapshot('lane').cause).toMatchObject({ kind: 'parked', until: days });
    desk.until(days - 1);
    expect(desk.starts).toHaveLength(1);
    expect(desk.scheduler.stalledUntil(desk.now)).toBe(days);
    desk.until(days + 1_000);
    expect(desk.starts).toHaveLength(2);
  });
});

describe('adaptive concurrency decreases on 429 and increases on success', () => {
  it('starts at the configured maximum and halves once per episode, not per failed call', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000, maxConcurrent: 8 });
    for (let each = 0; each < 8; each += 1) desk.submit('lane');
    desk.until(100);
    expect(desk.snapshot('lane')).toMatchObject({ inFlight: 8, maxConcurrentConfig: 8, maxConcurrentDynamic: 8 });
    for (let each = 0; each < 5; each += 1) desk.end(each, { type: 'rate-limited', retryAfterMs: 1_000 });
    expect(desk.snapshot('lane').maxConcurrentDynamic).toBe(4);
  });

  it('never goes below 1', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000, maxConcurrent: 4, maxRateLimited: 50 });
    desk.submit('lane');
    for (let each = 0; each < 6; each += 1) {
      desk.end(0, { type: 'rate-limited', retryAfterMs: 10 });
      desk.until(desk.now + 60_000);
    }
    expect(desk.snapshot('lane').maxConcurrentDynamic).toBe(1);
  });

  it('grows back on sustained success, only while the lane is saturated', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000, maxConcurrent: 8 });
    desk.submit('lane');
    desk.end(0, { type: 'rate-limited', retryAfterMs: 10 });
    desk.until(1_000);
    desk.end(0);
    for (let each = 0; each < 3; each += 1) {
      const call = desk.submit('lane');
      desk.until(desk.now + 10);
      desk.end(call);
    }
    expect(desk.snapshot('lane').maxConcurrentDynamic).toBe(4);
    for (let each = 0; each < 40; each += 1) desk.submit('lane');
    for (let at = 2_000; at < 2_200; at += 10) {
      desk.until(at);
      const running = desk.starts.map((start) => start.call).find((call) => !desk.ends.has(call));
      if (running !== undefined) desk.end(running);
    }
    expect(desk.snapshot('lane').maxConcurrentDynamic).toBe(8);
  });
});

describe('abort stops new starts and cancels in-flight tasks', () => {
  it('what waits ends as aborted, what runs is cancelled, nothing starts any more', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 600, maxConcurrent: 1 });
    const [running, waiting] = [desk.submit('lane'), desk.submit('lane')];
    desk.tell({ type: 'abort' });
    expect(desk.ends.get(waiting)).toEqual({ type: 'aborted' });
    expect(desk.cancelled).toEqual([running]);
    desk.end(running, { type: 'aborted' });
    desk.until(60_000);
    expect(desk.starts).toHaveLength(1);
    expect(desk.ends.get(running)).toEqual({ type: 'aborted' });
  });

  it('an answer that arrives after the abort is kept: it was paid for', () => {
    const desk = new Desk();
    desk.open('lane');
    const call = desk.submit('lane');
    desk.tell({ type: 'abort' });
    desk.end(call, { type: 'ok' });
    expect(desk.ends.get(call)).toEqual({ type: 'ok' });
  });

  it('back-offs are abortable too', () => {
    const desk = new Desk();
    desk.open('lane');
    const call = desk.submit('lane');
    desk.end(call, { type: 'retry' });
    desk.tell({ type: 'abort' });
    expect(desk.ends.get(call)).toEqual({ type: 'aborted' });
    expect(desk.snapshot('lane').timer).toBeUndefined();
  });

  it('cancelling one case leaves the others alone', () => {
    const desk = new Desk();
    desk.open('lane', { maxConcurrent: 1 });
    desk.submit('lane');
    const [cancelled, other] = [desk.submit('lane'), desk.submit('lane')];
    desk.tell({ type: 'cancel', index: caseIndex(cancelled) });
    desk.end(0);
    expect(desk.ends.get(cancelled)).toEqual({ type: 'aborted' });
    expect(desk.starts.map((start) => start.call)).toEqual([0, other]);
  });

  it('a case that is cancelled before it has called, or between two calls, makes no more of them', () => {
    const desk = new Desk();
    desk.open('lane');
    desk.tell({ type: 'cancel', index: caseIndex(7) });
    const late = desk.submit('lane', { index: caseIndex(7) });
    const other = desk.submit('lane', { index: caseIndex(8) });
    expect(desk.ends.get(late)).toEqual({ type: 'aborted' });
    expect(desk.starts.map((start) => start.call)).toEqual([other]);
  });
});

describe('serial order', () => {
  it('the serial phase comes first, one case at a time, in plan order; everything else waits aside', () => {
    const desk = new Desk();
    desk.open('a');
    desk.open('b');
    for (const index of [7, 3]) desk.tell({ type: 'case-open', index: caseIndex(index), serial: 'phase' });
    const free = desk.submit('b', { index: caseIndex(1) });
    const [seven, three] = [desk.submit('a', { index: caseIndex(7) }), desk.submit('b', { index: caseIndex(3) })];
    expect(desk.starts.map((start) => start.call)).toEqual([seven]);
    expect(desk.snapshot('b').cause).toEqual({ kind: 'serial-gate', heldBy: 7 });
    desk.end(seven);
    desk.tell({ type: 'case-close', index: caseIndex(7) });
    expect(desk.starts.map((start) => start.call)).toEqual([seven, three]);
    desk.end(three);
    desk.tell({ type: 'case-close', index: caseIndex(3) });
    expect(desk.starts.map((start) => start.call)).toEqual([seven, three, free]);
  });

  it('the global gate is held for the whole case, its grading included, beside what is free', () => {
    const desk = new Desk();
    desk.open('answers');
    desk.open('graders');
    for (const index of [0, 1]) desk.tell({ type: 'case-open', index: caseIndex(index), serial: 'gate' });
    const [first, second] = [0, 1].map((index) => desk.submit('answers', { index: caseIndex(index) }));
    const free = desk.submit('answers', { index: caseIndex(9) });
    expect(desk.starts.map((start) => start.call)).toEqual([first, free]);
    desk.end(first as number);
    const grader = desk.submit('graders', { index: caseIndex(0) });
    expect(desk.starts.map((start) => start.call)).toEqual([first, free, grader]);
    desk.end(grader);
    desk.tell({ type: 'case-close', index: caseIndex(0) });
    expect(desk.starts.at(-1)?.call).toBe(second);
  });
});

describe('limits above a lane', () => {
  it('a global cap is taken right before a start and given back at its end; without one there is none', () => {
    const desk = new Desk({ globalCap: 2 });
    desk.open('a');
    desk.open('b');
    for (const lane of ['a', 'a', 'b', 'b']) desk.submit(lane);
    expect(desk.starts).toHaveLength(2);
    expect(desk.snapshot('b').cause).toEqual({ kind: 'global-cap' });
    desk.end(0);
    expect(desk.starts).toHaveLength(3);
  });

  it('a call pays at every node on its path, all or nothing', () => {
    const desk = new Desk();
    const shared = [{ key: 'account', limits: { rpm: 60 } }];
    desk.open('a', { rpm: 600 }, { shared });
    desk.open('b', { rpm: 600 }, { shared });
    for (const lane of ['a', 'a', 'b', 'b']) desk.submit(lane);
    desk.until(3_500);
    const times = desk.starts.map((start) => start.at);
    expect(times).toEqual([0, 1_000, 2_000, 3_000]);
    expect(new Set(desk.starts.slice(0, 2).map((start) => start.lane)).size).toBe(2);
  });

  it('a lane whose own bucket is shut does not block its neighbour under the same account', () => {
    const desk = new Desk();
    const shared = [{ key: 'account', limits: { maxConcurrent: 4 } }];
    desk.open('shut', { rpm: 1 }, { shared });
    desk.open('open', {}, { shared });
    for (const lane of ['shut', 'shut', 'open', 'open']) desk.submit(lane);
    expect(desk.startsOf('shut')).toEqual([0]);
    expect(desk.startsOf('open')).toEqual([0, 0]);
  });
});

describe('what a person can do to a lane, and what a provider can', () => {
  it('pause holds a lane and resume lets it go on', () => {
    const desk = new Desk();
    desk.open('lane');
    desk.tell({ type: 'pause', lane: laneKey('lane') });
    desk.submit('lane');
    expect(desk.snapshot('lane').cause).toEqual({ kind: 'paused' });
    desk.tell({ type: 'resume', lane: laneKey('lane') });
    expect(desk.starts).toHaveLength(1);
  });

  it('retune changes the limits of a running lane', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60 });
    for (let each = 0; each < 3; each += 1) desk.submit('lane');
    desk.tell({ type: 'retune', lane: laneKey('lane'), limits: { rpm: 600, maxConcurrent: 2 } });
    desk.until(1_000);
    expect(desk.startsOf('lane')).toHaveLength(2);
    expect(desk.snapshot('lane')).toMatchObject({ maxConcurrentConfig: 2, rpm: 600 });
  });

  it('a daily quota parks the lane; the others go on', () => {
    const desk = new Desk();
    desk.open('daily');
    desk.open('other');
    desk.submit('daily');
    desk.submit('daily');
    desk.end(0, { type: 'park', until: 5_000_000, reason: 'daily quota' });
    desk.submit('other');
    expect(desk.startsOf('other')).toEqual([0]);
    expect(desk.snapshot('daily').cause).toEqual({ kind: 'parked', until: 5_000_000, reason: 'daily quota' });
    desk.until(5_000_001);
    expect(desk.startsOf('daily').length).toBeGreaterThan(2);
  });

  it('a key error closes that lane only: its remaining calls end with it, later ones at once', () => {
    const desk = new Desk();
    desk.open('closed', { maxConcurrent: 1 });
    desk.open('other');
    const [first, second] = [desk.submit('closed'), desk.submit('closed')];
    desk.end(first, { type: 'close', reason: 'bad key' });
    const late = desk.submit('closed');
    expect(desk.ends.get(first)).toEqual({ type: 'failed' });
    for (const call of [second, late]) expect(desk.ends.get(call)).toEqual({ type: 'lane-closed', reason: 'bad key' });
    desk.submit('other');
    expect(desk.startsOf('other')).toHaveLength(1);
  });

  it('after several transient failures in a row a lane tries one call at a time until one gets through', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60_000, maxRetries: 20 });
    for (let each = 0; each < 6; each += 1) desk.submit('lane');
    desk.until(10);
    for (let each = 0; each < 6; each += 1) desk.end(each, { type: 'retry' });
    desk.until(200_000);
    expect(desk.snapshot('lane').inFlight).toBe(1);
    const probe = desk.starts.at(-1)?.call as number;
    desk.end(probe);
    desk.until(200_100);
    expect(desk.snapshot('lane').inFlight).toBe(5);
  });
});

describe('learning', () => {
  it('starts with three probes and nothing else until a head arrives', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 10; each += 1) desk.submit('lane');
    expect(desk.starts).toHaveLength(3);
    desk.tell({
      type: 'head',
      call: 0,
      hints: { readings: [{ resource: 'requests', limit: 60, remaining: 57, resetMs: 3_000 }] },
    });
    expect(desk.snapshot('lane').rpm).toBeCloseTo(60, 6);
    desk.until(5_000);
    expect(desk.starts.length).toBeGreaterThan(3);
  });

  it('a 200 with nothing remaining paces the lane before any rejection', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 5; each += 1) desk.submit('lane');
    desk.end(0, {
      type: 'ok',
      hints: { readings: [{ resource: 'requests', limit: 3, remaining: 0, resetMs: 3_000 }] },
    });
    expect(desk.starts).toHaveLength(3);
    expect(desk.snapshot('lane').cause).toMatchObject({ kind: 'rate-limited', until: 1_000 });
    desk.until(1_001);
    expect(desk.starts.length).toBeGreaterThan(3);
  });

  it('without headers the window doubles per round trip until the first rejection, then the rate is its own', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 200; each += 1) desk.submit('lane');
    const inFlight: number[] = [];
    for (let trip = 1; trip <= 4; trip += 1) {
      desk.until(trip * 1_000);
      const running = desk.starts.map((start) => start.call).filter((call) => !desk.ends.has(call));
      for (const call of running) desk.end(call);
      inFlight.push(desk.snapshot('lane').inFlight);
    }
    expect(inFlight).toEqual([7, 14, 28, 56]);
    desk.until(5_000);
    desk.end(desk.starts.at(-1)?.call as number, { type: 'rate-limited' });
    expect(desk.snapshot('lane').rpm).toBeGreaterThan(0);
  });

  it('says that it is finding its pace, that it was cut back, or that its own places are taken', () => {
    const desk = new Desk();
    desk.open('lane', {}, { ceiling: 64 });
    for (let each = 0; each < 20; each += 1) desk.submit('lane');
    expect(desk.snapshot('lane').cause).toEqual({ kind: 'finding-pace', atOnce: 3 });
    desk.open('capped', { maxConcurrent: 2, rpm: 6_000 });
    for (let each = 0; each < 4; each += 1) desk.submit('capped');
    desk.until(100);
    expect(desk.snapshot('capped').cause).toEqual({ kind: 'concurrency' });
    const [first] = desk.starts.filter(({ lane }) => lane === 'capped');
    desk.end(first?.call as number, { type: 'rate-limited', retryAfterMs: 50 });
    desk.until(300);
    expect(desk.snapshot('capped').cause).toEqual({ kind: 'cut-back', atOnce: 1 });
  });

  it('the window stays while answers wait for our own process, and grows for a provider that is slow itself', () => {
    const inFlightAfter = (hostTurnMs: number): number => {
      const desk = new Desk();
      desk.open('lane');
      for (let each = 0; each < 200; each += 1) desk.submit('lane');
      for (let trip = 1; trip <= 4; trip += 1) {
        desk.until(trip * 1_000);
        const running = desk.starts.map((start) => start.call).filter((call) => !desk.ends.has(call));
        for (const call of running) desk.tell({ type: 'end', call, result: { type: 'ok' }, hostTurnMs });
      }
      return desk.snapshot('lane').inFlight;
    };
    expect(inFlightAfter(500)).toBe(4);
    expect(inFlightAfter(20)).toBe(56);
  });

  it('the window narrows again, but not below 32 places, once answers wait for our own process', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 2_000; each += 1) desk.submit('lane');
    const trip = (at: number, hostTurnMs: number): number => {
      desk.until(at);
      const running = desk.starts.map((start) => start.call).filter((call) => !desk.ends.has(call));
      for (const call of running) desk.tell({ type: 'end', call, result: { type: 'ok' }, hostTurnMs });
      return desk.snapshot('lane').inFlight;
    };
    const widened = [1_000, 2_000, 3_000, 4_000].map((at) => trip(at, 0));
    expect(widened).toEqual([7, 14, 28, 56]);
    expect([5_000, 6_000, 7_000].map((at) => trip(at, 500))).toEqual([32, 32, 32]);
    expect(trip(8_000, 0)).toBe(64);
  });

  it('the window takes 50 ms to double, however short the round trips are', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 2_000; each += 1) desk.submit('lane');
    const inFlight: number[] = [];
    for (let at = 5; at <= 150; at += 5) {
      desk.until(at);
      const running = desk.starts.map((start) => start.call).filter((call) => !desk.ends.has(call));
      for (const call of running) desk.end(call);
      if (at % 50 === 0) inFlight.push(desk.snapshot('lane').inFlight);
    }
    expect(inFlight).toEqual([8, 16, 32]);
  });

  it('what an earlier run learned is used from the first call, at four fifths', () => {
    const desk = new Desk();
    desk.open('lane', {}, { learned: [{ resource: 'requests', ratePerMinute: 600, capacity: 600, windowMs: 60_000 }] });
    for (let each = 0; each < 40; each += 1) desk.submit('lane');
    expect(desk.snapshot('lane').rpm).toBeCloseTo(480, 6);
    expect(desk.starts.length).toBe(12);
  });

  it('tells what it learned, for the next run', () => {
    const desk = new Desk();
    desk.open('lane');
    desk.submit('lane');
    desk.end(0, {
      type: 'ok',
      hints: { readings: [{ resource: 'requests', limit: 500, remaining: 499, resetMs: 120 }] },
    });
    expect(desk.scheduler.learned(laneKey('lane'))).toEqual([
      { resource: 'requests', ratePerMinute: 500, capacity: 500, windowMs: 60_000 },
    ]);
    expect(desk.events.some((event) => event.type === 'lane-learn')).toBe(true);
  });
});

describe('a call', () => {
  it('has every field of the plan: providerKey, estimatedTokens, notBefore, index, and a path within its case', () => {
    const desk = new Desk();
    desk.open('lane', { maxConcurrent: 1, rpm: 600 });
    desk.submit('lane', { index: caseIndex(4), path: '1/agent/0/0', input: 100, maxOutput: 50 });
    desk.submit('lane', { index: caseIndex(9), path: 'grade/0/0', notBefore: 70 });
    expect(desk.scheduler.where(caseIndex(4))).toEqual([
      {
        id: 0,
        providerKey: 'lane',
        lane: 'lane',
        estimatedTokens: 150,
        notBefore: 0,
        index: 4,
        path: '1/agent/0/0',
        running: true,
        submittedAt: 0,
        attempts: 1,
      },
    ]);
    expect(desk.scheduler.where(caseIndex(9))).toMatchObject([
      { notBefore: 70, path: 'grade/0/0', running: false, attempts: 0 },
    ]);
    expect(desk.scheduler.where(caseIndex(5))).toEqual([]);
  });
});

describe('a lane snapshot', () => {
  it('shows every field of the plan', () => {
    const desk = new Desk();
    desk.open('lane', { rpm: 60, tpm: 60_000, maxConcurrent: 3, minGapMs: 5 });
    desk.submit('lane', { input: 100 });
    desk.submit('lane', { input: 100 });
    expect(desk.snapshot('lane')).toMatchObject({
      queue: 1,
      inFlight: 1,
      maxConcurrentConfig: 3,
      maxConcurrentDynamic: 3,
      rpm: 60,
      tpm: 60_000,
      nextReqAt: 1_000,
      blockedUntil: 0,
      timer: 1_124,
      minGapMs: 5,
    });
    expect(desk.snapshot('lane').nextTokAt).toBeGreaterThan(0);
  });
});

describe('bad input is refused with what to do', () => {
  it.each([
    ['rpm', { rpm: -1 }],
    ['tpm', { tpm: Number.NaN }],
    ['maxConcurrent', { maxConcurrent: 0 }],
    ['maxConcurrent', { maxConcurrent: 1.5 }],
    ['minGapMs', { minGapMs: -5 }],
    ['maxRetries', { maxRetries: Number.POSITIVE_INFINITY }],
  ])('a lane with an impossible %s', (name, limits) => {
    const desk = new Desk();
    expect(() => desk.open('lane', limits)).toThrowError(
      expect.objectContaining({ code: 'lanes/bad-number', message: expect.stringContaining(name) }),
    );
  });

  it('an unknown lane, with the lanes there are', () => {
    const desk = new Desk();
    desk.open('openai');
    expect(() => desk.submit('opnai')).toThrowError(
      expect.objectContaining({ code: 'lanes/unknown-lane', message: expect.stringContaining('openai') }),
    );
  });

  it('a call with a NaN estimate', () => {
    const desk = new Desk();
    desk.open('lane');
    expect(() => desk.submit('lane', { input: Number.NaN })).toThrowError(
      expect.objectContaining({ code: 'lanes/bad-number' }),
    );
  });

  it('an estimate above what the bucket ever holds: never sent', () => {
    const desk = new Desk();
    desk.open('lane', { tpm: 10_000 });
    expect(() => desk.submit('lane', { input: 50_000 })).toThrowError(
      expect.objectContaining({ code: 'lanes/too-large', cure: expect.stringContaining('max_tokens') }),
    );
    expect(desk.starts).toHaveLength(0);
  });

  it('an estimate above a limit that was learned while it waited: ends without being sent', () => {
    const desk = new Desk();
    desk.open('lane');
    for (let each = 0; each < 3; each += 1) desk.submit('lane', { input: 10 });
    const large = desk.submit('lane', { input: 90_000 });
    desk.end(0, {
      type: 'ok',
      hints: { readings: [{ resource: 'tokens', limit: 60_000, remaining: 50_000, resetMs: 10_000 }] },
    });
    desk.until(120_000);
    expect(desk.ends.get(large)).toMatchObject({ type: 'too-large', limit: 60_000 });
  });

  it('a call after the abort', () => {
    const desk = new Desk();
    desk.open('lane');
    desk.tell({ type: 'abort' });
    expect(() => desk.submit('lane')).toThrowError(expect.objectContaining({ code: 'lanes/aborted' }));
  });

  it('an end of a call that does not run', () => {
    const desk = new Desk();
    desk.open('lane');
    expect(() => desk.end(17)).toThrowError(expect.objectContaining({ code: 'lanes/unknown-call' }));
  });
});
