/**
 * What a lane did over time, in a fixed number of slices.
 *
 * Job: cheap bookkeeping per event, a picture afterwards. Not its job: why, and how it looks.
 *
 * 1. Memory is fixed: when the slices are full, neighbours are joined and each slice covers twice the time.
 * 2. Joining loses sharpness, never time: the sums over all slices stay what they were.
 */
export interface LaneHistory {
  readonly startedAt: number;
  /** Milliseconds that one slice covers. */
  sliceMs: number;
  /** Slices in use. */
  used: number;
  /** The time up to which it has been filled. */
  filledTo: number;
  /** Per slice, milliseconds times calls in flight. */
  readonly flight: Float64Array;
  /** Per slice, milliseconds with nothing in flight although calls wait. */
  readonly waiting: Float64Array;
  /** Per slice, milliseconds of those while a 429 holds the lane. */
  readonly blocked: Float64Array;
  /** Per slice, how many calls were rejected. */
  readonly rejected: Float64Array;
}

export interface LaneLoad {
  readonly inFlight: number;
  readonly queued: number;
  readonly blockedUntil: number;
}

export function laneHistory(startedAt: number, slices = 1024, sliceMs = 250): LaneHistory {
  return {
    startedAt,
    sliceMs,
    used: 0,
    filledTo: startedAt,
    flight: new Float64Array(slices),
    waiting: new Float64Array(slices),
    blocked: new Float64Array(slices),
    rejected: new Float64Array(slices),
  };
}

function join(slices: Float64Array): void {
  const half = slices.length / 2;
  for (let at = 0; at < half; at++) slices[at] = (slices[2 * at] ?? 0) + (slices[2 * at + 1] ?? 0);
  slices.fill(0, half);
}

function coarsen(history: LaneHistory): void {
  join(history.flight);
  join(history.waiting);
  join(history.blocked);
  join(history.rejected);
  history.sliceMs *= 2;
  history.used = Math.ceil(history.used / 2);
}

function sliceAt(history: LaneHistory, at: number): number {
  let slice = Math.floor((at - history.startedAt) / history.sliceMs);
  while (slice >= history.flight.length) {
    coarsen(history);
    slice = Math.floor((at - history.startedAt) / history.sliceMs);
  }
  if (slice >= history.used) history.used = slice + 1;
  return Math.max(0, slice);
}

/** The load was this from where the history ends until `now`. Call it before the load changes. */
export function fillHistory(history: LaneHistory, load: LaneLoad, now: number): void {
  if (now <= history.filledTo) return;
  const idle = load.inFlight === 0 && load.queued === 0;
  let from = history.filledTo;
  history.filledTo = now;
  if (idle) {
    sliceAt(history, now);
    return;
  }
  while (from < now) {
    const slice = sliceAt(history, from);
    const to = Math.min(now, history.startedAt + (slice + 1) * history.sliceMs);
    addTime(history, slice, load, from, to);
    from = to;
  }
}

function addTime(history: LaneHistory, slice: number, load: LaneLoad, from: number, to: number): void {
  const ms = to - from;
  if (load.inFlight > 0) history.flight[slice] = (history.flight[slice] ?? 0) + ms * load.inFlight;
  else if (load.queued > 0) {
    history.waiting[slice] = (history.waiting[slice] ?? 0) + ms;
    const held = Math.min(to, load.blockedUntil) - from;
    if (held > 0) history.blocked[slice] = (history.blocked[slice] ?? 0) + held;
  }
}

export function markRejected(history: LaneHistory, at: number): void {
  const slice = sliceAt(history, at);
  history.rejected[slice] = (history.rejected[slice] ?? 0) + 1;
}

/** What most of a stretch was like. */
export type Stretch = 'busy' | 'waiting' | 'rejected' | 'idle';

/** The stretch from `from` to `to` in `cells` equal parts, one word each. */
export function stretches(history: LaneHistory, from: number, to: number, cells: number): Stretch[] {
  const out: Stretch[] = [];
  const step = (to - from) / cells;
  for (let cell = 0; cell < cells; cell++) {
    const first = Math.floor((from + cell * step - history.startedAt) / history.sliceMs);
    const last = Math.max(first + 1, Math.floor((from + (cell + 1) * step - history.startedAt) / history.sliceMs));
    out.push(stretch(history, first, last));
  }
  return out;
}

function stretch(history: LaneHistory, first: number, last: number): Stretch {
  let flight = 0;
  let waiting = 0;
  let blocked = 0;
  let rejected = 0;
  for (let slice = Math.max(0, first); slice < last; slice++) {
    flight += history.flight[slice] ?? 0;
    waiting += history.waiting[slice] ?? 0;
    blocked += history.blocked[slice] ?? 0;
    rejected += history.rejected[slice] ?? 0;
  }
  if (rejected > 0 || blocked > (last - first) * history.sliceMs * 0.5) return 'rejected';
  if (flight > 0 && flight >= waiting) return 'busy';
  if (waiting > (last - first) * history.sliceMs * 0.1) return 'waiting';
  return flight > 0 ? 'busy' : 'idle';
}
