/**
 * The physical limit: no schedule whatsoever finishes earlier. Per lane, for chains, the head-tail bound: of the calls
 * whose tail (their own time and everything after them in their case) is at least `q`, those with a head of at least `h`
 * cannot start before `h`, cannot be admitted faster than the server allows, and the last of them still has `q` to go.
 */
import type { BucketSpec, ServerSpec } from './server-model.ts';
import type { SimCase } from './workload.ts';

export interface Bound {
  readonly ms: number;
  /** What decides it: `longest case`, or a lane with its resource. */
  readonly term: string;
}

interface Placed {
  readonly head: number;
  readonly tail: number;
  readonly tokens: number;
}

const thresholds = 48;

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
    const calls = placed[lane] ?? [];
    const name = laneNames[lane] ?? `lane ${lane}`;
    for (const bound of laneBounds(calls, server))
      if (bound.ms > best.ms) best = { ms: bound.ms, term: `${name} ${bound.term}` };
  });
  return best;
}

function place(cases: readonly SimCase[], lanes: number): Placed[][] {
  const placed: Placed[][] = Array.from({ length: lanes }, () => []);
  for (const each of cases) {
    let left = each.calls.reduce((sum, call) => sum + call.gapMs + call.latencyMs, 0);
    let head = 0;
    for (const call of each.calls) {
      head += call.gapMs;
      left -= call.gapMs;
      placed[call.lane]?.push({ head, tail: left, tokens: call.input + call.output });
      head += call.latencyMs;
      left -= call.latencyMs;
    }
  }
  return placed;
}

function* laneBounds(calls: readonly Placed[], server: ServerSpec): Generator<Bound> {
  if (calls.length === 0) return;
  const tails = calls.map((call) => call.tail).sort((a, b) => a - b);
  const byHead = [...calls].sort((a, b) => b.head - a.head);
  for (let step = 0; step < thresholds; step += 1) {
    const q = tails[Math.floor((step / thresholds) * tails.length)] as number;
    if (server.requests !== undefined) yield { ms: fed(byHead, q, () => 1, server.requests, server), term: 'requests' };
    if (server.tokens !== undefined)
      yield { ms: fed(byHead, q, (call) => call.tokens, server.tokens, server), term: 'tokens' };
  }
  const { maxConcurrent, silentQueue } = server;
  const places = maxConcurrent ?? silentQueue;
  if (places === undefined) return;
  yield {
    ms: calls.reduce((sum, call) => sum + call.tail, 0) / places / Math.max(1, calls.length),
    term: 'concurrency',
  };
}

/** The bound over all heads for one tail threshold; calls come sorted by falling head. */
function fed(
  byHead: readonly Placed[],
  q: number,
  weigh: (call: Placed) => number,
  bucket: BucketSpec,
  server: ServerSpec,
): number {
  let units = 0;
  let best = 0;
  for (const call of byHead) {
    if (call.tail < q) continue;
    units += weigh(call);
    const end = admittedBy(units, call.head, bucket, server) + q;
    if (end > best) best = end;
  }
  return best;
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
