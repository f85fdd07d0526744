/** The physical limit of a simulated run: no schedule whatsoever finishes earlier, given what the servers really allow. */
import { PlacedCalls } from './head-tail.ts';
import type { BucketSpec, ServerSpec } from './server-model.ts';
import type { SimCase } from './workload.ts';

export interface Bound {
  readonly ms: number;
  /** What decides it: `longest case`, or a lane with its resource. */
  readonly term: string;
}

export function lowerBound(
  cases: readonly SimCase[],
  servers: readonly ServerSpec[],
  laneNames: readonly string[],
): Bound {
  const placed = place(cases, servers.length);
  let best: Bound = { ms: 0, term: 'nothing' };
  for (const each of cases) {
    const total = each.calls.reduce((sum, call) => sum + call.gapMs + call.latencyMs, 0);
    if (total > best.ms) best = { ms: total, term: 'longest case' };
  }
  servers.forEach((server, lane) => {
    const name = laneNames[lane] ?? `lane ${lane}`;
    for (const bound of laneBounds(placed[lane] ?? new PlacedCalls(), server))
      if (bound.ms > best.ms) best = { ms: bound.ms, term: `${name} ${bound.term}` };
  });
  return best;
}

function place(cases: readonly SimCase[], lanes: number): PlacedCalls[] {
  const placed = Array.from({ length: lanes }, () => new PlacedCalls(Number.POSITIVE_INFINITY));
  for (const each of cases) {
    let left = each.calls.reduce((sum, call) => sum + call.gapMs + call.latencyMs, 0);
    let head = 0;
    for (const call of each.calls) {
      head += call.gapMs;
      left -= call.gapMs;
      placed[call.lane]?.add(head, left, call.latencyMs, call.input, call.output);
      head += call.latencyMs;
      left -= call.latencyMs;
    }
  }
  return placed;
}

function* laneBounds(calls: PlacedCalls, server: ServerSpec): Generator<Bound> {
  const { requests, tokens } = server;
  if (requests !== undefined) {
    const admission = (units: number, head: number) => admittedBy(units, head, requests, server);
    yield { ms: calls.bound((count) => count, admission), term: 'requests' };
  }
  if (tokens !== undefined) {
    const admission = (units: number, head: number) => admittedBy(units, head, tokens, server);
    yield { ms: calls.bound((_, input, output) => input + output, admission), term: 'tokens' };
  }
  const places = server.maxConcurrent ?? server.silentQueue;
  if (places !== undefined) yield { ms: calls.latencyMs / places, term: 'concurrency' };
}

/** The earliest time by which a full server can have admitted `units`, none of them before `head`. */
function admittedBy(units: number, head: number, bucket: BucketSpec, server: ServerSpec): number {
  if (bucket.fixedWindowMs !== undefined) {
    const windows = Math.ceil(units / bucket.capacity) - 1;
    if (windows <= 0) return head;
    const phase = (head + (bucket.phaseMs ?? 0)) % bucket.fixedWindowMs;
    return head - phase + windows * bucket.fixedWindowMs;
  }
  const missing = units - bucket.capacity;
  if (missing <= 0) return head;
  return timeToGrow(missing, head, bucket.perMinute / 60_000, server);
}

/** Time at which `units` have been refilled since `from`, with the neighbour's share and changed limits taken off. */
function timeToGrow(units: number, from: number, rate: number, server: ServerSpec): number {
  const { neighbour } = server;
  const edges = [neighbour?.fromMs, neighbour?.untilMs, ...(server.changes ?? []).map((change) => change.atMs)]
    .filter((edge): edge is number => edge !== undefined && edge > from)
    .sort((a, b) => a - b);
  let at = from;
  let left = units;
  for (const edge of [...edges, Number.POSITIVE_INFINITY]) {
    let present = rate;
    for (const change of server.changes ?? []) if (at >= change.atMs) present *= change.factor;
    if (neighbour !== undefined && at >= neighbour.fromMs && at < neighbour.untilMs) present *= 1 - neighbour.share;
    const grown = (edge - at) * present;
    if (grown >= left) return at + left / present;
    left -= grown;
    at = edge;
  }
  return at;
}
