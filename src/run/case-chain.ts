/**
 * A case as it would have gone had none of its calls ever waited.
 *
 * Job: give each model call its head (what must come before it in its case) and its tail (its own time and what must come
 * after it). Not its job: waiting, which is what the rest is compared with.
 * 1. A step follows the one that ended last before it was issued, so parallel steps stand beside each other.
 * 2. Only time of models, tools, webhooks and code counts; what Parlane itself takes between them does not.
 * 3. What was replayed took no time now.
 */
import type { StepTimes } from '../domain/effects.ts';
import type { LaneKey } from '../domain/ids.ts';

interface Link {
  readonly issuedAt: number;
  readonly endedAt: number;
  readonly ms: number;
  readonly before: Link | undefined;
  readonly head: number;
  /** What comes after it, at most. */
  after: number;
  readonly call: ChainCall | undefined;
}

/** A call that a lane let through, with what the provider counted for it. */
export interface ChainCall {
  readonly lane: LaneKey;
  readonly input: number;
  readonly output: number;
}

export interface PlacedCall extends ChainCall {
  readonly head: number;
  readonly tail: number;
  readonly latencyMs: number;
}

export class CaseChain {
  readonly #links: Link[] = [];

  /** A step that has just ended. */
  add({ startedAt, queueMs, endedAt, latencyMs }: StepTimes, call?: ChainCall): void {
    const issuedAt = startedAt - queueMs;
    const before = this.#latestBy(issuedAt);
    const head = before === undefined ? 0 : before.head + before.ms;
    this.#links.push({ issuedAt, endedAt, ms: latencyMs, before, head, after: 0, call });
  }

  /** The least time the whole case can take. */
  get totalMs(): number {
    let most = 0;
    for (const { head, ms } of this.#links) if (head + ms > most) most = head + ms;
    return most;
  }

  /** Its calls with their places. */
  *calls(): Generator<PlacedCall> {
    // Steps are kept as they ended: whatever follows a step stands behind it.
    for (const link of this.#links.toReversed()) {
      const tail = link.ms + link.after;
      if (link.before !== undefined && tail > link.before.after) link.before.after = tail;
      if (link.call !== undefined) yield { ...link.call, head: link.head, tail, latencyMs: link.ms };
    }
  }

  #latestBy(at: number): Link | undefined {
    let found: Link | undefined;
    for (let place = this.#links.length - 1; place >= 0; place -= 1) {
      const link = this.#links[place] as Link;
      if (link.endedAt > at) continue;
      if (found === undefined || link.endedAt > found.endedAt) found = link;
      // Ends come nearly in order: an earlier one than the best so far cannot be followed by a later one far behind.
      else break;
    }
    return found;
  }
}
