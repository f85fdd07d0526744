import type { EpochMillis, Millis } from './ids.ts';
import type { Json } from './json.ts';
import type { ModelRequest } from './message.ts';
import type { Outcome } from './reply.ts';

/** The time a step took, told apart: only `latencyMs` is the provider's or tool's own and counts against timeouts. */
export interface StepTimes {
  /** When the first attempt was made: after the queue. */
  readonly startedAt: EpochMillis;
  readonly endedAt: EpochMillis;
  readonly queueMs: Millis;
  readonly backoffMs: Millis;
  readonly latencyMs: Millis;
  /** Wire requests made, 0 when nothing was sent. */
  readonly attempts: number;
}

/** A step's answer with its times; on resume, replay and fork both are the recorded ones. */
export interface Recorded<T> {
  readonly value: T;
  readonly times: StepTimes;
  /** True when the answer came from the journal instead of from the world. */
  readonly replayed: boolean;
}

/** One model call of a case: who asks, of which provider, what. */
export interface ModelCall {
  /** `prompt`, `agent:<name>`, `client`, `judge`, `grader`, `embedding`, ...: shown to people and summed per role. */
  readonly role: string;
  /** A provider id or label that the run can resolve. */
  readonly provider: string;
  readonly request: ModelRequest;
  /** How many more calls this case is expected to make, this one included; orders admission within a lane. */
  readonly expectedCalls?: number;
  /** Working time left to the case: an attempt in flight longer than this is cancelled and fails as `timeout`. Queueing and back-off do not count. */
  readonly timeoutMs?: Millis;
}

/** Whether the effect with this path grades a case: whatever the case itself does has other paths. */
export const isGrading = (path: string): boolean => /^(grade|compare)\//.test(path);

/**
 * Everything a case may do to the world. Each effect has a path that is fixed when it is issued
 * (`turn/agent/round/position`, `grade/<i>/<n>`), so that parallel effects replay in any order of completion.
 */
export interface Effects {
  readonly signal: AbortSignal;
  model(path: string, call: ModelCall): Promise<Recorded<Outcome>>;
  /** A tool or webhook call. The effect is run at most once per committed answer; the path is its idempotency key. */
  perform<T extends Json>(
    kind: 'tool' | 'webhook' | 'code',
    path: string,
    request: Json,
    effect: (options: { readonly signal: AbortSignal; readonly idempotencyKey: string }) => Promise<T>,
  ): Promise<Recorded<T>>;
  now(path: string): Promise<EpochMillis>;
  /** How long nobody played the case between what was recorded of it and what followed: a stop, or the way to a fork. */
  pausedMs?(): Millis;
  /** A random UUID. */
  uuid(path: string): Promise<string>;
}
