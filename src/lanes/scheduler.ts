/**
 * The scheduler: a deterministic state machine, `(state, event, now) -> commands`. The state is changed in place.
 *
 * Job: decide when each call of each lane starts, is tried again, or ends. Not its job: time, promises, the network:
 * a driver binds it to the real clock (`run/lanes.ts`), the simulator to a virtual one (`sim/`).
 *
 * Invariants, cited by the property tests:
 * L1 never more request starts than capacity + rate * dt in any interval; never over a node's concurrency
 * L2 each call ends once; reserved = settled + refunded + held at every node
 * L3 never idle while a call is ready and its nodes are open
 * L4 a stopped lane leaves the start times of lanes that share no node with it bit-identical
 * L5 no start on a gated resource before its hint
 * L6 a rate limit never lowers `maxRetries`; `maxRateLimited` bounds it
 * L7 call k+1 of a chain starts after call k ended
 * L8 no start after abort
 * L9 same seed, same events: same commands
 */
import { assertNever, ParlaneError } from '../domain/errors.ts';
import type { CaseIndex, EpochMillis, LaneKey, Millis } from '../domain/ids.ts';
import type { Call, LaneEvent, LaneNode, LaneSnapshot, LearnedLimit } from '../domain/lane.ts';
import { Ending } from './ending.ts';
import { type KnownLimit, knownLimits } from './known-limits.ts';
import { LaneGroup } from './lane-group.ts';
import { type LaneSpec, LaneState } from './lane-state.ts';
import { type Spent, spentOn } from './lane-times.ts';
import { LimitNode } from './limit-node.ts';
import type { CallEnd, Command, SchedulerEvent } from './messages.ts';
import { type CallInput, QueuedCall, resourceNames } from './queued-call.ts';
import { tooLarge } from './readiness.ts';
import { reserveFor } from './reservation.ts';
import { SerialGate } from './serial-gate.ts';
import { snapshotOf } from './snapshot.ts';
import { Starter } from './starter.ts';
import { checkCall, checkLane, checkLimits } from './validate.ts';

export interface SchedulerOptions {
  readonly seed?: number;
  /** Most calls in flight over all lanes; absent means no such cap. */
  readonly globalCap?: number;
  /** A wait longer than this parks a lane instead of blocking it. */
  readonly maxWaitMs?: Millis;
  /** Whether lane events are wanted; a simulation that nobody watches leaves them out. */
  readonly events?: boolean;
}

/** Where one call is: its own fields, and how far it has come. */
export interface CallPlace extends Call {
  readonly lane: LaneKey;
  readonly running: boolean;
  readonly submittedAt: EpochMillis;
  /** Wire requests made so far. */
  readonly attempts: number;
}

const defaultMaxWaitMs = 15 * 60_000;

export class Scheduler {
  private readonly lanes = new Map<LaneKey, LaneState>();
  private readonly sharedNodes = new Map<string, { node: LimitNode; group: LaneGroup }>();
  private readonly calls = new Map<number, QueuedCall>();
  private readonly gate = new SerialGate();
  private readonly ending: Ending;
  private readonly starter: Starter;
  private readonly options: SchedulerOptions;
  private readonly globalNode: LaneNode | undefined;
  private commands: Command[] = [];
  private aborted = false;
  /** Their later calls end at once, also the first ones of a case that had not begun. */
  private readonly cancelledCases = new Set<CaseIndex>();

  constructor(options: SchedulerOptions = {}) {
    checkLimits('global cap', options.globalCap === undefined ? {} : { maxConcurrent: options.globalCap });
    this.options = options;
    this.globalNode =
      options.globalCap === undefined ? undefined : { key: 'global', limits: { maxConcurrent: options.globalCap } };
    const finish = (call: QueuedCall, end: CallEnd, now: number): void => this.finish(call, end, now);
    const tell = (event: LaneEvent): void => this.tell(event);
    this.ending = new Ending(options.maxWaitMs ?? defaultMaxWaitMs, { finish, tell });
    this.starter = new Starter({
      finish,
      tell,
      say: (command) => void this.commands.push(command),
      events: options.events === true,
    });
  }

  handle(event: SchedulerEvent, now: EpochMillis): readonly Command[] {
    this.commands = [];
    this.transition(event, now);
    return this.commands;
  }

  /** Every lane as it stands, in the order in which they were opened. */
  snapshot(now: EpochMillis): LaneSnapshot[] {
    return [...this.lanes.values()].map((lane) => snapshotOf(lane, now, this.gate.heldBy));
  }

  /** Shows every lane with what its time is spent on from now on. */
  readonly standing = (see: (lane: LaneState, on: Spent) => void, now: EpochMillis): void => {
    for (const lane of this.lanes.values()) see(lane, spentOn(lane, now, this.gate.heldBy));
  };

  /** The limits that the lanes stand under, as far as they are known. */
  limits(): KnownLimit[] {
    return knownLimits(this.lanes.values());
  }

  /** The limits a later run may start from. */
  learned(key: LaneKey): LearnedLimit[] {
    return this.lane(key).pace.remember();
  }

