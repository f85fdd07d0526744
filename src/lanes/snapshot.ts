import type { CaseIndex } from '../domain/ids.ts';
import type { LaneSnapshot } from '../domain/lane.ts';
import type { Bucket } from './bucket.ts';
import type { LaneState } from './lane-state.ts';
import { INPUT, OUTPUT, REQUESTS, TOKENS } from './queued-call.ts';
import { waitCause } from './readiness.ts';

const perMinute = (bucket: Bucket | undefined): number | undefined =>
  bucket === undefined ? undefined : bucket.rate * 60_000;

/** The lane under the names people know from the plan. */
export function snapshotOf(lane: LaneState, now: number, serialHolder: CaseIndex | undefined): LaneSnapshot {
  const { buckets, gatedUntil } = lane.own;
  const requests = buckets[REQUESTS];
  const gap = lane.minGapMs > 0 && lane.started > 0 ? lane.lastStartAt + lane.minGapMs : 0;
  return {
    key: lane.key,
    queue: lane.queued + lane.aside,
    inFlight: lane.inFlight,
    maxConcurrentConfig: lane.concurrency.configured,
    maxConcurrentDynamic: lane.concurrency.dynamic,
    rpm: perMinute(requests),
    tpm: perMinute(buckets[TOKENS] ?? buckets[INPUT]),
    nextReqAt: Math.max(requests?.nextAt ?? 0, gap),
    nextTokAt: Math.max(buckets[TOKENS]?.nextAt ?? 0, buckets[INPUT]?.nextAt ?? 0, buckets[OUTPUT]?.nextAt ?? 0),
    blockedUntil: Math.max(lane.parkedUntil, lane.breakerUntil, ...gatedUntil),
    timer: Number.isFinite(lane.timerAt) ? lane.timerAt : undefined,
    minGapMs: lane.minGapMs,
    pacePerMinute: perMinute(requests) ?? 0,
    learning: !lane.pace.known,
    started: lane.started,
    ended: lane.ended,
    rejections: lane.rejections,
    cause: waitCause(lane, now, serialHolder),
  };
}
