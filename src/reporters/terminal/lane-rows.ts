import type { LaneKey } from '../../domain/ids.ts';
import type { LaneSnapshot } from '../../domain/lane.ts';
import { clock, duration } from '../../domain/measures.ts';
import { fillHistory, type Stretch, stretches } from '../lane-history.ts';
import { laneLabel } from '../lane-label.ts';
import { causeFromEvents, causeWords } from './cause-words.ts';
import type { LiveLane } from './live-lane.ts';
import type { LiveState } from './live-state.ts';
import type { Style } from './style.ts';
import { fill, fillLeft, textWidth } from './text-width.ts';
import { type ExpectedWork, laneTimeLeft } from './time-left.ts';

/** What the rows need beside the state. */
export interface LaneTable {
  readonly snapshots: ReadonlyMap<LaneKey, LaneSnapshot>;
  readonly expected: ExpectedWork;
  readonly labels: Readonly<Record<string, string>>;
  readonly width: number;
  readonly style: Style;
  /** The lane that the keys act on. */
  readonly selected: LaneKey | undefined;
}

interface Columns {
  readonly lane: number;
  readonly speed: number;
  readonly now: number;
}

const symbols: Readonly<Record<Stretch, string>> = { busy: '=', waiting: '-', rejected: 'x', idle: '.' };
/** The strip shows at most this much of the past. */
const stripMs = 5 * 60_000;
const leftWidth = 7;
const queueWidth = 6;
/** Wider than this, cause and time left drift apart. */
const widestNow = 64;
/** Stands behind the time of the lane that will be the last to finish. */
const lastMark = (width: number): string => (width < 100 ? ' last' : ' <- last');

/** LANE, LIVE, QUEUE, SPEED, NOW, LEFT: the first and NOW share what the others leave. */
function columnsFor(width: number, longestLabel: number): Columns {
  const speed = width >= 104 ? 15 : 0;
  const fixed = 2 + 8 + queueWidth + (speed > 0 ? speed + 2 : 0) + leftWidth + lastMark(width).length + 2;
  const free = width - fixed;
  const lane = Math.max(12, Math.min(longestLabel, Math.floor(free * 0.45), 36));
  return { lane, speed, now: Math.max(10, Math.min(widestNow, free - lane - 2)) };
}

export interface LaneRow {
  readonly lane: LiveLane;
  readonly left: number | undefined;
  readonly done: boolean;
}

/** The lanes with what is left of each, in the order they appeared. */
function laneRows(state: LiveState, expected: ExpectedWork): LaneRow[] {
  return [...state.lanes.values()].map((lane) => {
    const left = laneTimeLeft(state, lane, expected);
    const quiet = lane.inFlight === 0 && lane.queued === 0 && lane.started > 0;
    return { lane, left, done: quiet && (left === 0 || state.complete !== undefined) };
  });
}

const perMinute = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);

function speedOf(state: LiveState, lane: LiveLane, snapshot: LaneSnapshot | undefined): string {
  const elapsed = Math.max(1, Math.min(60_000, state.now - lane.firstStartAt));
  const rate = lane.rate * Math.exp((lane.rateAt - state.now) / 30_000);
  const used = lane.started === 0 ? 0 : (rate / (1 - Math.exp(-elapsed / 30_000))) * 60_000;
  return `${perMinute(Math.round(used))}/${snapshot?.rpm === undefined ? '-' : perMinute(snapshot.rpm)} req/m`;
}

const liveOf = (lane: LiveLane, snapshot: LaneSnapshot | undefined): string =>
  snapshot === undefined || snapshot.maxConcurrentDynamic >= 512
    ? String(lane.inFlight)
    : `${lane.inFlight}/${snapshot.maxConcurrentDynamic}`;

function nowWords(state: LiveState, { lane, done }: LaneRow, snapshot: LaneSnapshot | undefined): string {
  if (done && lane.mode !== 'closed') return `done in ${duration(lane.lastEndAt - state.startedAt)}`;
  const cause = snapshot?.cause ?? causeFromEvents(lane, state.now);
  if (cause.kind === 'nothing-left' && lane.inFlight === 0 && lane.started > 0) return 'follows the others';
  return causeWords(cause, lane, snapshot, state.now);
}

function paintNow(style: Style, { lane, done }: LaneRow, text: string): string {
  if (done) return style.good(text);
  if (lane.mode === 'closed' || lane.mode === 'parked') return style.bad(text);
  return lane.mode === 'blocked' || lane.mode === 'paused' ? style.warn(text) : text;
}

