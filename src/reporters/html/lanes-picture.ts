import { clock, counted, duration } from '../../domain/measures.ts';
import { fillHistory, type LaneHistory } from '../lane-history.ts';
import { laneLabel } from '../lane-label.ts';
import type { RunReader } from '../run-reader.ts';
import type { LiveLane } from '../terminal/live-lane.ts';
import { type LiveState, liveState, reduceLive } from '../terminal/live-state.ts';
import { html } from './markup.ts';

/** The lanes over time as one inline picture, and the same in numbers. Styled by classes: the report allows no inline styles. */

const [left, width, rowHeight, barHeight] = [190, 780, 34, 24];

/** One pass over the events; empty when the run kept none. */
export async function lanesOf(reader: RunReader): Promise<LiveState> {
  const state = liveState();
  for await (const event of reader.events()) reduceLive(state, event);
  for (const lane of state.lanes.values()) fillHistory(lane.history, lane, state.now);
  return state;
}

interface Scale {
  readonly slices: number;
  readonly x: (slice: number) => number;
}

const round = (value: number): string => String(Math.round(value * 10) / 10);

/** Calls in flight as an area: as high as the lane was full. */
function flightPath(history: LaneHistory, scale: Scale, top: number): string {
  let most = 0;
  for (let slice = 0; slice < history.used; slice++)
    most = Math.max(most, (history.flight[slice] ?? 0) / history.sliceMs);
  if (most === 0) return '';
  const base = top + barHeight;
  let path = '';
  let level = 0;
  for (let slice = 0; slice <= history.used; slice++) {
    const busy = slice === history.used ? 0 : (history.flight[slice] ?? 0) / history.sliceMs;
    const height = busy === 0 ? 0 : Math.max(2, (busy / most) * barHeight);
    if (Math.abs(height - level) < 0.4 && (height === 0) === (level === 0)) continue;
    const x = round(scale.x(slice));
    path += path === '' ? `M${x} ${round(base)}V${round(base - height)}` : `H${x}V${round(base - height)}`;
    level = height;
  }
  return path === '' ? '' : `<path class="busy" d="${path}H${round(scale.x(history.used))}V${round(base)}Z"/>`;
}

/** Stretches of slices for which the test holds, as `[from, to)`. */
function runsOf(history: LaneHistory, test: (slice: number) => boolean): [number, number][] {
  const runs: [number, number][] = [];
  for (let slice = 0; slice < history.used; slice++) {
    if (!test(slice)) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[1] === slice) last[1] = slice + 1;
    else runs.push([slice, slice + 1]);
  }
  return runs;
}

function band(
  kind: string,
  title: string,
  runs: readonly [number, number][],
  scale: Scale,
  top: number,
  height: number,
): string {
  return runs
    .map(([from, to]) => {
      const x = scale.x(from);
      const wide = Math.max(1.5, scale.x(to) - x);
      return `<rect class="${kind}" x="${round(x)}" y="${round(top)}" width="${round(wide)}" height="${height}"><title>${html(title)}</title></rect>`;
    })
    .join('');
}

