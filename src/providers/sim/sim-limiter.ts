import type { EpochMillis, Millis } from '../../domain/ids.ts';
import type { RateReading, Resource } from '../../domain/reply.ts';
import { type BucketSpec, ServerModel, type ServerSpec, type SimRequest } from '../../sim/server-model.ts';
import type { SimOptions } from './sim-options.ts';

export interface SimRefusal {
  readonly resource: Resource;
  readonly waitMs: Millis;
  readonly daily: boolean;
}

export type SimAdmission =
  | { readonly refusal: SimRefusal; readonly readings: readonly RateReading[] }
  | { readonly refusal: undefined; readonly readings: readonly RateReading[]; readonly queuedMs: Millis };

/** A wait this long is the rest of a day, not a refill. */
const longWaitMs = 3_600_000;

function bucketOf(perMinute: number, capacity: number, { window, quantum }: SimOptions): BucketSpec {
  return {
    perMinute,
    capacity,
    ...(window === undefined ? {} : { fixedWindowMs: window }),
    ...(quantum === undefined ? {} : { quantumMs: quantum }),
  };
}

/** The settings as a description of a server. */
function serverOf(options: SimOptions): ServerSpec {
  const { rpm, tpm, burst, window, concurrency, queue, perDay, neighbour, change } = options;
  const share = window === undefined ? 1 : window / 60_000;
  return {
    ...(rpm === undefined ? {} : { requests: bucketOf(rpm, burst ?? Math.max(1, rpm * share), options) }),
    ...(tpm === undefined ? {} : { tokens: { ...bucketOf(tpm, tpm * share, options), rule: options.count } }),
    ...(concurrency === undefined ? {} : { maxConcurrent: concurrency }),
    ...(queue === undefined ? {} : { silentQueue: queue }),
    ...(perDay === undefined ? {} : { perDay }),
    ...(neighbour === 0 ? {} : { neighbour: { fromMs: 0, untilMs: Number.POSITIVE_INFINITY, share: neighbour } }),
    ...(change === undefined ? {} : { changes: [change] }),
    headers: 'consistent',
  };
}

/** The limits of one simulated model; its time begins with its first call. */
export class SimLimiter {
  readonly #model: ServerModel;
  #startedAt: EpochMillis | undefined;

  constructor(options: SimOptions) {
    this.#model = new ServerModel(serverOf(options));
  }

  admit(request: SimRequest, latencyMs: Millis, now: EpochMillis): SimAdmission {
    const admission = this.#model.arrive(request, latencyMs, this.#since(now));
    const { readings } = admission.hints;
    if (admission.accepted) return { refusal: undefined, readings, queuedMs: admission.extraLatencyMs };
    const waitMs = admission.retryAfterMs ?? 0;
    return { refusal: { resource: admission.resource, waitMs, daily: waitMs > longWaitMs }, readings };
  }

  /** The call is over, answered or not. */
  complete(request: SimRequest, now: EpochMillis): void {
    this.#model.complete(request, this.#since(now));
  }

  #since(now: EpochMillis): Millis {
    this.#startedAt ??= now;
    return now - this.#startedAt;
  }
}
