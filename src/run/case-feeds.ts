/** All feeds of one run: one per provider, so that no provider's trouble delays another, and those that go one by one. */
import type { Case } from '../domain/case.ts';
import type { RunStore } from '../store/store.ts';
import { CaseFeed, type FeedParts } from './case-feed.ts';
import { CaseOrder } from './case-order.ts';
import type { PlanIntake, PlanTraits } from './plan-intake.ts';

export interface CaseFeedsParts {
  readonly run: RunStore;
  readonly intake: PlanIntake;
  readonly stopped: () => boolean;
  readonly onChange: () => void;
  readonly play: (one: Case, feed: CaseFeed, serial: boolean) => Promise<void>;
}

export class CaseFeeds {
  readonly #parts: CaseFeedsParts;
  readonly #feeds = new Map<string, CaseFeed>();
  /** Providers the plan has named so far; each gets its feed as soon as these may open. */
  readonly #met = new Set<string>();
  #openFor: ((provider: string) => CaseFeed) | undefined;

  constructor(parts: CaseFeedsParts) {
    this.#parts = parts;
  }

  /** Plays the cases of a query one by one, in plan order, to the end. */
  async sequential(query: FeedParts['query']): Promise<void> {
    const feed = this.#feed({ query: { ...query, byIndex: true }, oneByOne: true });
    this.#feeds.set(`sequential ${JSON.stringify(query)}`, feed);
    feed.pump();
    await feed.done;
  }

  /** From now on every provider's cases may start; prompts that go in order have a feed of their own. */
  openLanes(traits: PlanTraits, promptsInOrder: boolean): void {
    this.#openFor = (provider) => {
      const query = {
        provider,
        serial: false,
        byIndex: traits.stateful,
        ...(promptsInOrder ? { kind: 'conversation' as const } : {}),
      };
      return this.#feed(traits.stateful && !promptsInOrder ? { query, order: new CaseOrder() } : { query });
    };
    for (const provider of this.#met) this.meet(provider);
  }

  meet(provider: string): void {
    this.#met.add(provider);
    if (this.#openFor === undefined || this.#feeds.has(provider)) return;
    const feed = this.#openFor(provider);
    this.#feeds.set(provider, feed);
    feed.pump();
  }

  flight(provider: string, change: 1 | -1): void {
    this.#feeds.get(provider)?.flight(change);
  }

  pump(): void {
    for (const feed of this.#feeds.values()) feed.pump();
  }

  async finished(): Promise<void> {
    await Promise.all([...this.#feeds.values()].map((feed) => feed.done));
  }

  get running(): number {
    return [...this.#feeds.values()].reduce((sum, feed) => sum + feed.running, 0);
  }

  /** Some feed is about to start a case. */
  get starting(): boolean {
    return [...this.#feeds.values()].some((feed) => !feed.idle && feed.running === 0);
  }

  /** No feed has anything left to start, apart from those that cannot go on. */
  exhausted(isStuck: (provider: string) => boolean): boolean {
    return [...this.#feeds].every(([name, feed]) => feed.exhausted || isStuck(name));
  }

  #feed(own: Pick<FeedParts, 'query' | 'oneByOne' | 'order'>): CaseFeed {
    const { play, ...shared } = this.#parts;
    return new CaseFeed({ ...shared, ...own, play: (one, feed) => play(one, feed, own.oneByOne === true) });
  }
}
