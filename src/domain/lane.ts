import type { CaseIndex, EpochMillis, LaneKey, Millis, Tokens } from './ids.ts';
import type { Resource, Usage } from './reply.ts';

/** A limit that several lanes may share: an account, a model family, a deployment. A call pays at every node on its path. */
export interface LaneNode {
  readonly key: string;
  readonly limits?: LaneLimits;
}

/** Declared limits; everything absent is learned. */
export interface LaneLimits {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly inputTpm?: number;
  readonly outputTpm?: number;
  readonly maxConcurrent?: number;
  readonly minGapMs?: Millis;
  readonly maxRetries?: number;
  readonly maxRateLimited?: number;
}

/** Limits learned in an earlier run of the same lane. */
export interface LearnedLimit {
  readonly resource: Resource;
  readonly ratePerMinute: number;
  /** The most that the provider's own telling allows, where it leaves room; a lane that starts slowly gets there. */
  readonly mostPerMinute?: number;
  readonly capacity: number;
  readonly windowMs: Millis;
}

/** One model request on its way through a lane. */
export interface Call {
  readonly id: number;
  readonly providerKey: LaneKey;
  readonly estimatedTokens: Tokens;
  readonly notBefore: EpochMillis;
  readonly index: CaseIndex;
  /** Names the call within its case. */
  readonly path: string;
}

/** The one cause why a lane does not start its next call, in the order in which causes are told. */
export type WaitCause =
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'parked'; readonly until: EpochMillis; readonly reason: string }
  | { readonly kind: 'rate-limited'; readonly until: EpochMillis; readonly resource: Resource }
  | { readonly kind: 'backing-off'; readonly until: EpochMillis }
  | { readonly kind: 'paused' }
  | { readonly kind: 'serial-gate'; readonly heldBy: CaseIndex }
  | { readonly kind: 'tokens'; readonly until: EpochMillis }
  | { readonly kind: 'requests'; readonly until: EpochMillis }
  | { readonly kind: 'concurrency' }
  /** The lane feels its way to what the provider allows: so many calls at once for now. */
  | { readonly kind: 'finding-pace'; readonly atOnce: number }
  /** So many calls at once for now, after rejections or errors. */
  | { readonly kind: 'cut-back'; readonly atOnce: number }
  | { readonly kind: 'global-cap' }
  | { readonly kind: 'slow-answers' }
  | { readonly kind: 'nothing-left' };

/** A lane as a person or a program may look at it, at any time. */
export interface LaneSnapshot {
  readonly key: LaneKey;
  readonly queue: number;
  readonly inFlight: number;
  readonly maxConcurrentConfig: number;
  readonly maxConcurrentDynamic: number;
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly nextReqAt: EpochMillis;
  readonly nextTokAt: EpochMillis;
  readonly blockedUntil: EpochMillis;
  /** When the lane's one timer fires next; undefined when none is set. */
  readonly timer: EpochMillis | undefined;
  readonly minGapMs: Millis;
  readonly pacePerMinute: number;
  /** True while the lane is still finding out how fast it may go. */
  readonly learning?: boolean;
  readonly started: number;
  readonly ended: number;
  readonly rejections: number;
  readonly cause: WaitCause;
}

/** What happens in the lanes, for every observer alike. */
export type LaneEvent =
  | {
      readonly type: 'call-queue';
      readonly lane: LaneKey;
      readonly call: number;
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      /** Made to grade what the case did, not by the case itself. */
      readonly closing?: true;
    }
  | {
      readonly type: 'call-start';
      readonly lane: LaneKey;
      readonly call: number;
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      readonly attempt: number;
    }
  | {
      readonly type: 'call-requeue';
      readonly lane: LaneKey;
      readonly call: number;
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      readonly notBefore: EpochMillis;
      readonly reason: 'rate-limited' | 'retry' | 'parked';
    }
  | {
      readonly type: 'call-end';
      readonly lane: LaneKey;
      readonly call: number;
      readonly index: CaseIndex;
      readonly at: EpochMillis;
      readonly result: 'ok' | 'failed' | 'aborted';
      /** What the provider counted, where it said so. */
      readonly usage?: Usage;
    }
  | {
      readonly type: 'lane-block';
      readonly lane: LaneKey;
      readonly at: EpochMillis;
      readonly until: EpochMillis;
      readonly resource: Resource;
    }
  | {
      readonly type: 'lane-park';
      readonly lane: LaneKey;
      readonly at: EpochMillis;
      readonly until: EpochMillis;
      readonly reason: string;
    }
  | { readonly type: 'lane-close'; readonly lane: LaneKey; readonly at: EpochMillis; readonly reason: string }
  | { readonly type: 'lane-pause' | 'lane-resume'; readonly lane: LaneKey; readonly at: EpochMillis }
  | {
      readonly type: 'lane-learn';
      readonly lane: LaneKey;
      readonly at: EpochMillis;
      readonly resource: Resource;
      readonly ratePerMinute: number;
      readonly windowMs: Millis;
    }
  | {
      readonly type: 'lane-concurrency';
      readonly lane: LaneKey;
      readonly at: EpochMillis;
      readonly from: number;
      readonly to: number;
      readonly reason: 'rate-limited' | 'recovered' | 'retuned';
    };
