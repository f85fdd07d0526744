/**
 * How close a run comes to the least time it could have taken.
 *
 * Job: note every call of every case as it ends, and set the lower bound from them against the time the run took.
 * Not its job: where the lanes' time goes (they say so themselves), and how the figures are told.
 * 1. A few numbers a call at most, however many cases there are. 2. One sitting: what was replayed did not happen now.
 */
import type { LaneKey, Millis } from '../domain/ids.ts';
import type { Provider } from '../domain/provider.ts';
import type { LaneEfficiency, RunEfficiency } from '../domain/run-efficiency.ts';
import { countedUse } from '../lanes/reservation.ts';
import { PlacedCalls } from '../sim/head-tail.ts';
import { limitsBound, type RunBound } from '../sim/limits-bound.ts';
import { CaseChain, type ChainCall } from './case-chain.ts';
import type { LaneFacts } from './model-lanes.ts';
import type { StepEnd } from './step.ts';

/** One case's part of the meter. */
export interface CaseMeter {
  add(end: StepEnd): void;
  /** The case is over, or stopped. */
  close(): void;
}

export class RunMeter {
  readonly #provider: (name: string) => Provider | undefined;
  readonly #calls = new Map<LaneKey, PlacedCalls>();
  #longestCaseMs = 0;
  #oneByOneMs = 0;

  constructor(provider: (name: string) => Provider | undefined) {
    this.#provider = provider;
  }

  /** `alone`: it must run while no other case does. */
  case(alone: boolean): CaseMeter {
    const chain = new CaseChain();
    return {
      add: ({ kind, answer, replayed }) => {
        if (replayed || kind === 'clock' || kind === 'random') return;
        chain.add(answer.times, kind === 'model' ? this.#callOf(answer) : undefined);
      },
      close: () => this.#close(chain, alone),
    };
  }

  /** Undefined when no call went through a lane. */
  tell({ limits, lanes }: LaneFacts, makespanMs: Millis): RunEfficiency | undefined {
    if (this.#calls.size === 0 || makespanMs <= 0) return undefined;
    const work = { calls: this.#calls, longestCaseMs: this.#longestCaseMs, oneByOneMs: this.#oneByOneMs };
    const bound = limitsBound(work, limits);
    const rated = new Set(limits.flatMap(({ lanes: under, rates }) => (rates.length === 0 ? [] : under)));
    const decidingLane = this.#deciding(bound);
    if (decidingLane === undefined) return undefined;
    // Limits that were learned or changed on the way may promise more than the run took.
    const boundMs = Math.min(bound.ms, makespanMs);
    return {
      makespanMs,
      boundMs,
      efficiency: boundMs / makespanMs,
      bindingTerm: bound.term,
      ...(bound.limit === undefined ? {} : { bindingLimit: bound.limit.key }),
      decidingLane,
      lanes: lanes.map(
        ({ lane, timeMs, rejections }): LaneEfficiency => ({
          lane,
          calls: this.#calls.get(lane)?.count ?? 0,
          timeMs,
          ...(rejections > 0 && !rated.has(lane) ? { limitUnknown: true as const } : {}),
        }),
      ),
      ...([...this.#calls.values()].every(({ placed }) => placed) ? {} : { simplified: true as const }),
    };
  }

  #callOf({ times, provider, usage }: StepEnd['answer']): ChainCall | undefined {
    const made = times.attempts > 0 && provider !== undefined ? this.#provider(provider) : undefined;
    return made === undefined ? undefined : { lane: made.laneKey, ...countedUse(made.accounting, usage) };
  }

  #close(chain: CaseChain, alone: boolean): void {
    const { totalMs } = chain;
    if (totalMs > this.#longestCaseMs) this.#longestCaseMs = totalMs;
    if (alone) this.#oneByOneMs += totalMs;
    for (const { lane, head, tail, latencyMs, input, output } of chain.calls()) {
      let calls = this.#calls.get(lane);
      if (calls === undefined) {
        calls = new PlacedCalls();
        this.#calls.set(lane, calls);
      }
      calls.add(head, tail, latencyMs, input, output);
    }
  }

  #deciding({ limit }: RunBound): LaneKey | undefined {
    let found: LaneKey | undefined;
    let longest = -1;
    for (const [lane, { latencyMs }] of this.#calls) {
      if (latencyMs <= longest || (limit !== undefined && !limit.lanes.includes(lane))) continue;
      found = lane;
      longest = latencyMs;
    }
    return found;
  }
}
