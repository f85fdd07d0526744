/**
 * What the live view knows, kept up to date event by event.
 *
 * Job: a reducer `(state, event)` that changes the state in place, a microsecond or so per event.
 * Not its job: words, layout, colours, the clock.
 *
 * 1. Memory is bounded by what is in flight, by the number of lanes and by fixed lists; never by the number of cases.
 * 2. Time comes from the events only.
 * 3. Foreign text is stored as it came; whoever shows it cleans it.
 */
import type { Column } from '../../domain/case.ts';
import type { CaseIndex, EpochMillis, LaneKey } from '../../domain/ids.ts';
import type { LaneEvent } from '../../domain/lane.ts';
import { type Row, type ShownStatus, shownStatus } from '../../domain/row.ts';
import type { RunEfficiency } from '../../domain/run-efficiency.ts';
import {
  type BudgetNeed,
  cancelledOf,
  type RunEvent,
  type RunTotals,
  type StopReason,
} from '../../domain/run-event.ts';
import { failureReason } from '../failure-reason.ts';
import { type LiveLane, newLane, reduceLane } from './live-lane.ts';

export interface LiveCase {
  readonly name: string;
  readonly startedAt: EpochMillis;
  note: string;
  lane: LaneKey | undefined;
}

/** A case that ended, as the lists show it. */
export interface EndedCase {
  readonly index: CaseIndex;
  readonly name: string;
  readonly status: ShownStatus;
  /** Position of the column that it tested. */
  readonly column: number;
  /** Whom it called last. */
  readonly lane: LaneKey | undefined;
}

/** A case that did not pass, as the list of failures shows it. */
export interface FailureNote extends EndedCase {
  readonly reason: string;
}

export interface WarningNote {
  readonly at: EpochMillis;
  readonly message: string;
}

export interface LiveState {
  run: string;
  startedAt: EpochMillis;
  now: EpochMillis;
  planned: number;
  completed: number;
  /** Cases that ended since `run-start`: without those of earlier sittings. */
  endedHere: number;
  /** The same by the position of their column. */
  readonly endedByColumn: Map<number, number>;
  passed: number;
  failed: number;
  errors: number;
  /** Of the errors, those of checks, transforms and other code of the config: no provider is at fault. */
  ownErrors: number;
  skipped: number;
  /** Over because somebody cancelled them. */
  cancelled: number;
  /** Left open by a stop: a resume plays them. */
  open: number;
  usdMicros: number;
  unknownPrices: number;
  readonly lanes: Map<LaneKey, LiveLane>;
  readonly live: Map<CaseIndex, LiveCase>;
  /** What is tested, by position, as far as it has begun. */
  readonly columns: Map<number, Column>;
  /** The latest ones, oldest first; `failureCount` tells how many there were. */
  readonly failures: FailureNote[];
  failureCount: number;
  /** The latest ones of any status, oldest first. */
  readonly ended: EndedCase[];
  /** The latest ones, oldest first; `warnings` tells how many there were. */
  readonly log: WarningNote[];
  warnings: number;
  stop:
    | { readonly reason: StopReason; readonly until: EpochMillis | undefined; readonly need?: BudgetNeed | undefined }
    | undefined;
  complete: boolean | undefined;
  efficiency: RunEfficiency | undefined;
}

const keptFailures = 200;
const keptEnded = 50;
const keptWarnings = 200;
export function liveState(): LiveState {
  return {
    run: '',
    startedAt: 0,
    now: 0,
    planned: 0,
    completed: 0,
    endedHere: 0,
    endedByColumn: new Map(),
    passed: 0,
    failed: 0,
    errors: 0,
    ownErrors: 0,
    skipped: 0,
    cancelled: 0,
    open: 0,
    usdMicros: 0,
    unknownPrices: 0,
    lanes: new Map(),
    live: new Map(),
    columns: new Map(),
    failures: [],
    failureCount: 0,
    ended: [],
    log: [],
    warnings: 0,
    stop: undefined,
    complete: undefined,
    efficiency: undefined,
  };
}

