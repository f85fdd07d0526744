import type { CaseIndex } from '../domain/ids.ts';
import type { Call } from '../domain/lane.ts';
import type { LaneState } from './lane-state.ts';
import { likelyRemainder, rank } from './order.ts';

/** What a call brings along when it is submitted. */
export interface CallInput {
  readonly id: number;
  readonly index: CaseIndex;
  readonly path: string;
  /** Expected input tokens. */
  readonly input?: number;
  /** Most output tokens the request allows (`max_tokens`); absent means the provider's default. */
  readonly maxOutput?: number;
  readonly notBefore?: number;
  /** Calls this case has already made. */
  readonly made?: number;
  /** Calls this case is expected to make in all. */
  readonly expected?: number;
  /** It grades its case; told to observers. */
  readonly closing?: true;
}

/** Positions of the resources in every per-resource array of the lanes. */
export const REQUESTS = 0;
export const TOKENS = 1;
export const INPUT = 2;
export const OUTPUT = 3;
export const resourceNames = ['requests', 'tokens', 'inputTokens', 'outputTokens'] as const;

/** A call on its way through a lane, with everything the scheduler keeps about it. */
export class QueuedCall {
  readonly id: number;
  readonly lane: LaneState;
  readonly index: CaseIndex;
  readonly path: string;
  readonly input: number;
  readonly maxOutput: number | undefined;
  readonly rank: number;
  readonly remainder: number;
  readonly submittedAt: number;
  notBefore: number;
  /** Wire requests made so far. */
  attempts = 0;
  /** Transient and overload failures so far. */
  retries = 0;
  /** Requeues after a rate limit so far. */
  rateLimited = 0;
  running = false;
  cancelled = false;
  startedAt = 0;
  /** Start number within its lane: readings are applied by send order. */
  startSeq = 0;
  /** Reserved at the start, per resource; settled when it ends. */
  reserved: readonly number[] = noReservation;
  /** The lane's output estimate that the reservation was made with. */
  reservedAt = -1;
  /** What the provider would say is used right after this start, less the lane's corrections so far: headers are held against it. */
  baseline: readonly number[] = noReservation;
  /** Units accepted so far, per resource, this call included; kept only where it may be needed. */
  acceptedAtStart: readonly number[] = noReservation;

  constructor(lane: LaneState, input: CallInput, now: number) {
    this.id = input.id;
    this.lane = lane;
    this.index = input.index;
    this.path = input.path;
    this.input = input.input ?? 0;
    this.maxOutput = input.maxOutput;
    const made = input.made ?? 0;
    const expected = input.expected ?? made + 1;
    this.rank = rank(made, expected);
    this.remainder = likelyRemainder(made, expected);
    this.notBefore = input.notBefore ?? 0;
    this.submittedAt = now;
  }

  /** The call under the names people know. */
  view(): Call {
    const { id, notBefore, index, path, reserved } = this;
    return { id, providerKey: this.lane.key, estimatedTokens: reserved[TOKENS] ?? 0, notBefore, index, path };
  }
}

const noReservation: readonly number[] = [0, 0, 0, 0];
