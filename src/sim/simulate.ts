/**
 * Runs the real scheduler on a virtual clock against server models: for proofs, forecasts and benches.
 * Deterministic: the same work, servers and seed give the same starts, to the bit.
 */
import { caseIndex, type LaneKey } from '../domain/ids.ts';
import { Heap } from '../lanes/heap.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';
import type { AttemptResult, CallEnd, Command } from '../lanes/messages.ts';
import { Scheduler, type SchedulerOptions } from '../lanes/scheduler.ts';
import { ServerModel, type ServerSpec } from './server-model.ts';
import type { SimCall, SimCase } from './workload.ts';

export interface SimulatedLane {
  readonly spec: LaneSpec;
  readonly server: ServerSpec;
  /** Overrides what the server would do with a request: outages, faults. */
  readonly fault?: (attempt: SimAttempt) => AttemptResult | undefined;
  /** How long a request takes that meets a fault; as long as a rejection unless said. */
  readonly faultMs?: number;
}

/** One wire request: the `number`th try of the call `made` of a case. */
export interface SimAttempt {
  readonly index: number;
  readonly made: number;
  readonly number: number;
  readonly now: number;
}

export interface SimulationOptions {
  readonly lanes: readonly SimulatedLane[];
  readonly cases: Iterable<SimCase>;
  readonly scheduler?: SchedulerOptions;
  /** First calls kept submitted per lane; the rest of the cases stays lazy. */
  readonly ahead?: number;
  readonly rejectionLatencyMs?: number;
  /** Sees every command, with its time and, for starts and ends, the call it is about. */
  readonly watch?: (command: Command, now: number, call: SimCall | undefined) => void;
  /** Called after everything an event brought about has been carried out. */
  readonly settled?: (scheduler: Scheduler, now: number) => void;
  /** Stops the run here by an abort. */
  readonly abortAtMs?: number;
}

export interface SimulationResult {
  readonly makespanMs: number;
  readonly calls: number;
  readonly rejections: number;
  readonly ends: Readonly<Record<CallEnd['type'], number>>;
  readonly scheduler: Scheduler;
}

interface RunningCase {
  readonly work: SimCase;
  readonly index: number;
  made: number;
  callId: number;
}

/** Something that happens at a time; one shape for all kinds, since millions of them go through the heap. */
interface Moment {
  readonly at: number;
  readonly order: number;
  readonly kind: 'submit' | 'end' | 'timer' | 'abort';
  readonly who: RunningCase | undefined;
  readonly lane: number;
  readonly result: AttemptResult | undefined;
  /** Whether a server worked on it. */
  readonly served: boolean;
}

export function simulate(options: SimulationOptions): SimulationResult {
  return new Simulation(options).run();
}

class Simulation {
  private readonly options: SimulationOptions;
  private readonly scheduler: Scheduler;
  private readonly servers: ServerModel[];
  private readonly laneAt = new Map<LaneKey, number>();
  private readonly keys: LaneKey[];
  private readonly moments = new Heap<Moment>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  private readonly running = new Map<number, RunningCase>();
  private readonly timers: number[];
  private readonly source: Iterator<SimCase>;
  /** Cases drawn from the source whose first call has not started yet. */
  private unstarted = 0;
  private exhausted = false;
  /** A first call has started: there may be room for another case. */
  private hungry = false;
  private aborted = false;
  private order = 0;
  private nextIndex = 0;
  private nextCall = 0;
  private calls = 0;
  private rejections = 0;
  private last = 0;
  private readonly ends: Record<CallEnd['type'], number> = {
    ok: 0,
    failed: 0,
    exhausted: 0,
    'lane-closed': 0,
    'too-large': 0,
    aborted: 0,
  };

  constructor(options: SimulationOptions) {
    this.options = options;
    this.scheduler = new Scheduler(options.scheduler);
    this.servers = options.lanes.map((lane) => new ServerModel(lane.server));
    this.keys = options.lanes.map((lane) => lane.spec.key);
    this.timers = options.lanes.map(() => Number.POSITIVE_INFINITY);
    this.source = options.cases[Symbol.iterator]();
  }

  run(): SimulationResult {
    this.options.lanes.forEach((lane, position) => {
      this.laneAt.set(lane.spec.key, position);
      this.obey(this.scheduler.handle({ type: 'open', lane: lane.spec }, 0), 0);
    });
    if (this.options.abortAtMs !== undefined) this.plan(this.options.abortAtMs, 'abort');
    this.draw(0);
    for (let moment = this.moments.pop(); moment !== undefined; moment = this.moments.pop()) {
      this.live(moment);
      if (this.hungry) this.draw(moment.at);
      this.options.settled?.(this.scheduler, moment.at);
    }
    return {
      makespanMs: this.last,
      calls: this.calls,
      rejections: this.rejections,
      ends: this.ends,
      scheduler: this.scheduler,
    };
  }