/** Adds to a list that forgets its oldest. */
function keep<T>(list: T[], one: T, most: number): void {
  if (list.length >= most) list.shift();
  list.push(one);
}

function noteFailure(state: LiveState, row: Row, ended: EndedCase): void {
  state.failureCount++;
  keep(state.failures, { ...ended, reason: failureReason(row) }, keptFailures);
}

const ownCodes: ReadonlySet<string> = new Set(['unknown-assertion', 'transform', 'code', 'grading']);

function endCase(state: LiveState, event: RunEvent & { type: 'case-end' }): void {
  const { index, name, column } = event.row;
  const status = shownStatus(event.row);
  const ended = { index, name, status, column, lane: state.live.get(event.index)?.lane };
  keep(state.ended, ended, keptEnded);
  state.live.delete(event.index);
  state.endedHere++;
  state.endedByColumn.set(column, (state.endedByColumn.get(column) ?? 0) + 1);
  state.completed = event.completed;
  state.planned = event.total;
  switch (status) {
    case 'passed':
      state.passed++;
      return;
    case 'failed':
      state.failed++;
      break;
    case 'error':
      state.errors++;
      if (ownCodes.has(event.row.error?.code ?? '')) state.ownErrors++;
      break;
    case 'skipped':
      state.skipped++;
      return;
    case 'cancelled':
      state.cancelled++;
      return;
    case 'open':
      state.open++;
      return;
  }
  noteFailure(state, event.row, ended);
}

function startRun(state: LiveState, event: RunEvent & { type: 'run-start' }): void {
  state.run = event.run;
  state.startedAt = event.at;
  state.planned = event.planned;
  // What an earlier sitting left open is what this one plays.
  if (event.soFar !== undefined) count(state, { ...event.soFar, planned: event.planned }, 0);
}

/** Takes totals over: how far the run is and what came of it are told by the same numbers. */
function count(state: LiveState, totals: RunTotals, open: number): void {
  state.planned = totals.planned;
  state.passed = totals.passed;
  state.failed = totals.failed;
  state.errors = totals.errors;
  state.skipped = totals.skipped;
  state.cancelled = cancelledOf(totals);
  state.open = open;
  state.completed = state.passed + state.failed + state.errors + state.skipped + state.cancelled;
}

function endRun(state: LiveState, event: RunEvent & { type: 'run-end' }): void {
  count(state, event.totals, event.totals.open ?? 0);
  state.complete = event.complete;
  state.efficiency = event.efficiency;
  state.live.clear();
}

function laneOf(state: LiveState, key: LaneKey, at: EpochMillis): LiveLane {
  let lane = state.lanes.get(key);
  if (lane === undefined) {
    lane = newLane(key, state.startedAt === 0 ? at : state.startedAt);
    state.lanes.set(key, lane);
  }
  return lane;
}

function laneEvent(state: LiveState, event: LaneEvent): void {
  reduceLane(laneOf(state, event.lane, event.at), event);
  const live = event.type === 'call-start' ? state.live.get(event.index) : undefined;
  if (live !== undefined) live.lane = event.lane;
}

/** Takes one event in. */
export function reduceLive(state: LiveState, event: RunEvent): void {
  if (event.at > state.now) state.now = event.at;
  switch (event.type) {
    case 'run-start':
      startRun(state, event);
      return;
    case 'case-start':
      state.live.set(event.index, { name: event.name, startedAt: event.at, note: '', lane: undefined });
      if (event.column !== undefined) state.columns.set(event.column.position, event.column);
      return;
    case 'case-progress': {
      const live = state.live.get(event.index);
      if (live !== undefined) live.note = event.note;
      return;
    }
    case 'case-end':
      endCase(state, event);
      return;
    case 'spend':
      state.usdMicros = event.usdMicros;
      state.unknownPrices = event.unknown;
      return;
    case 'warning':
      keep(state.log, { at: event.at, message: event.message }, keptWarnings);
      state.warnings++;
      return;
    case 'run-stop':
      state.stop = { reason: event.reason, until: event.until, need: event.need };
      return;
    case 'run-end':
      endRun(state, event);
      return;
    default:
      laneEvent(state, event);
      return;
  }
}
