import { type CaseIndex, caseNumber, type LaneKey } from '../../domain/ids.ts';
import type { LaneSnapshot } from '../../domain/lane.ts';
import { budgetWords, clock, counted, duration, money } from '../../domain/measures.ts';
import { laneLabel } from '../lane-label.ts';
import { casePanel, caseRoom, frameHeight, type ShownCase } from './case-panel.ts';
import type { Panel } from './keymap.ts';
import { laneTable } from './lane-rows.ts';
import type { LiveState } from './live-state.ts';
import { failureText, panelLines, statusWord } from './panels.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, cut, fill, singleLine, styledWidth, textWidth } from './text-width.ts';
import { type ExpectedWork, runTimeLeft } from './time-left.ts';

/** Everything a frame is made of. The same input gives the same lines. */
export interface FrameInput {
  readonly state: LiveState;
  /** Asked for right before the frame; lanes without one are told from their events. */
  readonly snapshots?: readonly LaneSnapshot[];
  readonly title?: string;
  readonly width: number;
  /** Rows of the terminal; the frame stays below. */
  readonly height: number;
  readonly style?: Style;
  readonly labels?: Readonly<Record<string, string>>;
  readonly expectedWork?: ExpectedWork;
  /** What the forecast expects the whole run to cost. */
  readonly expectedUsdMicros?: number;
  readonly selected?: LaneKey;
  readonly panel?: Panel;
  /** The case that the open list marks; the first one unless told. */
  readonly marked?: CaseIndex;
  /** A case that is open above everything else. */
  readonly opened?: ShownCase;
  /** Shows the line of keys. */
  readonly keys?: boolean;
  /** Instead of the line of keys: what is missing for the last one. */
  readonly hint?: string;
  /** The user asked to stop; what is in flight is being finished. */
  readonly stopping?: boolean;
}

const noLabels = {};
const noWork: ExpectedWork = new Map();

function spread(left: string, right: string, width: number): string {
  const gap = width - styledWidth(left) - styledWidth(right);
  return gap >= 2 ? left + ' '.repeat(gap) + right : `${left}  ${right}`;
}

function spendWords(state: LiveState, expected: number | undefined): string {
  const unknown = state.unknownPrices > 0 ? ` + ${counted(state.unknownPrices, 'call')} of unknown price` : '';
  const of = expected === undefined || expected === 0 ? '' : ` of ~${money(expected)}`;
  return `${money(state.usdMicros)}${of}${unknown}`;
}

function header(input: FrameInput, style: Style): string {
  const { state } = input;
  const left = runTimeLeft(state, input.expectedWork ?? noWork);
  const leftWords = state.complete !== undefined ? 'done' : left === undefined ? '' : `about ${clock(left)} left`;
  const parts = [`${clock(state.now - state.startedAt)} gone`, leftWords, spendWords(state, input.expectedUsdMicros)];
  const right = parts.filter((part) => part !== '').join('   ');
  const room = Math.max(8, input.width - textWidth(right) - 3);
  const title = singleLine(input.title ?? '');
  const name = cut(title === '' ? `run ${state.run}` : `${title}   run ${state.run}`, room);
  return spread(style.strong(name), right, input.width);
}

function progress(input: FrameInput, style: Style): string {
  const { state, width } = input;
  const counts = [
    `${state.completed}/${state.planned}`,
    style.good(`${state.passed} ok`),
    state.failed > 0 ? style.bad(`${state.failed} fail`) : '0 fail',
    state.errors > 0 ? style.warn(`${state.errors} err`) : '0 err',
    `${state.live.size} running`,
  ];
  if (state.skipped > 0) counts.push(`${state.skipped} skipped`);
  if (state.cancelled > 0) counts.push(`${state.cancelled} cancelled`);
  if (state.open > 0) counts.push(`${state.open} open`);
  const tail = `  ${counts[0]}   ${counts.slice(1).join('  ')}`;
  const cells = Math.max(10, width - styledWidth(tail) - 2);
  const share = state.planned === 0 ? 0 : Math.min(1, state.completed / state.planned);
  const done = Math.floor(share * cells);
  return `[${'#'.repeat(done)}${style.faint('.'.repeat(cells - done))}]${tail}`;
}

