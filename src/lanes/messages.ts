/** What goes into the scheduler (events) and what comes out of it (commands). */
import type { CaseIndex, EpochMillis, LaneKey, Millis } from '../domain/ids.ts';
import type { LaneEvent, LaneLimits } from '../domain/lane.ts';
import type { RateHints, Resource, Usage } from '../domain/reply.ts';
import type { LaneSpec } from './lane-state.ts';
import type { CallInput } from './queued-call.ts';
import type { SerialMode } from './serial-gate.ts';

/** How one wire request ended, as far as scheduling is concerned. */
export type AttemptResult =
  | { readonly type: 'ok'; readonly usage?: Usage; readonly hints?: RateHints }
  | {
      readonly type: 'rate-limited';
      readonly retryAfterMs?: Millis;
      readonly resource?: Resource;
      readonly hints?: RateHints;
    }
  /** Transient or overloaded: counted against `maxRetries`, or worth one more try only. */
  | { readonly type: 'retry'; readonly once?: boolean; readonly hints?: RateHints }
  | { readonly type: 'park'; readonly until: EpochMillis; readonly reason: string }
  | { readonly type: 'close'; readonly reason: string }
  /** This call only. */
  | { readonly type: 'fail' }
  | { readonly type: 'aborted' };

export type SchedulerEvent =
  | { readonly type: 'open'; readonly lane: LaneSpec }
  | { readonly type: 'submit'; readonly lane: LaneKey; readonly call: CallInput }
  | { readonly type: 'head'; readonly call: number; readonly hints: RateHints }
  /** `hostTurnMs`: how long the process that makes the calls leaves an answer lying, when it has no idle time left. */
  | { readonly type: 'end'; readonly call: number; readonly result: AttemptResult; readonly hostTurnMs?: Millis }
  | { readonly type: 'timer'; readonly lane: LaneKey }
  | { readonly type: 'pause' | 'resume'; readonly lane: LaneKey }
  | { readonly type: 'retune'; readonly lane: LaneKey; readonly limits: LaneLimits }
  | { readonly type: 'case-open'; readonly index: CaseIndex; readonly serial: SerialMode }
  | { readonly type: 'case-close'; readonly index: CaseIndex }
  | { readonly type: 'cancel'; readonly index: CaseIndex }
  | { readonly type: 'abort' };

/** How a call ended for good. `ok`, `failed` and `exhausted` carry the last attempt's own result outside the scheduler. */
export type CallEnd =
  | { readonly type: 'ok'; readonly usage?: Usage | undefined }
  | { readonly type: 'failed' }
  /** `maxRetries` or `maxRateLimited` is used up. */
  | { readonly type: 'exhausted'; readonly counter: 'maxRetries' | 'maxRateLimited' }
  | { readonly type: 'lane-closed'; readonly reason: string }
  | { readonly type: 'too-large'; readonly resource: Resource; readonly limit: number; readonly cost: number }
  | { readonly type: 'aborted' };

export type Command =
  | { readonly type: 'start'; readonly call: number; readonly lane: LaneKey; readonly attempt: number }
  | { readonly type: 'finish'; readonly call: number; readonly end: CallEnd }
  | { readonly type: 'cancel'; readonly call: number }
  | { readonly type: 'timer'; readonly lane: LaneKey; readonly at: EpochMillis | undefined }
  | { readonly type: 'event'; readonly event: LaneEvent };
