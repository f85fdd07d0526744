import type { EpochMillis, Millis, Tokens } from '../domain/ids.ts';
import { Bucket } from './bucket.ts';

/** The limits of one key and model. Absent means unlimited. */
export interface ServerLimits {
  readonly rpm?: number;
  /** Tokens a minute, input and output together, by `reserve`. */
  readonly tpm?: number;
  readonly inputTpm?: number;
  readonly outputTpm?: number;
  readonly requestsPerDay?: number;
  readonly concurrency?: number;
  /** The window that rates are spread over; 60 s. With 10 s, 120 rpm holds 20 requests at most. */
  readonly windowMs?: Millis;
  /** Requests the bucket holds at most; one window's worth. */
  readonly requestBucket?: number;
  readonly tokenBucket?: number;
  /** Refill at the end of each window instead of continuously. */
  readonly fixedWindow?: boolean;
  /** A second bucket that no header tells of: so many requests in so many milliseconds. */
  readonly hiddenBurst?: { readonly requests: number; readonly perMs: Millis };
  /** What a request takes from the token bucket when it arrives; `expected` is input plus what it will answer. */
  readonly reserve?: 'expected' | 'input+max' | 'max(input,max)' | 'input';
  /** `real` gives back what was not used when the answer ends; `reserved` gives back nothing. */
  readonly settle?: 'real' | 'reserved';
  /** What an absent max_tokens counts as. */
  readonly defaultMaxTokens?: Tokens;
  /** Rejected requests cost quota too. */
  readonly rejectionsCost?: boolean;
}

export type LimitedResource = 'requests' | 'tokens' | 'inputTokens' | 'outputTokens' | 'requestsDay';

/** One bucket as headers tell it, at the moment of admission. */
export interface BucketReading {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: Millis;
}

export type LimitReadings = Partial<Record<LimitedResource, BucketReading>>;

export interface Refusal {
  readonly resource: LimitedResource | 'concurrency' | 'burst';
  /** Infinite when the request can never fit. */
  readonly waitMs: Millis;
}

export interface Admission {
  readonly refusal: Refusal | undefined;
  readonly readings: LimitReadings;
  /** Gives back what was reserved beyond the real use, and the place; call once, when the answer has ended. */
  readonly settle: (now: EpochMillis, inputTokens: Tokens, outputTokens: Tokens) => void;
}

export interface Weight {
  readonly inputTokens: Tokens;
  readonly maxTokens: Tokens | undefined;
  readonly expectedOutput: Tokens;
}

type Costs = Partial<Record<LimitedResource, number>>;

/** The state of one scope of limits: its buckets and its requests in flight. */
export class LimitScope {
  readonly #limits: ServerLimits;
  readonly #buckets = new Map<LimitedResource, Bucket>();
  readonly #burst: Bucket | undefined;
  #inFlight = 0;

  constructor(limits: ServerLimits) {
    this.#limits = limits;
    const windowMs = limits.windowMs ?? 60_000;
    const add = (resource: LimitedResource, perMinute: number | undefined, capacity: number | undefined): void => {
      if (perMinute === undefined) return;
      const spec = { perWindow: (perMinute * windowMs) / 60_000, windowMs, fixedWindow: limits.fixedWindow ?? false };
      this.#buckets.set(resource, new Bucket(capacity === undefined ? spec : { ...spec, capacity }));
    };
    add('requests', limits.rpm, limits.requestBucket);
    add('tokens', limits.tpm, limits.tokenBucket);
    add('inputTokens', limits.inputTpm, limits.tokenBucket);
    add('outputTokens', limits.outputTpm, limits.tokenBucket);
    if (limits.requestsPerDay !== undefined) {
      this.#buckets.set('requestsDay', new Bucket({ perWindow: limits.requestsPerDay, windowMs: 86_400_000 }));
    }
    const burst = limits.hiddenBurst;
    this.#burst = burst && new Bucket({ perWindow: burst.requests, windowMs: burst.perMs });
  }

  admit(weight: Weight, now: EpochMillis): Admission {
    const costs = this.#costs(weight);
    const refusal = this.#refusal(costs, now);
    if (refusal && !this.#limits.rejectionsCost) {
      return { refusal, readings: this.#readings(now), settle: () => {} };
    }
    for (const [resource, bucket] of this.#buckets) bucket.take(costs[resource] ?? 0, now);
    this.#burst?.take(1, now);
    if (refusal) return { refusal, readings: this.#readings(now), settle: () => {} };
    this.#inFlight += 1;
    return { refusal: undefined, readings: this.#readings(now), settle: this.#settler(costs) };
  }

  #costs(weight: Weight): Costs {
    const max = weight.maxTokens ?? this.#limits.defaultMaxTokens ?? weight.expectedOutput;
    const reserve = this.#limits.reserve ?? 'expected';
    const both = weight.inputTokens + (reserve === 'expected' ? weight.expectedOutput : max);
    const tokens =
      reserve === 'input'
        ? weight.inputTokens
        : reserve === 'max(input,max)'
          ? Math.max(weight.inputTokens, max)
          : both;
    return {
      requests: 1,
      requestsDay: 1,
      tokens,
      inputTokens: weight.inputTokens,
      outputTokens: reserve === 'input+max' ? max : weight.expectedOutput,
    };
  }

  #refusal(costs: Costs, now: EpochMillis): Refusal | undefined {
    if (this.#limits.concurrency !== undefined && this.#inFlight >= this.#limits.concurrency) {
      return { resource: 'concurrency', waitMs: 0 };
    }
    let worst: Refusal | undefined;
    for (const [resource, bucket] of this.#buckets) {
      const waitMs = bucket.wait(costs[resource] ?? 0, now);
      if (waitMs > 0 && waitMs > (worst?.waitMs ?? 0)) worst = { resource, waitMs };
    }
    const burstMs = this.#burst?.wait(1, now) ?? 0;
    return worst ?? (burstMs > 0 ? { resource: 'burst', waitMs: burstMs } : undefined);
  }

  #readings(now: EpochMillis): LimitReadings {
    const readings: LimitReadings = {};
    for (const [resource, bucket] of this.#buckets) {
      const remaining = Math.max(0, Math.floor(bucket.level(now) + 1e-6));
      readings[resource] = { limit: bucket.capacity, remaining, resetMs: bucket.untilFull(now) };
    }
    return readings;
  }

  #settler(costs: Costs): Admission['settle'] {
    let settled = false;
    return (now, inputTokens, outputTokens) => {
      if (settled) return;
      settled = true;
      this.#inFlight -= 1;
      if ((this.#limits.settle ?? 'real') === 'reserved') return;
      const inputOnly = this.#limits.reserve === 'input';
      const real: Costs = { tokens: inputTokens + (inputOnly ? 0 : outputTokens), inputTokens, outputTokens };
      for (const resource of ['tokens', 'inputTokens', 'outputTokens'] as const) {
        this.#buckets.get(resource)?.take((real[resource] ?? 0) - (costs[resource] ?? 0), now);
      }
    };
  }
}