function head(table: LaneTable, columns: Columns): string {
  const speed = columns.speed > 0 ? `${fill('SPEED', columns.speed)}  ` : '';
  return table.style.faint(
    `  ${fill('LANE', columns.lane)}  ${fill('LIVE', 6)}${fillLeft('QUEUE', queueWidth)}  ${speed}${fill('NOW', columns.now)}${fillLeft('LEFT', leftWidth)}`,
  );
}

function row(state: LiveState, each: LaneRow, table: LaneTable, columns: Columns, last: boolean): string {
  const { lane } = each;
  const { style } = table;
  const snapshot = table.snapshots.get(lane.key);
  const label = laneLabel(lane.key, table.labels);
  const speed = columns.speed > 0 ? `${fill(speedOf(state, lane, snapshot), columns.speed)}  ` : '';
  const left = each.done ? '' : each.left === undefined ? '-' : clock(each.left);
  const marker = lane.key === table.selected ? style.mark('>') : ' ';
  return (
    `${marker} ${style.strong(fill(label, columns.lane))}  ${fill(liveOf(lane, snapshot), 6)}` +
    `${fillLeft(String(snapshot?.queue ?? lane.queued), queueWidth)}  ${speed}` +
    `${paintNow(style, each, fill(nowWords(state, each, snapshot), columns.now))}${fillLeft(left, leftWidth)}` +
    `${last ? style.warn(lastMark(table.width)) : ''}`
  );
}

/** The last minutes of a lane: `=` busy, `-` waiting, `x` 429, `.` idle. */
export function strip(state: LiveState, lane: LiveLane, width: number, style: Style): string {
  const from = Math.max(state.startedAt, state.now - stripMs);
  const span = Math.max(1000, state.now - from);
  const label = fillLeft(clock(span), 7);
  const cells = Math.max(10, width - 12);
  let text = '';
  let previous: Stretch | undefined;
  let part = '';
  const flush = (): void => {
    if (part === '') return;
    text +=
      previous === 'rejected'
        ? style.bad(part)
        : previous === 'waiting'
          ? style.warn(part)
          : previous === 'idle'
            ? style.faint(part)
            : part;
    part = '';
  };
  for (const each of stretches(lane.history, from, from + span, cells)) {
    if (each !== previous) flush();
    previous = each;
    part += symbols[each];
  }
  flush();
  return `${label} |${text}|`;
}

function legend(width: number, style: Style): string {
  const text = '= busy   - waiting   x 429   . idle';
  return style.faint(fillLeft(text, width - 3));
}

function longest(rows: readonly LaneRow[], table: LaneTable): number {
  return Math.max(4, ...rows.map(({ lane }) => textWidth(laneLabel(lane.key, table.labels))));
}

function lastKey(rows: readonly LaneRow[]): LaneKey | undefined {
  let last: LaneRow | undefined;
  for (const each of rows) if (!each.done && (each.left ?? 0) > (last?.left ?? 0)) last = each;
  return rows.length > 1 ? last?.lane.key : undefined;
}

/** Above this many lanes the finished ones share a line. */
const mostLanes = 8;

function hiddenLine(hidden: readonly LaneRow[], table: LaneTable): string {
  const blocked = hidden.filter(({ lane }) => lane.mode !== 'running').length;
  const done = hidden.filter((each) => each.done).length;
  const running = hidden.length - blocked - done;
  const parts = [`${done} done`, `${blocked} held up`, `${running} running`].filter((part) => !part.startsWith('0'));
  return table.style.faint(`  and ${hidden.length} more: ${parts.join(', ')}`);
}

/** The table of lanes in at most `height` lines; strips go first when room is short. */
export function laneTable(state: LiveState, table: LaneTable, height: number): string[] {
  let rows = laneRows(state, table.expected);
  if (rows.length === 0) return [];
  const columns = columnsFor(table.width, longest(rows, table));
  const last = lastKey(rows);
  const lines = [head(table, columns)];
  const hidden: LaneRow[] = [];
  if (rows.length > mostLanes) {
    hidden.push(...rows.filter((each) => each.done));
    rows = rows.filter((each) => !each.done);
  }
  const room = Math.max(1, height - 1 - (hidden.length > 0 ? 1 : 0));
  if (rows.length > room) hidden.push(...rows.splice(Math.max(1, room - (hidden.length > 0 ? 0 : 1))));
  const strips = table.width >= 72 && rows.length * 2 + 1 <= room;
  for (const each of rows) {
    lines.push(row(state, each, table, columns, each.lane.key === last));
    if (strips) {
      fillHistory(each.lane.history, each.lane, state.now);
      lines.push(strip(state, each.lane, table.width, table.style));
    }
  }
  if (hidden.length > 0) lines.push(hiddenLine(hidden, table));
  if (strips && rows.length > 0) lines.push(legend(table.width, table.style));
  return lines;
}
