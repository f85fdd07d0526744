/** What a simulated run came to: how close to the physical limit, what decided it, and where the time went. */
import { assertNever } from '../domain/errors.ts';
import type { LaneSnapshot } from '../domain/lane.ts';
import type { Scheduler } from '../lanes/scheduler.ts';
import { lowerBound } from './bound.ts';
import { type SimulationOptions, simulate } from './simulate.ts';
import type { SimCase } from './workload.ts';

/** Time of one lane, told apart; the parts add up to the makespan. */
export interface TimeSpent {
  /** At the pace its limit allows. */
  atPace: number;
  /** Finding out how fast it may go. */
  ramp: number;
  /** Told to wait after a rejection or an error. */
  rejected: number;
  /** Held by a limit of the user's own. */
  userCap: number;
  /** Nothing was ready for it, though more came later. */
  idle: number;
  /** Its last call has started; what is in flight, here or in other lanes, comes to its end. */
  drain: number;
}

export interface SimulationReport {
  readonly makespanMs: number;
  readonly boundMs: number;
  /** Bound / makespan. */
  readonly efficiency: number;
  readonly bindingTerm: string;
  readonly rejections: number;
  readonly calls: number;
  /** Of the lane that decides, or of the first where a single case does. */
  readonly timeMs: TimeSpent;
}

type Spent = keyof TimeSpent;

function spentOn(lane: LaneSnapshot): Spent {
  const { kind } = lane.cause;
  switch (kind) {
    case 'requests':
    case 'tokens':
      return 'atPace';
    case 'rate-limited':
    case 'backing-off':
    case 'parked':
    case 'closed':
      return 'rejected';
    case 'concurrency':
      return lane.learning ? 'ramp' : 'userCap';
    case 'global-cap':
    case 'paused':
    case 'serial-gate':
      return 'userCap';
    case 'slow-answers':
    case 'nothing-left':
      return 'idle';
    default:
      return assertNever(kind);
  }
}

/** Adds up a lane's time between events, by the cause that held between them. */
class Watch {
  readonly spent: TimeSpent = { atPace: 0, ramp: 0, rejected: 0, userCap: 0, idle: 0, drain: 0 };
  private readonly position: number;
  private since = 0;
  private on: Spent = 'idle';
  /** Idle time that becomes the drain unless another call starts. */
  private maybeDrain = 0;
  private started = 0;

  constructor(position: number) {
    this.position = position;
  }

  look(scheduler: Scheduler, now: number): void {
    const lane = scheduler.snapshot(now)[this.position];
    if (lane === undefined) return;
    this.add(now);
    if (lane.started !== this.started) {
      this.spent.idle += this.maybeDrain;
      this.maybeDrain = 0;
    }
    this.started = lane.started;
    this.on = spentOn(lane);
  }

  finish(now: number): TimeSpent {
    this.add(now);
    this.spent.drain += this.maybeDrain;
    return this.spent;
  }

  private add(now: number): void {
    const span = now - this.since;
    this.since = now;
    if (this.on === 'idle') this.maybeDrain += span;
    else this.spent[this.on] += span;
  }
}

export function simulationReport(
  options: SimulationOptions & { readonly cases: readonly SimCase[] },
): SimulationReport {
  const names = options.lanes.map((lane) => lane.spec.key as string);
  const bound = lowerBound(
    options.cases,
    options.lanes.map((lane) => lane.server),
    names,
  );
  const deciding = Math.max(
    0,
    names.findIndex((name) => bound.term.startsWith(`${name} `)),
  );
  const watch = new Watch(deciding);
  const result = simulate({ ...options, settled: (scheduler, now) => watch.look(scheduler, now) });
  const { makespanMs, rejections, calls } = result;
  if (result.ends.ok !== calls) throw new Error(`not every call was answered: ${JSON.stringify(result.ends)}`);
  return {
    makespanMs,
    boundMs: bound.ms,
    efficiency: bound.ms / makespanMs,
    bindingTerm: bound.term,
    rejections,
    calls,
    timeMs: watch.finish(makespanMs),
  };
}