  /** How many calls wait or run in a lane: a lazy source keeps this above a floor. */
  load(key: LaneKey): { readonly queued: number; readonly inFlight: number } {
    const lane = this.lane(key);
    return { queued: lane.queued + lane.aside, inFlight: lane.inFlight };
  }

  /** Where the calls of a case are: running, queued, or put aside by the serial gate. */
  where(index: CaseIndex): CallPlace[] {
    const places: CallPlace[] = [];
    for (const call of this.calls.values()) {
      if (call.index !== index) continue;
      const { lane, running, submittedAt, attempts } = call;
      places.push({ ...call.view(), lane: lane.key, running, submittedAt, attempts });
    }
    return places;
  }

  /** The books of every node, for checks: reserved = settled + refunded + held, and held is nothing at the end (L2). */
  books(): readonly LimitNode[] {
    return [...new Set([...this.lanes.values()].flatMap((lane) => lane.nodes))];
  }

  /** When nothing runs and only parked lanes have work left: when the first of them opens. */
  stalledUntil(now: EpochMillis): EpochMillis | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const lane of this.lanes.values()) {
      if (lane.inFlight > 0) return undefined;
      if (lane.queued === 0) continue;
      if (lane.parkedUntil <= now) return undefined;
      first = Math.min(first, lane.parkedUntil);
    }
    return first === Number.POSITIVE_INFINITY ? undefined : first;
  }

  private transition(event: SchedulerEvent, now: EpochMillis): void {
    switch (event.type) {
      case 'open':
        return this.open(event.lane, now);
      case 'submit':
        return this.submit(event.lane, event.call, now);
      case 'head':
        return this.head(event.call, event.hints, now);
      case 'end':
        return this.end(event, now);
      case 'timer':
        return this.timer(event.lane, now);
      case 'pause':
      case 'resume':
        return this.setPaused(event.lane, event.type === 'pause', now);
      case 'retune':
        return this.retune(event.lane, event.limits, now);
      case 'case-open':
        return this.enqueueAll(this.gate.open(event.index, event.serial), now);
      case 'case-close':
        return this.enqueueAll(this.gate.close(event.index), now);
      case 'cancel':
        this.cancelledCases.add(event.index);
        return this.cancel((call) => call.index === event.index, now);
      case 'abort':
        this.aborted = true;
        this.starter.stop();
        return this.cancel(() => true, now);
      default:
        return assertNever(event);
    }
  }

  private open(spec: LaneSpec, now: number): void {
    checkLane(spec);
    if (this.lanes.has(spec.key)) return;
    const group = new LaneGroup();
    const shared = [...(this.globalNode ? [this.globalNode] : []), ...(spec.shared ?? [])].map((node) =>
      this.share(node, group, now),
    );
    const own = new LimitNode({ key: spec.key, ...(spec.limits ? { limits: spec.limits } : {}) }, now);
    const lane = new LaneState(spec, shared, own, group, this.options.seed ?? 1, now);
    group.lanes.push(lane);
    this.lanes.set(spec.key, lane);
  }

  private share(spec: LaneNode, group: LaneGroup, now: number): LimitNode {
    const known = this.sharedNodes.get(spec.key);
    if (known === undefined) {
      const node = new LimitNode(spec, now);
      this.sharedNodes.set(spec.key, { node, group });
      return node;
    }
    if (known.group !== group) {
      const old = known.group;
      group.absorb(old);
      for (const entry of this.sharedNodes.values()) if (entry.group === old) entry.group = group;
    }
    return known.node;
  }

  private submit(key: LaneKey, input: CallInput, now: number): void {
    const lane = this.lane(key);
    checkCall(input);
    if (this.aborted) {
      throw new ParlaneError(
        'lanes/aborted',
        `Call ${input.path} of case ${input.index} came after the abort.`,
        'Start a new run, or resume this one.',
      );
    }
    const call = new QueuedCall(lane, input, now);
    reserveFor(call);
    const large = tooLarge(call);
    if (large !== undefined) {
      const name = resourceNames[large.resource];
      throw new ParlaneError(
        'lanes/too-large',
        `Call ${input.path} of case ${input.index} needs ${Math.ceil(large.cost)} ${name}, but lane ${key} never has more than ${large.limit}.`,
        "Shorten the prompt, lower max_tokens, or raise the lane's limit.",
        { ...large, resource: name },
      );
    }
    this.calls.set(call.id, call);
    if (this.options.events) this.tell(queued(key, input, now));
    if (lane.closedReason !== undefined)
      return this.finish(call, { type: 'lane-closed', reason: lane.closedReason }, now);
    if (this.cancelledCases.has(call.index)) return this.finish(call, { type: 'aborted' }, now);
    if (!this.gate.admit(call)) {
      lane.aside += 1;
      return;
    }
    this.enqueue(call, now);
    this.starter.pump(lane.group, now);
  }

  private enqueueAll(calls: readonly QueuedCall[], now: number): void {
    for (const call of calls) {
      call.lane.aside -= 1;
      this.enqueue(call, now);
    }
    for (const group of new Set(calls.map((call) => call.lane.group))) this.starter.pump(group, now);
  }

  private enqueue(call: QueuedCall, now: number): void {
    if (call.notBefore > now) call.lane.delayed.push(call);
    else call.lane.ready.push(call);
  }

  private head(id: number, hints: Parameters<LaneState['pace']['hear']>[1], now: number): void {
    const call = this.calls.get(id);
    if (call === undefined) return;
    this.ending.hear(call, hints, now);
    this.starter.pump(call.lane.group, now);
  }

  private end(event: Extract<SchedulerEvent, { type: 'end' }>, now: number): void {
    const call = this.calls.get(event.call);
    if (call === undefined || !call.running) {
      throw new ParlaneError(
        'lanes/unknown-call',
        `Call ${event.call} is not running.`,
        'End each started call exactly once.',
      );
    }
    const again = this.ending.end(call, event, this.aborted, now);
    if (again) this.enqueue(call, now);
    if (call.lane.closedReason !== undefined) this.emptyClosed(call.lane, now);
    this.starter.pump(call.lane.group, now);
  }

  private emptyClosed(lane: LaneState, now: number): void {
    const end: CallEnd = { type: 'lane-closed', reason: lane.closedReason ?? '' };
    const waiting = [...lane.ready.drain(), ...lane.delayed.drain(), ...this.gate.remove((call) => call.lane === lane)];
    lane.aside = 0;
    for (const call of waiting.sort((a, b) => a.id - b.id)) this.finish(call, end, now);
  }

  private timer(key: LaneKey, now: number): void {
    const lane = this.lane(key);
    lane.timerAt = Number.POSITIVE_INFINITY;
    this.starter.pump(lane.group, now);
  }

  private setPaused(key: LaneKey, paused: boolean, now: number): void {
    const lane = this.lane(key);
    if (lane.paused === paused) return;
    lane.paused = paused;
    this.tell({ type: paused ? 'lane-pause' : 'lane-resume', lane: key, at: now });
    this.starter.pump(lane.group, now);
  }

  private retune(key: LaneKey, limits: Parameters<LimitNode['declare']>[0], now: number): void {
    const lane = this.lane(key);
    checkLimits(`lane ${key}`, limits);
    lane.own.declare(limits, now);
    lane.pace.retuned();
    if (limits.minGapMs !== undefined) lane.minGapMs = limits.minGapMs;
    if (limits.maxConcurrent !== undefined) {
      const from = lane.concurrency.dynamic;
      lane.concurrency.configure(limits.maxConcurrent);
      this.tell({
        type: 'lane-concurrency',
        lane: key,
        at: now,
        from,
        to: lane.concurrency.dynamic,
        reason: 'retuned',
      });
    }
    this.starter.pump(lane.group, now);
  }

  /** Ends what waits, cancels what runs. */
  private cancel(matches: (call: QueuedCall) => boolean, now: number): void {
    for (const call of this.gate.remove(matches)) {
      call.lane.aside -= 1;
      this.finish(call, { type: 'aborted' }, now);
    }
    for (const lane of this.lanes.values()) {
      const waiting = [...lane.ready.remove(matches), ...lane.delayed.remove(matches)].sort((a, b) => a.id - b.id);
      for (const call of waiting) this.finish(call, { type: 'aborted' }, now);
    }
    for (const call of this.calls.values()) {
      if (!call.running || call.cancelled || !matches(call)) continue;
      call.cancelled = true;
      this.commands.push({ type: 'cancel', call: call.id });
    }
    for (const group of new Set([...this.lanes.values()].map((lane) => lane.group))) this.starter.pump(group, now);
  }

  private finish(call: QueuedCall, end: CallEnd, now: number): void {
    this.calls.delete(call.id);
    call.lane.ended += 1;
    this.commands.push({ type: 'finish', call: call.id, end });
    if (!this.options.events) return;
    const result = end.type === 'ok' ? 'ok' : end.type === 'aborted' ? 'aborted' : 'failed';
    const usage = end.type === 'ok' && end.usage !== undefined ? { usage: end.usage } : {};
    this.tell({ type: 'call-end', lane: call.lane.key, call: call.id, index: call.index, at: now, result, ...usage });
  }

  private tell(event: LaneEvent): void {
    if (this.options.events) this.commands.push({ type: 'event', event });
  }

  private lane(key: LaneKey): LaneState {
    const lane = this.lanes.get(key);
    if (lane !== undefined) return lane;
    const known = [...this.lanes.keys()].join(', ');
    throw new ParlaneError(
      'lanes/unknown-lane',
      `There is no lane ${key}.`,
      `Open it first; open lanes: ${known === '' ? 'none' : known}.`,
      { lane: key },
    );
  }
}

function queued(lane: LaneKey, { id, index, closing }: CallInput, at: number): LaneEvent {
  return { type: 'call-queue', lane, call: id, index, at, ...(closing === true ? { closing } : {}) };
}