  /** Keeps enough first calls submitted. */
  private draw(now: number): void {
    this.hungry = false;
    const wanted = (this.options.ahead ?? Number.POSITIVE_INFINITY) * this.keys.length;
    while (!this.exhausted && !this.aborted && this.unstarted < wanted) {
      const next = this.source.next();
      if (next.done) {
        this.exhausted = true;
        return;
      }
      const who: RunningCase = { work: next.value, index: this.nextIndex++, made: 0, callId: -1 };
      if (who.work.calls.length === 0) continue;
      this.unstarted += 1;
      this.submit(who, now);
    }
  }

  private plan(
    at: number,
    kind: Moment['kind'],
    who?: RunningCase,
    lane = -1,
    result?: AttemptResult,
    served = false,
  ): void {
    this.moments.push({ at, order: this.order++, kind, who, lane, result, served });
  }

  private live(moment: Moment): void {
    const now = moment.at;
    switch (moment.kind) {
      case 'submit':
        return this.submit(moment.who as RunningCase, now);
      case 'timer':
        if (this.timers[moment.lane] !== now) return;
        this.timers[moment.lane] = Number.POSITIVE_INFINITY;
        return this.obey(this.scheduler.handle({ type: 'timer', lane: this.keys[moment.lane] as LaneKey }, now), now);
      case 'end':
        return this.end(moment.who as RunningCase, moment.result as AttemptResult, moment.served, now);
      case 'abort':
        this.aborted = true;
        return this.obey(this.scheduler.handle({ type: 'abort' }, now), now);
    }
  }

  private end(who: RunningCase, result: AttemptResult, served: boolean, now: number): void {
    const call = this.callOf(who);
    if (served) this.servers[call.lane]?.complete(call, now);
    this.obey(this.scheduler.handle({ type: 'end', call: who.callId, result }, now), now);
  }

  private callOf(who: RunningCase): SimCall {
    return who.work.calls[who.made] as SimCall;
  }

  private submit(who: RunningCase, now: number): void {
    if (this.aborted) return;
    const call = this.callOf(who);
    who.callId = this.nextCall++;
    this.running.set(who.callId, who);
    const lane = this.keys[call.lane] as LaneKey;
    const made = who.made;
    const input = {
      id: who.callId,
      index: caseIndex(who.index),
      path: pathOf(made),
      input: call.input,
      maxOutput: call.maxOutput,
      made,
      expected: who.work.expected,
    };
    this.obey(this.scheduler.handle({ type: 'submit', lane, call: input }, now), now);
  }

  private obey(commands: readonly Command[], now: number): void {
    for (const command of commands) {
      if (this.options.watch !== undefined) this.options.watch(command, now, this.subject(command));
      if (command.type === 'start') this.start(command, now);
      else if (command.type === 'finish') this.finish(command.call, command.end, now);
      else if (command.type === 'timer') this.setTimer(this.laneAt.get(command.lane) as number, command.at);
    }
  }

  private subject(command: Command): SimCall | undefined {
    if (command.type !== 'start' && command.type !== 'finish') return undefined;
    const who = this.running.get(command.call);
    return who === undefined ? undefined : this.callOf(who);
  }

  private setTimer(lane: number, at: number | undefined): void {
    this.timers[lane] = at ?? Number.POSITIVE_INFINITY;
    if (at !== undefined) this.plan(at, 'timer', undefined, lane);
  }

  private start(command: Extract<Command, { type: 'start' }>, now: number): void {
    const who = this.running.get(command.call) as RunningCase;
    const call = this.callOf(who);
    if (who.made === 0 && command.attempt === 1) {
      this.unstarted -= 1;
      this.hungry = true;
    }
    const lane = this.options.lanes[call.lane];
    const fault = lane?.fault?.({
      index: who.index,
      made: who.made,
      number: command.attempt,
      now,
    });
    const faultMs = lane?.faultMs ?? this.options.rejectionLatencyMs ?? 100;
    if (fault !== undefined) return this.endLater(who, now + faultMs, fault, false);
    const admission = (this.servers[call.lane] as ServerModel).arrive(call, call.latencyMs, now);
    if (!admission.accepted) {
      this.rejections += 1;
      const { hints, resource, retryAfterMs } = admission;
      const result: AttemptResult = {
        type: 'rate-limited',
        hints,
        resource,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
      return this.endLater(who, now + (this.options.rejectionLatencyMs ?? 100), result, false);
    }
    const usage = { inputTokens: call.input, outputTokens: call.output };
    this.endLater(
      who,
      now + call.latencyMs + admission.extraLatencyMs,
      { type: 'ok', usage, hints: admission.hints },
      true,
    );
  }

  private endLater(who: RunningCase, at: number, result: AttemptResult, served: boolean): void {
    this.plan(at, 'end', who, -1, result, served);
  }

  private finish(id: number, end: CallEnd, now: number): void {
    const who = this.running.get(id) as RunningCase;
    this.running.delete(id);
    this.calls += 1;
    this.ends[end.type] += 1;
    this.last = now;
    if (end.type !== 'ok') return;
    who.made += 1;
    const next = who.work.calls[who.made];
    if (next === undefined) return;
    this.plan(now + next.gapMs, 'submit', who);
  }
}

/** Paths are made once: millions of calls share a few. */
const paths: readonly string[] = Array.from({ length: 256 }, (_, made) => `call/${made}`);
const pathOf = (made: number): string => paths[made] ?? `call/${made}`;
