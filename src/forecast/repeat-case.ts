/**
 * A case as it went before, under the plan of now.
 *
 * Job: the calls of a past chain on the lanes planned now, and what each of them costs.
 * Not its job: which chain, and what is guessed where there is none (`draw-case.ts`).
 *
 * 1. What the case itself did is repeated; who grades it is the plan's: a grader that the past had not is guessed, one
 *    that the plan has no more is left out.
 * 2. What a case cost is shared out among its calls by their prices: a call that costs nothing stays free.
 */
import type { LaneKey, UsdMicros } from '../domain/ids.ts';
import type { Usage } from '../domain/reply.ts';
import type { PastCall, PastChain } from './past-cases.ts';
import type { GuessedCall, PlannedCase, PlannedLane } from './planned-work.ts';

/** A call of the past, on the lane that would be asked now. */
export interface RepeatedCall {
  readonly past: PastCall;
  readonly lane: LaneKey;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Its share of what the case cost; undefined when nobody knows. */
  readonly paid: UsdMicros | undefined;
}

export interface RepeatedCase {
  readonly calls: readonly RepeatedCall[];
  /** Calls of graders that the past case did not have. */
  readonly added: readonly GuessedCall[];
}

export type Price = (lane: LaneKey, usage: Usage) => UsdMicros | undefined;

export const listedPrices = (lanes: readonly PlannedLane[]): Price => {
  const byKey = new Map(lanes.map(({ spec, price }) => [spec.key, price]));
  return (lane, usage) => byKey.get(lane)?.(usage);
};

const lanesOf = (calls: Iterable<{ readonly lane: LaneKey }>): LaneKey[] => [
  ...new Set([...calls].map(({ lane }) => lane)),
];

/** The lanes of then, in order of appearance, become those planned now. */
const byOrder =
  (then: readonly LaneKey[], now: readonly LaneKey[]) =>
  (lane: LaneKey): LaneKey =>
    now[then.indexOf(lane)] ?? lane;

/** Graders that were and are asked stay; the others of then become, in order, the others of now. */
function graderNow(then: readonly LaneKey[], now: readonly LaneKey[]): (lane: LaneKey) => LaneKey {
  const others = byOrder(
    then.filter((lane) => !now.includes(lane)),
    now.filter((lane) => !then.includes(lane)),
  );
  return (lane) => (now.includes(lane) ? lane : others(lane));
}

const usageOf = (chain: PastChain, { usage }: PastCall): RepeatedCall['usage'] => ({
  inputTokens: usage?.inputTokens ?? chain.inputTokens,
  outputTokens: usage?.outputTokens ?? chain.outputTokens,
});

/** What each call of the chain cost: by the prices of their lanes; lanes without one share what is left. */
function paidShares(chain: PastChain, price: Price): readonly (UsdMicros | undefined)[] {
  const { calls, costUsdMicros: cost } = chain;
  if (cost === null) return calls.map(() => undefined);
  const listed = calls.map((call) => price(call.lane, usageOf(chain, call)));
  const sum = listed.reduce<number>((all, one) => all + (one ?? 0), 0);
  const unlisted = listed.filter((one) => one === undefined).length;
  if (unlisted > 0) return listed.map((one) => one ?? Math.max(0, cost - sum) / unlisted);
  return listed.map((one = 0) => (sum === 0 ? cost / calls.length : (cost * one) / sum));
}

/** The planned calls beyond those that the past had on the same lane. */
function beyond(planned: readonly GuessedCall[], past: readonly RepeatedCall[]): GuessedCall[] {
  const had = Map.groupBy(past, ({ lane }) => lane);
  const met = new Map<LaneKey, number>();
  return planned.filter(({ lane }) => {
    const count = (met.get(lane) ?? 0) + 1;
    met.set(lane, count);
    return count > (had.get(lane)?.length ?? 0);
  });
}

/** The past chain as the plan would make it now. */
export function repeatCase(chain: PastChain, planned: PlannedCase, price: Price): RepeatedCase {
  const closing = planned.guess.filter((call) => call.closing === true);
  const [bodyLanes, graderLanes] = [
    lanesOf([planned, ...planned.guess.filter((call) => call.closing !== true)]),
    lanesOf(closing),
  ];
  // A past that does not say who graded is told by the lanes that only graders are planned on.
  const isGrader = (call: PastCall): boolean =>
    call.closing === true || (graderLanes.includes(call.lane) && !bodyLanes.includes(call.lane));
  const bodyNow = byOrder(lanesOf(chain.calls.filter((call) => !isGrader(call))), bodyLanes);
  const grader = graderNow(lanesOf(chain.calls.filter(isGrader)), graderLanes);
  const shares = paidShares(chain, price);
  const calls = chain.calls.map((past, at): RepeatedCall => {
    const lane = isGrader(past) ? grader(past.lane) : bodyNow(past.lane);
    return { past, lane, usage: usageOf(chain, past), paid: shares[at] };
  });
  const kept = calls.filter(({ past, lane }) => !isGrader(past) || graderLanes.includes(lane));
  return {
    calls: kept,
    added: beyond(
      closing,
      kept.filter(({ past }) => isGrader(past)),
    ),
  };
}
