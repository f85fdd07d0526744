import type { EpochMillis, Millis, Tokens } from '../../domain/ids.ts';
import type { RateReading, Resource } from '../../domain/reply.ts';
import type { SimOptions } from './sim-options.ts';

/** A bucket that refills continuously. */
class Pool {
  readonly resource: Resource;
  readonly capacity: number;
  readonly perMs: number;
  #level: number;
  #at: EpochMillis | undefined;

  constructor(resource: Resource, perMinute: number, capacity: number) {
    this.resource = resource;
    this.capacity = capacity;
    this.perMs = perMinute / 60_000;
    this.#level = capacity;
  }

  level(now: EpochMillis): number {
    this.#level = Math.min(this.capacity, this.#level + (now - (this.#at ?? now)) * this.perMs);
    this.#at = now;
    return this.#level;
  }

  take(amount: number, now: EpochMillis): void {
    this.#level = this.level(now) - amount;
  }

  wait(amount: number, now: EpochMillis): Millis {
    return Math.max(0, (Math.min(amount, this.capacity) - this.level(now) - 1e-6) / this.perMs);
  }

  reading(now: EpochMillis): RateReading {
    const level = this.level(now);
    return {
      resource: this.resource,
      limit: this.capacity,
      remaining: Math.max(0, Math.floor(level)),
      resetMs: Math.ceil((this.capacity - level) / this.perMs),
    };
  }
}

export interface SimRefusal {
  readonly resource: Resource;
  readonly waitMs: Millis;
  readonly kind: 'rate' | 'concurrency' | 'day';
}

const dayMs = 86_400_000;

/** The limits of one simulated model. */
export class SimLimiter {
  readonly #pools: readonly Pool[];
  readonly #options: SimOptions;
  #busy = 0;
  #today = 0;
  #day = -1;

  constructor(options: SimOptions) {
    this.#options = options;
    const pools: Pool[] = [];
    if (options.rpm !== undefined) pools.push(new Pool('requests', options.rpm, options.burst ?? options.rpm));
    if (options.tpm !== undefined) pools.push(new Pool('tokens', options.tpm, options.tpm));
    this.#pools = pools;
  }

  /** Takes the call's place and amounts, or says why not. */
  admit(tokens: Tokens, now: EpochMillis): SimRefusal | undefined {
    const refusal = this.#refusal(tokens, now);
    if (refusal) return refusal;
    for (const pool of this.#pools) pool.take(pool.resource === 'requests' ? 1 : tokens, now);
    this.#busy += 1;
    this.#today += 1;
    return undefined;
  }

  /** The call is over; what it took beyond its real use goes back. */
  release(reserved: Tokens, used: Tokens, now: EpochMillis): void {
    this.#busy -= 1;
    for (const pool of this.#pools) if (pool.resource === 'tokens') pool.take(used - reserved, now);
  }

  /** Calls that would wait silently inside before this one starts. */
  ahead(): number {
    return Math.max(0, this.#busy - (this.#options.queue ?? Number.POSITIVE_INFINITY));
  }

  readings(now: EpochMillis): RateReading[] {
    return this.#pools.map((pool) => pool.reading(now));
  }

  #refusal(tokens: Tokens, now: EpochMillis): SimRefusal | undefined {
    const { concurrency, perDay } = this.#options;
    if (concurrency !== undefined && this.#busy >= concurrency) {
      return { resource: 'requests', waitMs: 250, kind: 'concurrency' };
    }
    if (Math.floor(now / dayMs) !== this.#day) this.#today = 0;
    this.#day = Math.floor(now / dayMs);
    if (perDay !== undefined && this.#today >= perDay) {
      return { resource: 'requests', waitMs: dayMs - (now % dayMs), kind: 'day' };
    }
    for (const pool of this.#pools) {
      const waitMs = pool.wait(pool.resource === 'requests' ? 1 : tokens, now);
      if (waitMs > 0) return { resource: pool.resource, waitMs, kind: 'rate' };
    }
    return undefined;
  }
}
