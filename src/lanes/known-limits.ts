/** The limits that a run's calls stood under, as far as they are declared or were told: what a lower bound may count on. */
import type { LaneKey } from '../domain/ids.ts';
import type { Resource } from '../domain/reply.ts';
import type { LaneState } from './lane-state.ts';
import type { LimitNode } from './limit-node.ts';
import { resourceNames } from './queued-call.ts';

export interface KnownRate {
  readonly resource: Resource;
  readonly perMs: number;
  /** Units that may go at once before the rate holds; 0 means strict spacing. */
  readonly credit: number;
}

/** One limit with the lanes under it. */
export interface KnownLimit {
  readonly key: string;
  readonly lanes: readonly LaneKey[];
  readonly maxConcurrent: number;
  readonly rates: readonly KnownRate[];
}

/** Declared rates are kept without any credit. */
const declaredRates = ({ declared }: LimitNode): KnownRate[] =>
  resourceNames.flatMap((resource, at) => {
    const perMs = declared[at];
    return perMs === undefined ? [] : [{ resource, perMs, credit: 0 }];
  });

function ownRates(lane: LaneState): KnownRate[] {
  const gap: KnownRate[] = lane.minGapMs > 0 ? [{ resource: 'requests', perMs: 1 / lane.minGapMs, credit: 0 }] : [];
  const told = lane.pace.remember().map(({ resource, ratePerMinute, capacity }): KnownRate => {
    // Around the end of a fixed window the quota of two may go at once.
    const fixed = lane.own.buckets[resourceNames.indexOf(resource)]?.fixedWindow === true;
    return { resource, perMs: ratePerMinute / 60_000, credit: fixed ? 2 * capacity : capacity };
  });
  return [...declaredRates(lane.own), ...gap, ...told];
}

export function knownLimits(lanes: Iterable<LaneState>): KnownLimit[] {
  const shared = new Map<LimitNode, LaneKey[]>();
  const limits: KnownLimit[] = [];
  for (const lane of lanes) {
    limits.push({
      key: lane.key,
      lanes: [lane.key],
      maxConcurrent: Math.min(lane.concurrency.configured, lane.own.maxConcurrent),
      rates: ownRates(lane),
    });
    for (const node of lane.nodes) {
      if (node === lane.own) continue;
      shared.set(node, [...(shared.get(node) ?? []), lane.key]);
    }
  }
  for (const [node, keys] of shared)
    limits.push({ key: node.key, lanes: keys, maxConcurrent: node.maxConcurrent, rates: declaredRates(node) });
  return limits;
}
