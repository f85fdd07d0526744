/**
 * Job: start a run's cases at the right time: one by one where order matters, else as many as their lane can soon use.
 * Not its job: pace and limits (the lanes').
 *
 * Invariants: 1. First calls that wait are never more than max(64, those in flight), so memory stays flat and no lane runs dry.
 * 2. One provider's feed never waits for another's. 3. After a stop nothing is started.
 */
import type { Case } from '../domain/case.ts';
import type { CaseQuery, RunStore } from '../store/store.ts';
import type { CaseOrder } from './case-order.ts';
import type { PlanIntake } from './plan-intake.ts';

const page = 128;
/** Most cases held back for earlier ones; beyond that a feed waits. */
const mostHeld = 2_000;

export interface FeedParts {
  readonly run: RunStore;
  readonly intake: PlanIntake;
  readonly query: Omit<CaseQuery, 'after' | 'limit'>;
  readonly stopped: () => boolean;
  /** Plays a case to its end; never rejects. */
  readonly play: (one: Case, feed: CaseFeed) => Promise<void>;
  /** Something was started, or is over. */
  readonly onChange: () => void;
  /** One case at a time. */
  readonly oneByOne?: boolean;
  readonly order?: CaseOrder;
}

/** Gives out the open cases of one selection and knows how many are under way. */
export class CaseFeed {
  readonly #parts: FeedParts;
  readonly done: Promise<void>;
  #finish: () => void = () => {};
  #fail: (cause: unknown) => void = () => {};
  #page: readonly { position: number; case: Case }[] = [];
  #at = 0;
  #after = Number.MIN_SAFE_INTEGER;
  #exhausted = false;
  #pumping = false;
  #again = false;
  #running = 0;
  #beforeFirstCall = 0;
  #inFlight = 0;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.done = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
  }

  /** Nothing is left to start and nothing is under way. */
  get idle(): boolean {
    return this.#exhausted && this.#running === 0;
  }

  /** Nothing is left to start. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  get running(): number {
    return this.#running;
  }

  flight(change: 1 | -1): void {
    this.#inFlight += change;
  }

  /** A case's first call is being sent: one more case may wait for its own. */
  firstSend(): void {
    this.#beforeFirstCall--;
    this.pump();
  }

  /** Starts what may start now. Safe to call at any time. */
  pump(): void {
    if (this.#pumping) {
      this.#again = true;
      return;
    }
    this.#pumping = true;
    this.#pumpAll().then(
      () => {
        this.#pumping = false;
        this.#parts.onChange();
        if (this.#again) {
          this.#again = false;
          this.pump();
        } else if (this.idle) this.#finish();
      },
      (cause: unknown) => this.#fail(cause),
    );
  }

  async #pumpAll(): Promise<void> {
    while (this.#hasRoom()) {
      const one = await this.#next();
      if (one === undefined) return;
      if (this.#parts.order?.admit(one) ?? true) this.#start(one);
    }
    if (this.#parts.stopped()) this.#exhausted = true;
  }

  #hasRoom(): boolean {
    if (this.#parts.stopped() || this.#exhausted) return false;
    if (this.#parts.oneByOne === true) return this.#running === 0;
    if ((this.#parts.order?.held ?? 0) >= mostHeld) return false;
    return this.#beforeFirstCall < Math.max(64, this.#inFlight);
  }

  async #next(): Promise<Case | undefined> {
    if (this.#at >= this.#page.length) {
      const { intake, run, query } = this.#parts;
      const all = intake.complete;
      this.#page = await run.openCases({ ...query, after: this.#after, limit: page });
      this.#at = 0;
      if (this.#page.length === 0) {
        this.#exhausted = all && (this.#parts.order?.held ?? 0) === 0;
        return undefined;
      }
    }
    const placed = this.#page[this.#at++];
    if (placed === undefined || this.#parts.stopped()) return undefined;
    this.#after = this.#parts.query.byIndex === true ? placed.case.index : placed.position;
    return placed.case;
  }

  #start(one: Case): void {
    this.#running++;
    this.#beforeFirstCall++;
    this.#parts.play(one, this).then(
      () => {
        this.#running--;
        for (const free of this.#parts.order?.finish(one) ?? []) if (!this.#parts.stopped()) this.#start(free);
        this.pump();
      },
      (cause: unknown) => this.#fail(cause),
    );
  }
}
