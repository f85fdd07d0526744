import { assertNever } from '../../domain/errors.ts';
import { caseNumber, type EpochMillis } from '../../domain/ids.ts';
import type { LaneSnapshot, WaitCause } from '../../domain/lane.ts';
import { clock, duration } from '../../domain/measures.ts';
import type { LiveLane } from './live-lane.ts';
import { singleLine } from './text-width.ts';

const until = (at: EpochMillis, now: EpochMillis): string => duration(Math.max(0, Math.ceil((at - now) / 100) * 100));

const nextStart = (at: EpochMillis, now: EpochMillis): string => (at > now ? `: next start in ${until(at, now)}` : '');

/** What the words say beside the cause itself. */
type LaneFacts = Pick<LiveLane, 'limitFrom' | 'limitTo' | 'recentMs' | 'usualMs' | 'ended' | 'inFlight' | 'started'>;

/** The cause of a lane of which only a snapshot is at hand. */
export function laneCauseWords(lane: LaneSnapshot, now: EpochMillis): string {
  const { inFlight, started, ended } = lane;
  return causeWords(
    lane.cause,
    { limitFrom: 0, limitTo: 0, recentMs: 0, usualMs: 0, ended, inFlight, started },
    lane,
    now,
  );
}

/** What the events alone tell about a lane, where no snapshot is at hand. */
export function causeFromEvents(lane: LiveLane, now: EpochMillis): WaitCause {
  if (lane.mode === 'closed') return { kind: 'closed', reason: lane.reason };
  if (lane.mode === 'parked') return { kind: 'parked', until: lane.blockedUntil, reason: lane.reason };
  if (lane.mode === 'blocked' && lane.blockedUntil > now) {
    return { kind: 'rate-limited', until: lane.blockedUntil, resource: lane.resource ?? 'requests' };
  }
  if (lane.mode === 'paused') return { kind: 'paused' };
  // Without a snapshot the limit is unknown: calls that wait while others run are held by it, else by the pace.
  if (lane.queued > 0) return lane.inFlight > 0 ? { kind: 'concurrency' } : { kind: 'requests', until: now };
  return lane.inFlight > 0 ? { kind: 'slow-answers' } : { kind: 'nothing-left' };
}

function limitChange(lane: LaneFacts): string {
  return lane.limitTo > 0 && lane.limitTo < lane.limitFrom ? ` (limit ${lane.limitFrom} -> ${lane.limitTo})` : '';
}

function answering(lane: LaneFacts): string {
  if (lane.recentMs > 1.5 * lane.usualMs && lane.ended > 20) {
    return `slow: ${duration(lane.recentMs)} a call (was ${duration(lane.usualMs)})`;
  }
  if (lane.recentMs > 0) return `answering: ${duration(lane.recentMs)} a call`;
  return lane.ended > 0 ? 'waits for answers' : 'waits for the first answer';
}

function nothingLeft(lane: LaneFacts): string {
  if (lane.inFlight > 0) return answering(lane);
  if (lane.started === 0) return 'nothing to do yet';
  return 'nothing queued';
}

const resourceWords = {
  requests: '',
  tokens: ', tokens',
  inputTokens: ', input tokens',
  outputTokens: ', output tokens',
};

/** The one cause why a lane does not start more, in words, with the time until which. */
export function causeWords(cause: WaitCause, lane: LaneFacts, snapshot: LaneSnapshot | undefined, now: number): string {
  switch (cause.kind) {
    case 'closed':
      return `closed: ${singleLine(cause.reason)}`;
    case 'parked':
      return `parked for ${clock(Math.max(0, cause.until - now))}: ${singleLine(cause.reason)}`;
    case 'rate-limited':
      return `429${resourceWords[cause.resource]}: waits ${until(cause.until, now)}${limitChange(lane)}`;
    case 'backing-off':
      return `errors: tries again in ${until(cause.until, now)}`;
    case 'paused':
      return 'paused by you';
    case 'serial-gate':
      return `one by one: #${caseNumber(cause.heldBy)} first`;
    case 'tokens':
      return `token pace${nextStart(cause.until, now)}`;
    case 'requests':
      return `pacing${nextStart(cause.until, now)}`;
    case 'concurrency':
      return `all ${snapshot?.maxConcurrentDynamic ?? lane.inFlight} slots busy`;
    case 'finding-pace':
      return `finding its pace: ${cause.atOnce} at a time for now`;
    case 'cut-back':
      return `cut back: ${cause.atOnce} at a time for now`;
    case 'global-cap':
      return 'waits for the global limit';
    case 'slow-answers':
      return answering(lane);
    case 'nothing-left':
      return nothingLeft(lane);
    default:
      return assertNever(cause);
  }
}