function liveLine(input: FrameInput, style: Style): string[] {
  const { state, width } = input;
  if (state.live.size === 0) return [];
  const shown = width >= 120 ? 2 : 1;
  const each = Math.floor((width - 7) / shown) - 2;
  const parts: string[] = [];
  // The oldest ones: what takes long is what people ask about.
  for (const [index, live] of state.live) {
    if (parts.length === shown) break;
    const lane = live.lane === undefined ? '' : ` (${laneLabel(live.lane, input.labels ?? noLabels)})`;
    const note = live.note === '' ? duration(state.now - live.startedAt) : singleLine(live.note);
    parts.push(fill(`#${caseNumber(index)} ${singleLine(live.name)}${lane}  ${note}`, each));
  }
  return [`${style.faint('case')}   ${parts.join('  ')}`.trimEnd()];
}

function lastFailure(input: FrameInput, style: Style): string[] {
  const failure = input.state.failures.at(-1);
  if (failure === undefined) return [];
  const text = cut(failureText(failure, input.state, input.labels ?? noLabels), input.width - 14);
  return [`${style.faint('last')}   ${style.bad(statusWord(failure))} ${text}`];
}

/** The keys people need most, in full and short; `?` names all. */
const viewKeyLines = [
  '[p]ause lane  [+/-] limit  [f]ailures  [c]ases  [enter] open  [o]pen report  [q] stop and save  [?]',
  '[p]ause [+/-]limit [f]ailures [c]ases [enter]open [o]report [q]uit+save [?]',
] as const;
const caseKeyLines = [
  '[up/down] scroll   [space/b] page   [u]nfold tools   [enter/esc] close   [q] stop and save',
  '[up/down]scroll [space/b]page [u]nfold [enter/esc]close [q]uit+save',
] as const;

function keyLine(input: FrameInput, style: Style): string {
  if (input.stopping === true) return style.warn('stopping: finishing what is in flight; q or Ctrl-C again stops now');
  if (input.hint !== undefined) return style.warn(input.hint);
  const [long, short] = input.opened === undefined ? viewKeyLines : caseKeyLines;
  return style.faint(input.width >= long.length ? long : short);
}

function notices(input: FrameInput, style: Style): string[] {
  const { state } = input;
  const lines: string[] = [];
  const warning = state.log.at(-1);
  if (warning !== undefined) lines.push(style.warn(cut(`warning  ${singleLine(warning.message)}`, input.width)));
  if (state.stop !== undefined) lines.push(style.warn(`stopped: ${stopWords(state)}`));
  return lines;
}

/** Why a run stopped before its end. */
export function stopWords(state: Pick<LiveState, 'stop'>): string {
  switch (state.stop?.reason) {
    case 'budget':
      return state.stop.need === undefined ? 'the budget is used up' : budgetWords(state.stop.need);
    case 'max-duration':
      return 'the time is up';
    case 'interrupted':
      return 'interrupted';
    case 'parked':
      return `every lane left is parked${state.stop.until === undefined ? '' : ` until ${new Date(state.stop.until).toISOString()}`}`;
    case 'storage':
      return 'the store could not be written';
    default:
      return '';
  }
}

/** The live view: lines no wider than the terminal, at most one fewer than its rows. */
export function liveFrame(input: FrameInput): string[] {
  const style = input.style ?? plainStyle;
  const height = frameHeight(input.height);
  const top = [header(input, style), progress(input, style)];
  const bottom = input.opened === undefined ? around(input, style, height) : [];
  if (input.keys === true) bottom.push(...(bottom.length > 0 ? [''] : []), keyLine(input, style));
  const above =
    input.opened === undefined
      ? []
      : casePanel(input.opened, caseRoom(height, input.state.lanes.size), input.width, style);
  const room = height - above.length - top.length - bottom.length - 2;
  const lanes = room < 2 ? [] : laneTable(input.state, tableInput(input, style), room);
  const lines = [
    ...above,
    ...top,
    ...(lanes.length > 0 ? ['', ...lanes] : []),
    ...(bottom.length > 0 ? ['', ...bottom] : []),
  ];
  return lines.slice(0, height).map((line) => clamp(line, input.width));
}

/** What stands below the lanes. */
function around(input: FrameInput, style: Style, height: number): string[] {
  const { state, panel = 'none', marked, labels = noLabels, width } = input;
  const lines = [...liveLine(input, style), ...lastFailure(input, style), ...notices(input, style)];
  const list = panelLines({ state, panel, marked, labels, width, style }, height);
  return list.length === 0 ? lines : [...lines, ...(lines.length > 0 ? [''] : []), ...list];
}

function tableInput(input: FrameInput, style: Style): Parameters<typeof laneTable>[1] {
  return {
    snapshots: new Map((input.snapshots ?? []).map((snapshot) => [snapshot.key, snapshot])),
    expected: input.expectedWork ?? noWork,
    labels: input.labels ?? noLabels,
    width: input.width,
    style,
    selected: input.selected,
  };
}
