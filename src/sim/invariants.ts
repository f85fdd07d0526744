/**
 * Plays a random world and reports every breach of the lanes' invariants L1-L9 (see `lanes/scheduler.ts`), judged from
 * the commands and the world alone, not from the scheduler's own arithmetic.
 */
import type { LaneEvent } from '../domain/lane.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';
import type { CallEnd, Command } from '../lanes/messages.ts';
import type { Scheduler } from '../lanes/scheduler.ts';
import { randomWorld, type World } from './random-world.ts';
import { simulate } from './simulate.ts';
import type { SimCall } from './workload.ts';

export function checkInvariants(seed: number): string[] {
  const world = randomWorld(seed);
  const first = play(world);
  const breaches = [...first.breaches];
  if (play(world).hash !== first.hash) breaches.push('L9: the same seed gave other commands');
  return [...breaches, ...checkApart(seed)];
}

/** L4: what happens in one lane leaves the start times of a lane that shares nothing with it as they are, to the bit. */
function checkApart(seed: number): string[] {
  const world = randomWorld(seed, { apart: true });
  if (world.lanes.length < 2) return [];
  const broken = {
    ...world,
    lanes: world.lanes.map((lane, at) => (at === 0 ? lane : { ...lane, fault: () => ({ type: 'retry' as const }) })),
  };
  return startsOfFirst(world) === startsOfFirst(broken)
    ? []
    : ['L4: trouble in other lanes moved the starts of lane-0'];
}

function startsOfFirst(world: World): string {
  const times: number[] = [];
  simulate({
    ...simulation(world),
    watch: (command, now) => {
      if (command.type === 'start' && command.lane === 'lane-0') times.push(now);
    },
  });
  return times.join();
}

const simulation = (world: World) => ({
  lanes: world.lanes,
  cases: world.cases,
  scheduler: world.scheduler,
  ...(world.abortAtMs === undefined ? {} : { abortAtMs: world.abortAtMs }),
});

function play(world: World): { breaches: string[]; hash: number } {
  const referee = new Referee(world);
  const result = simulate({
    ...simulation(world),
    watch: (command, now, call) => referee.see(command, now, call),
    settled: (scheduler, now) => referee.judge(scheduler, now),
  });
  referee.close(result.scheduler);
  return { breaches: referee.breaches, hash: referee.hash };
}

/** A leak of its own beside the scheduler's: what a declared rate still has to pay off. */
class Owing {
  private readonly ratePerMs: number;
  private owed = 0;
  private at = 0;

  constructor(perMinute: number) {
    this.ratePerMs = perMinute / 60_000;
  }

  add(units: number, now: number): void {
    this.owed = Math.max(0, this.now(now) + units);
    this.at = now;
  }

  now(now: number): number {
    return Math.max(0, this.owed - this.ratePerMs * (now - this.at));
  }
}

/** What is noted about one lane, or about a limit that lanes share, while a world is played. */
interface Notes {
  readonly key: string;
  readonly most: number;
  readonly requests: Owing | undefined;
  readonly tokens: Owing | undefined;
  inFlight: number;
  gatedUntil: number;
}

const slack = 1e-3;

class Referee {
  readonly breaches: string[] = [];
  hash = 0x811c9dc5;
  private readonly world: World;
  private readonly lanes: ReadonlyMap<string, Notes>;
  private readonly above: readonly Notes[];
  private readonly running = new Map<number, { readonly lane: string; readonly call: SimCall }>();
  private readonly ended = new Set<number>();
  private readonly requeues = new Map<string, number>();

  constructor(world: World) {
    this.world = world;
    this.lanes = new Map(world.lanes.map(({ spec }) => [spec.key, notesOf(spec.key, spec.limits, spec.ceiling)]));
    const shared = world.lanes[0]?.spec.shared?.[0];
    const cap = world.scheduler.globalCap;
    this.above = [
      ...(shared === undefined ? [] : [notesOf(shared.key, shared.limits, undefined)]),
      ...(cap === undefined ? [] : [notesOf('the global cap', { maxConcurrent: cap }, undefined)]),
    ];
  }

  see(command: Command, now: number, call: SimCall | undefined): void {
    this.mix(command, now);
    if (command.type === 'start' && call !== undefined) this.start(command, call, now);
    if (command.type === 'finish') this.finish(command, call, now);
    if (command.type === 'event') this.hear(command.event, now);
  }

  private start(command: Extract<Command, { type: 'start' }>, call: SimCall, now: number): void {
    const lane = this.lanes.get(command.lane);
    if (lane === undefined) return;
    this.running.set(command.call, { lane: command.lane, call });
    this.expect(
      now >= lane.gatedUntil - slack,
      `L5: ${lane.key} started at ${now}, told to wait until ${lane.gatedUntil}`,
    );
    this.expect(!this.aborted(now), `L8: a start at ${now}, after the abort`);
    this.expect(!this.ended.has(command.call), `L2: call ${command.call} started after its end`);
    for (const node of [lane, ...this.above]) this.pay(node, call, now);
  }

  private pay(node: Notes, call: SimCall, now: number): void {
    node.inFlight += 1;
    this.expect(node.inFlight <= node.most, `L1: ${node.key} has ${node.inFlight} in flight, over ${node.most}`);
    this.expect((node.requests?.now(now) ?? 0) < slack, `L1: ${node.key} started a request too early, at ${now}`);
    this.expect((node.tokens?.now(now) ?? 0) < 1, `L1: ${node.key} started with tokens still owed, at ${now}`);
    node.requests?.add(1, now);
    node.tokens?.add(call.input + call.maxOutput, now);
  }

