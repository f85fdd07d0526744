/** The providers of a run, resolved once each, with their lanes open and their prices looked at. */
import { ParlaneError } from '../domain/errors.ts';
import type { LaneKey } from '../domain/ids.ts';
import type { Provider } from '../domain/provider.ts';
import type { Store } from '../store/store.ts';
import type { ModelLanes } from './model-lanes.ts';

export type ResolveProvider = (name: string) => Provider | Promise<Provider>;

/** A run with a spend cap must know what a call may cost. */
export function refuseUnknownPrice(provider: Provider): void {
  if (provider.price({ inputTokens: 1_000, outputTokens: 1_000 }) !== undefined) return;
  throw new ParlaneError(
    'budget/unknown-price',
    `The run has a budget, but no price is known for ${provider.id}.`,
    `Add it under "prices:" (for example "${provider.model}: {input: 0.4, output: 1.6}"), or run without a budget. Nothing was sent.`,
    { provider: provider.id, model: provider.model },
  );
}

export class OpenProviders {
  readonly #resolve: ResolveProvider;
  readonly #store: Store;
  readonly #lanes: ModelLanes;
  readonly #capped: boolean;
  readonly #open = new Map<string, Promise<Provider>>();
  readonly #known = new Map<string, Provider>();
  /** Lanes by key, settled once they are open: providers that share one wait for the first of them. */
  readonly #opened = new Map<LaneKey, Promise<void>>();

  constructor(resolve: ResolveProvider, store: Store, lanes: ModelLanes, capped: boolean) {
    this.#resolve = resolve;
    this.#store = store;
    this.#lanes = lanes;
    this.#capped = capped;
  }

  readonly get = (name: string): Promise<Provider> => {
    let provider = this.#open.get(name);
    if (provider === undefined) {
      provider = this.#prepare(name);
      this.#open.set(name, provider);
    }
    return provider;
  };

  /** The lane of a provider that was opened before. */
  lane(name: string): LaneKey | undefined {
    return this.#known.get(name)?.laneKey;
  }

  /** A provider that was opened before. */
  known(name: string): Provider | undefined {
    return this.#known.get(name);
  }

  async #prepare(name: string): Promise<Provider> {
    const provider = await this.#resolve(name);
    if (this.#capped) refuseUnknownPrice(provider);
    this.#known.set(name, provider);
    const lane = this.#opened.get(provider.laneKey) ?? this.#openLane(provider);
    this.#opened.set(provider.laneKey, lane);
    await lane;
    return provider;
  }

  async #openLane(provider: Provider): Promise<void> {
    this.#lanes.open(provider, await this.#store.limits(provider.laneKey));
  }

  /** Keeps what the lanes have learned for the next run, and lets the providers clean up. */
  async close(): Promise<void> {
    for (const lane of this.#opened.keys()) {
      const limits = this.#lanes.learned(lane);
      if (limits.length > 0) await this.#store.saveLimits(lane, limits).catch(() => {});
    }
    const providers = await Promise.allSettled(this.#open.values());
    await Promise.allSettled(providers.map((one) => (one.status === 'fulfilled' ? one.value.cleanup?.() : undefined)));
  }
}
