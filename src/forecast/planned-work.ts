import type { LaneKey, Millis, Tokens, UsdMicros } from '../domain/ids.ts';
import type { Usage } from '../domain/reply.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';

/** One call as the plan expects it, where nobody knows better. */
export interface GuessedCall {
  readonly lane: LaneKey;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  /** Made once at the end, however long the case gets: a judge, a grader. */
  readonly closing?: true;
}

/** One case to be forecast. */
export interface PlannedCase {
  /** The lane of its column: where it counts as a case. */
  readonly lane: LaneKey;
  /** What an edited prompt keeps in common with its past: the prompt's or specification's name. */
  readonly family: string;
  /** The scenario's or test's name within it. */
  readonly name: string;
  /** Used where no past case is alike: the chain of calls with the real prompt's weight. */
  readonly guess: readonly GuessedCall[];
  /** Calls that the run will expect of it when it orders its cases; absent: it will know exactly. */
  readonly expectedCalls?: number;
}

/** One lane to be forecast. */
export interface PlannedLane {
  /** As the run would open it: declared limits, and those learned before or probed. */
  readonly spec: LaneSpec;
  /** Undefined when the price is unknown. */
  readonly price?: (usage: Usage) => UsdMicros | undefined;
  /** How long an answer takes, when the plan knows (a simulated provider says so); else guessed from its length. */
  readonly latency?: { readonly medianMs: Millis; readonly sigma: number };
}