function laneRow(lane: LiveLane, label: string, at: number, scale: Scale): string {
  const { history } = lane;
  const top = 8 + at * rowHeight;
  const half = history.sliceMs * 0.3;
  const blocked = runsOf(
    history,
    (slice) => (history.rejected[slice] ?? 0) > 0 || (history.blocked[slice] ?? 0) > half,
  );
  const waiting = runsOf(history, (slice) => (history.waiting[slice] ?? 0) - (history.blocked[slice] ?? 0) > half);
  const short = label.length > 26 ? `${label.slice(0, 25)}…` : label;
  return (
    `<text class="lane" x="${left - 10}" y="${top + 16}" text-anchor="end">${html(short)}<title>${html(label)}</title></text>` +
    `<rect class="track" x="${left}" y="${top}" width="${width}" height="${barHeight}"/>` +
    band('waiting', 'waiting for its pace or a free slot', waiting, scale, top + barHeight - 6, 6) +
    flightPath(history, scale, top) +
    band('blocked', 'rate limited (429)', blocked, scale, top, barHeight)
  );
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

function axis(spanMs: number, bottom: number): string {
  const step = (steps.find((seconds) => spanMs / (seconds * 1000) <= 9) ?? 86_400) * 1000;
  let out = '';
  for (let at = 0; at <= spanMs; at += step) {
    const x = round(left + (at / spanMs) * width);
    out += `<line class="grid" x1="${x}" x2="${x}" y1="4" y2="${bottom}"/>`;
    out += `<text class="tick" x="${x}" y="${bottom + 15}" text-anchor="middle">${clock(at)}</text>`;
  }
  return out;
}

function summaryRow(lane: LiveLane, label: string, state: LiveState): string {
  const held = lane.history.blocked.reduce((sum, ms) => sum + ms, 0);
  const flight = lane.history.flight.reduce((sum, ms) => sum + ms, 0);
  const spanMs = Math.max(1, state.now - state.startedAt);
  const cells = [
    lane.ended,
    lane.rejections,
    lane.blocks === 0 ? 'never' : `${lane.blocks} x, ${duration(held)} with nothing in flight`,
    (flight / spanMs).toFixed(1),
    duration(lane.usualMs),
    lane.lastEndAt === 0 ? '-' : clock(lane.lastEndAt - state.startedAt),
  ];
  return `<tr><th scope="row">${html(label)}</th>${cells.map((cell) => `<td>${html(cell)}</td>`).join('')}</tr>`;
}

function laneNumbers(state: LiveState, labels: Readonly<Record<string, string>>): string {
  const heads = ['lane', 'calls', '429s', 'rate limited', 'mean in flight', 'time a call', 'last answer at'];
  const rows = [...state.lanes.values()].map((lane) => summaryRow(lane, laneLabel(lane.key, labels), state));
  return (
    `<details><summary>The same in numbers</summary><table class="plain"><thead><tr>` +
    `${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></details>`
  );
}

const legend =
  '<ul class="legend"><li><svg viewBox="0 0 24 12" aria-hidden="true"><rect class="busy" width="24" height="12"/></svg> calls in flight</li>' +
  '<li><svg viewBox="0 0 24 12" aria-hidden="true"><rect class="waiting" y="6" width="24" height="6"/></svg> waiting for its pace</li>' +
  '<li><svg viewBox="0 0 24 12" aria-hidden="true"><rect class="blocked" width="24" height="12"/></svg> rate limited (429)</li></ul>';

/** The section with the picture; empty when there is nothing to show. */
export function lanesSection(state: LiveState, labels: Readonly<Record<string, string>>): string {
  const lanes = [...state.lanes.values()];
  const spanMs = state.now - state.startedAt;
  if (lanes.length === 0 || spanMs <= 0) return '';
  const bottom = 8 + lanes.length * rowHeight;
  const scaleOf = (history: LaneHistory): Scale => ({
    slices: history.used,
    x: (slice) => left + Math.min(1, (history.startedAt - state.startedAt + slice * history.sliceMs) / spanMs) * width,
  });
  const rows = lanes.map((lane, at) => laneRow(lane, laneLabel(lane.key, labels), at, scaleOf(lane.history))).join('');
  const blocks = lanes.reduce((sum, lane) => sum + lane.blocks, 0);
  const words = `${counted(lanes.length, 'lane')} over ${clock(spanMs)}; rate limited ${counted(blocks, 'time')}.`;
  return (
    `<section id="lanes" aria-labelledby="lanes-head"><h2 id="lanes-head">Lanes</h2><figure>` +
    `<svg class="lanes" viewBox="0 0 ${left + width + 24} ${bottom + 24}" role="img" aria-label="${html(words)}">` +
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
    '<rect class="hatch-ground" width="6" height="6"/><line class="hatch-line" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>' +
    `${axis(spanMs, bottom)}${rows}</svg><figcaption>${html(words)} ${legend}</figcaption></figure>` +
    `${laneNumbers(state, labels)}</section>`
  );
}