  private hear(event: LaneEvent, now: number): void {
    const lane = this.lanes.get(event.lane);
    if (lane === undefined) return;
    if (event.type === 'lane-block' || event.type === 'lane-park')
      lane.gatedUntil = Math.max(lane.gatedUntil, event.until);
    if (event.type !== 'call-requeue') return;
    const call = this.running.get(event.call)?.call;
    this.leave(event.call, event.reason === 'retry' || call === undefined ? 0 : call.input + call.maxOutput, now);
    const counter = `${event.reason} ${event.call}`;
    this.requeues.set(counter, (this.requeues.get(counter) ?? 0) + 1);
  }

  private leave(id: number, refund: number, now: number): void {
    const lane = this.lanes.get(this.running.get(id)?.lane ?? '');
    if (!this.running.delete(id) || lane === undefined) return;
    for (const node of [lane, ...this.above]) {
      node.inFlight -= 1;
      node.tokens?.add(-refund, now);
    }
  }

  private finish(command: Extract<Command, { type: 'finish' }>, call: SimCall | undefined, now: number): void {
    this.expect(!this.ended.has(command.call), `L2: call ${command.call} ended twice`);
    this.ended.add(command.call);
    if (command.end.type === 'exhausted') this.checkCounter(command.call, command.end.counter);
    this.leave(command.call, call === undefined ? 0 : unused(command.end, call), now);
  }

  private checkCounter(id: number, counter: 'maxRetries' | 'maxRateLimited'): void {
    const lane = this.running.get(id)?.lane;
    const limits = this.world.lanes.find(({ spec }) => spec.key === lane)?.spec.limits;
    const most = counter === 'maxRetries' ? (limits?.maxRetries ?? 3) : (limits?.maxRateLimited ?? 8);
    const used = this.requeues.get(`${counter === 'maxRetries' ? 'retry' : 'rate-limited'} ${id}`) ?? 0;
    this.expect(used <= most, `L6: call ${id} was queued again ${used} times, ${counter} is ${most}`);
    this.expect(
      counter === 'maxRetries' || used === most,
      `L6: call ${id} gave up after ${used} of ${most} rate limits`,
    );
  }

  /** L3: after every event, a lane with work waits for something that ends by itself or for something in flight. */
  judge(scheduler: Scheduler, now: number): void {
    for (const lane of scheduler.snapshot(now)) {
      if (lane.queue === 0) continue;
      const { cause } = lane;
      // Its timer may be due at this very instant, behind other events of the same time.
      const due = lane.timer !== undefined && lane.timer <= now;
      const idle = cause.kind === 'nothing-left' || cause.kind === 'slow-answers';
      this.expect(due || !idle, `L3: ${lane.key} is idle at ${now} with ${lane.queue} ready`);
      if (!('until' in cause)) continue;
      this.expect(cause.until >= now - slack, `L3: ${lane.key} waits for ${cause.until}, which is over at ${now}`);
      const woken = lane.timer !== undefined || this.running.size > 0;
      this.expect(woken || this.aborted(now), `L3: ${lane.key} waits until ${cause.until} and nothing will wake it`);
    }
  }

  close(scheduler: Scheduler): void {
    for (const node of scheduler.books()) {
      for (let resource = 0; resource < 4; resource += 1) {
        const [reserved, settled, refunded, held] = [node.reserved, node.settled, node.refunded, node.held].map(
          (book) => book[resource] ?? 0,
        ) as [number, number, number, number];
        this.expect(
          Math.abs(reserved - settled - refunded - held) < 0.01,
          `L2: the books of ${node.key} do not add up`,
        );
        this.expect(Math.abs(held) < 0.01, `L2: ${node.key} still holds ${held} at the end`);
      }
      this.expect(node.inFlight === 0, `L2: ${node.key} still has ${node.inFlight} in flight`);
    }
    this.expect(this.running.size === 0, `L2: ${this.running.size} calls never ended`);
  }

  private aborted(now: number): boolean {
    return this.world.abortAtMs !== undefined && now > this.world.abortAtMs;
  }

  private expect(holds: boolean, breach: string): void {
    if (!holds) this.breaches.push(breach);
  }

  private mix(command: Command, now: number): void {
    const subject = command.type === 'event' ? command.event : command;
    this.mixText(
      `${now} ${subject.type} ${'call' in subject ? subject.call : ''} ${'lane' in subject ? subject.lane : ''}`,
    );
  }

  private mixText(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.hash = Math.imul(this.hash ^ text.charCodeAt(at), 0x01000193);
  }
}

/** What a call gives back at its end: what it did not put out, or everything when it was turned away. */
function unused(end: CallEnd, call: SimCall): number {
  if (end.type === 'ok') return call.maxOutput - call.output;
  return end.type === 'exhausted' && end.counter === 'maxRateLimited' ? call.input + call.maxOutput : 0;
}

function notesOf(key: string, limits: LaneSpec['limits'], ceiling: number | undefined): Notes {
  return {
    key,
    most: limits?.maxConcurrent ?? ceiling ?? Number.POSITIVE_INFINITY,
    requests: limits?.rpm === undefined ? undefined : new Owing(limits.rpm),
    tokens: limits?.tpm === undefined ? undefined : new Owing(limits.tpm),
    inFlight: 0,
    gatedUntil: 0,
  };
}
