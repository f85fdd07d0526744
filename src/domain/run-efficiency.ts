import type { LaneKey, Millis } from './ids.ts';
import type { Resource } from './reply.ts';

/** Time of one lane, told apart; the parts add up to the makespan. */
export interface TimeSpent {
  /** At the pace its limit allows. */
  atPace: Millis;
  /** Finding out how fast it may go. */
  ramp: Millis;
  /** Told to wait after a rejection or an error. */
  rejected: Millis;
  /** Held by a cap on calls in flight, a pause or cases that run alone. */
  userCap: Millis;
  /** Nothing was ready for it, though more came later. */
  idle: Millis;
  /** Its last call has started; what is in flight, here or in other lanes, comes to its end. */
  drain: Millis;
}

/**
 * What no schedule could have beaten: a case's own calls one after another, the cases that must run one by one, or a limit
 * with the resource it counts.
 */
export type BindingTerm = 'longest-case' | 'one-by-one' | 'concurrency' | Resource;

/** How close a run came to the least time its calls and limits allowed, and where the time of each lane went. */
export interface RunEfficiency {
  readonly makespanMs: Millis;
  /** The lower bound, from the calls as they were answered and the limits as far as they are known. */
  readonly boundMs: Millis;
  /** Bound / makespan, 0 to 1. */
  readonly efficiency: number;
  readonly bindingTerm: BindingTerm;
  /** The limit that binds: a lane's key, or the name of what several lanes share. Absent where no limit does. */
  readonly bindingLimit?: string;
  /** The lane whose time decides: the one under the binding limit, else the one that was at work longest. */
  readonly decidingLane: LaneKey;
  readonly lanes: readonly LaneEfficiency[];
  /** Too many calls to place each one in its case: the bound leaves the order within cases out, and is lower for it. */
  readonly simplified?: true;
}

export interface LaneEfficiency {
  readonly lane: LaneKey;
  readonly calls: number;
  readonly timeMs: TimeSpent;
  /** It rejected calls without ever telling its limit, so that the bound knows nothing of it. */
  readonly limitUnknown?: true;
}
