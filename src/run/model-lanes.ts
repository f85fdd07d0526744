/** The lanes as a run sees them; `lanes.ts` binds the scheduler to the clock and offers this. */
import type { StepTimes } from '../domain/effects.ts';
import type { CaseIndex, LaneKey } from '../domain/ids.ts';
import type { LaneSnapshot, LearnedLimit } from '../domain/lane.ts';
import type { Provider, TokenEstimate } from '../domain/provider.ts';
import type { Outcome, RateHints } from '../domain/reply.ts';
import type { TimeSpent } from '../domain/run-efficiency.ts';
import type { KnownLimit } from '../lanes/known-limits.ts';

/** One model request on its way to a lane. */
export interface LaneCall {
  readonly lane: LaneKey;
  readonly index: CaseIndex;
  readonly path: string;
  readonly estimate: TokenEstimate;
  /** Most output tokens the request allows; absent means what the estimate says. */
  readonly maxOutput?: number;
  /** Calls this case is still expected to make, this one included. */
  readonly expectedCalls: number;
  /** Calls this case has made before. */
  readonly made: number;
  /** Part of a case that holds the serial gate. */
  readonly serial?: boolean;
  /** One attempt on the wire. Never rejects. */
  perform(signal: AbortSignal, onHead: (hints: RateHints) => void): Promise<Outcome>;
}

/** What lanes know about themselves once a run is over. */
export interface LaneFacts {
  readonly limits: readonly KnownLimit[];
  readonly lanes: readonly { readonly lane: LaneKey; readonly timeMs: TimeSpent; readonly rejections: number }[];
}

export interface ModelLanes {
  /** Makes the provider's lane known, with what an earlier run learned about it. Called once per lane. */
  open(provider: Provider, learned: readonly LearnedLimit[]): void;
  submit(call: LaneCall): Promise<{ readonly outcome: Outcome; readonly times: StepTimes }>;
  /** A case that runs alone holds the gate from here until it is closed; told, so that people see who holds it. */
  openCase?(index: CaseIndex, serial: 'phase' | 'gate'): void;
  closeCase?(index: CaseIndex): void;
  /** What this run has learned about a lane. */
  learned(lane: LaneKey): readonly LearnedLimit[];
  /** The limits the calls stood under, and where the time went since the lanes were made. */
  facts?(): LaneFacts;
  /** How the lanes stand now. */
  snapshot?(): readonly LaneSnapshot[];
  /** No new start, everything in flight is cancelled. */
  abort(reason: string): void;
  /** Frees timers; after `abort` or when nothing is left. */
  shutdown(): void;
}
