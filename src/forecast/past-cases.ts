/**
 * What earlier runs, or a pilot, teach about how cases go.
 *
 * Job: turn a run's events into chains: which lane was asked, how long each answer took, what happened in between.
 * Not its job: guessing, drawing, prices.
 *
 * 1. Queueing is left out: a chain holds the provider's own time and the case's own, so that it can be played again
 *    under other limits.
 * 2. Memory is bounded: a few chains per case name, a few hundred per family, the newest kept.
 */
import type { LaneKey, Millis, Tokens, UsdMicros } from '../domain/ids.ts';
import type { Usage } from '../domain/reply.ts';
import type { Row } from '../domain/row.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { type PastLane, pastLanes } from './past-lanes.ts';

export interface PastCall {
  readonly lane: LaneKey;
  /** The case's own work before this call: a tool, a webhook. */
  readonly gapMs: Millis;
  readonly latencyMs: Millis;
  /** It graded the case. */
  readonly closing?: true;
  /** What the provider counted for it; absent where it did not say: the chain's average stands for it. */
  readonly usage?: Usage;
}

export interface PastChain {
  readonly calls: readonly PastCall[];
  /** Per call, on average. */
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly costUsdMicros: UsdMicros | null;
}

/** Chains by family (a prompt or a specification) and, within it, by case name. */
export interface PastCases {
  readonly byName: ReadonlyMap<string, readonly PastChain[]>;
  readonly byFamily: ReadonlyMap<string, readonly PastChain[]>;
  /** What was seen of the lanes themselves. */
  readonly lanes?: ReadonlyMap<LaneKey, PastLane>;
  /** Cases learned from. */
  readonly seen: number;
}

export interface PastCasesCollector {
  observe(event: RunEvent): void;
  build(): PastCases;
}

export const nameKey = (family: string, name: string): string => `${family}\u0000${name}`;

const [keptPerName, keptPerFamily] = [16, 400];

interface OpenCase {
  readonly calls: PastCall[];
  readonly open: Map<number, { readonly queuedAt: number; startedAt: number; readonly closing: boolean }>;
  lastEndAt: number;
}

function chainOf(one: OpenCase, row: Row): PastChain {
  const calls = one.calls.length;
  return {
    calls: one.calls,
    inputTokens: (row.usage?.inputTokens ?? 0) / calls,
    outputTokens: (row.usage?.outputTokens ?? 0) / calls,
    costUsdMicros: row.costUsdMicros,
  };
}

function keep(chains: Map<string, PastChain[]>, key: string, chain: PastChain, most: number): void {
  const kept = chains.get(key);
  if (kept === undefined) chains.set(key, [chain]);
  else {
    kept.push(chain);
    if (kept.length > most) kept.shift();
  }
}

type CallEnded = Extract<RunEvent, { type: 'call-end' }>;

function endCall(one: OpenCase, { call, lane, at, usage }: CallEnded): void {
  const timing = one.open.get(call);
  one.open.delete(call);
  if (timing === undefined) return;
  const isFirst = one.calls.length === 0;
  const gapMs = isFirst ? 0 : Math.max(0, timing.queuedAt - one.lastEndAt);
  // A call made beside another adds only what it takes longer.
  const beside = !isFirst && timing.queuedAt < one.lastEndAt;
  const latencyMs = beside ? Math.max(0, at - Math.max(one.lastEndAt, timing.startedAt)) : at - timing.startedAt;
  const closing = timing.closing ? { closing: true as const } : {};
  one.calls.push({ lane, gapMs, latencyMs, ...closing, ...(usage === undefined ? {} : { usage }) });
  one.lastEndAt = Math.max(one.lastEndAt, at);
}

/**
 * Learns from events as they come. `familyOf` names what an edited prompt keeps in common with its past; a row without a
 * family is no case to learn from, though its calls tell about their lanes.
 */
export function pastCases(familyOf: (row: Row) => string | undefined): PastCasesCollector {
  const cases = new Map<number, OpenCase>();
  const lanes = pastLanes();
  const byName = new Map<string, PastChain[]>();
  const byFamily = new Map<string, PastChain[]>();
  let seen = 0;
  const caseOf = (index: number): OpenCase => {
    const known = cases.get(index);
    if (known !== undefined) return known;
    const fresh: OpenCase = { calls: [], open: new Map(), lastEndAt: 0 };
    cases.set(index, fresh);
    return fresh;
  };
  const finish = (row: Row): void => {
    const one = cases.get(row.index);
    cases.delete(row.index);
    const answered = row.status === 'passed' || row.status === 'failed';
    // A case that was only graded anew says nothing about how it goes.
    if (one === undefined || !answered || one.calls.every(({ closing }) => closing === true)) return;
    const family = familyOf(row);
    if (family === undefined) return;
    const chain = chainOf(one, row);
    seen++;
    keep(byName, nameKey(family, row.name), chain, keptPerName);
    keep(byFamily, family, chain, keptPerFamily);
  };
  return {
    observe(event) {
      lanes.observe(event);
      if (event.type === 'call-queue') {
        const closing = event.closing === true;
        caseOf(event.index).open.set(event.call, { queuedAt: event.at, startedAt: event.at, closing });
      } else if (event.type === 'call-start') {
        const timing = caseOf(event.index).open.get(event.call);
        if (timing !== undefined) timing.startedAt = event.at;
      } else if (event.type === 'call-end') {
        if (event.result === 'ok') endCall(caseOf(event.index), event);
      } else if (event.type === 'case-end') finish(event.row);
    },
    build: () => ({ byName, byFamily, lanes: lanes.build(), seen }),
  };
}

/** What the store keeps of past cases when events are gone: means over finished cases of one family and name. */
export interface PastMean {
  readonly family: string;
  readonly name: string;
  readonly calls: number;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly workingMs: Millis;
  readonly seen: number;
}

/** Chains from means: the calls go round the given lanes, as in a conversation, and take the mean time each. */
export function chainsFromMeans(
  means: readonly PastMean[],
  lanesOf: (mean: PastMean) => readonly LaneKey[],
): PastCases {
  const byName = new Map<string, PastChain[]>();
  const byFamily = new Map<string, PastChain[]>();
  let seen = 0;
  for (const mean of means) {
    const lanes = lanesOf(mean);
    const count = Math.max(1, Math.round(mean.calls));
    const calls = Array.from({ length: count }, (_, at): PastCall | undefined => {
      const lane = lanes[at % Math.max(1, lanes.length)];
      return lane === undefined ? undefined : { lane, gapMs: 0, latencyMs: mean.workingMs / count };
    }).filter((call) => call !== undefined);
    if (calls.length === 0) continue;
    const chain = {
      calls,
      inputTokens: mean.inputTokens / count,
      outputTokens: mean.outputTokens / count,
      costUsdMicros: null,
    };
    seen += mean.seen;
    keep(byName, nameKey(mean.family, mean.name), chain, keptPerName);
    keep(byFamily, mean.family, chain, keptPerFamily);
  }
  return { byName, byFamily, seen };
}
