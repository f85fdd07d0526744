import type { Range } from '../../domain/forecast.ts';
import { counted, duration, money } from '../../domain/measures.ts';
import { efficiencyWords } from '../efficiency-words.ts';
import { laneLabel } from '../lane-label.ts';
import { type ClosingInput, closingLines } from './closing-lines.ts';
import { times } from './forecast-table.ts';
import { stopWords } from './live-frame.ts';
import type { LiveLane } from './live-lane.ts';
import type { LiveState } from './live-state.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, wrap } from './text-width.ts';

/** What the last screen of a run is made of. */
export interface SummaryInput extends ClosingInput {
  /** What the forecast said the run would take. */
  readonly expectedMs?: Range;
  /** What the forecast said it would cost. */
  readonly expectedUsdMicros?: number;
}

function totals(state: LiveState, style: Style): string {
  const parts = [
    style.strong(`${counted(state.planned, 'case')} in ${duration(state.now - state.startedAt)}`),
    style.good(`${state.passed} passed`),
    state.failed > 0 ? style.bad(`${state.failed} failed`) : '0 failed',
    state.errors > 0 ? style.warn(counted(state.errors, 'error')) : '0 errors',
  ];
  if (state.skipped > 0) parts.push(`${state.skipped} skipped`);
  if (state.cancelled > 0) parts.push(`${state.cancelled} cancelled`);
  if (state.open > 0) parts.push(`${state.open} open`);
  const unknown = state.unknownPrices > 0 ? ` + ${counted(state.unknownPrices, 'call')} of unknown price` : '';
  parts.push(`${money(state.usdMicros)}${unknown}`);
  return parts.join('   ');
}

const timesWord = (count: number): string => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`);

function heldUp(lanes: readonly LiveLane[], labels: Readonly<Record<string, string>>): string {
  const blocked = lanes.filter(({ blocks }) => blocks > 0).sort((a, b) => b.blocks - a.blocks);
  if (blocked.length === 0) return '';
  const shown = blocked
    .slice(0, 2)
    .map((lane) => `${laneLabel(lane.key, labels)} was rate-limited ${timesWord(lane.blocks)}`);
  const more = blocked.length > 2 ? `, and ${counted(blocked.length - 2, 'more lane')}` : '';
  const others = lanes.length > blocked.length ? ' The other lanes did not wait.' : '';
  return `${shown.join(', ')}${more}.${others}`;
}

/** A bill that is not what was expected, in words; empty when it is, within a tenth and a cent. */
function costWords({ state, expectedUsdMicros }: SummaryInput): string {
  if (expectedUsdMicros === undefined || state.unknownPrices > 0) return '';
  const off = Math.abs(state.usdMicros - expectedUsdMicros);
  if (off < Math.max(10_000, expectedUsdMicros * 0.1)) return '';
  return `It cost ${money(state.usdMicros)}; ${money(expectedUsdMicros)} was expected.`;
}

/** Expected against actual, and why. */
function expectation(input: SummaryInput): string[] {
  const [first, ...rest] = [...timeWords(input), ...(input.state.complete === false ? [] : [costWords(input)])].filter(
    (words) => words !== '',
  );
  return first === undefined ? [] : [[first, ...rest].join(' ')];
}

/** Between the ends that were told; around them a tenth, or what nobody notices. */
const isWithin = ({ low, likely, high }: Range, took: number): boolean =>
  (took >= low && took <= high) || Math.abs(took - likely) < Math.max(100, likely * 0.1);

function timeWords(input: SummaryInput): string[] {
  const { state, expectedMs } = input;
  const cause = heldUp([...state.lanes.values()], input.labels ?? {});
  if (expectedMs === undefined || state.complete === false) return cause === '' ? [] : [cause];
  const took = state.now - state.startedAt;
  const late = took - expectedMs.likely;
  if (isWithin(expectedMs, took)) return [`As expected (${times(expectedMs)}). ${cause}`.trimEnd()];
  const words = `${duration(Math.abs(late))} ${late > 0 ? 'later' : 'earlier'} than expected`;
  return [late > 0 && cause !== '' ? `${words}: ${cause}` : `${words}. ${cause}`.trimEnd()];
}

/** How close to the least possible time; a run that was stopped is not measured by what it would have taken. */
function closeness({ state: { complete, efficiency }, labels }: SummaryInput): string[] {
  return complete === false || efficiency === undefined ? [] : [`${efficiencyWords(efficiency, labels)}.`];
}

function stopped(input: SummaryInput): string[] {
  const { state } = input;
  if (state.complete !== false && state.stop === undefined) return [];
  const why = stopWords(state);
  const open = counted(state.planned - state.completed, 'case');
  return [`Stopped${why === '' ? '' : `: ${why}`}. ${open} open, nothing lost.`];
}

/** The summary after a run: numbers, expected against actual, failures, next steps, exit code. */
export function summaryLines(input: SummaryInput): string[] {
  const style = input.style ?? plainStyle;
  const lines = [
    totals(input.state, style),
    ...expectation(input).flatMap((line) => wrap(line, input.width)),
    ...closeness(input).flatMap((line) => wrap(line, input.width)),
    ...stopped(input).flatMap((line) => wrap(line, input.width).map((part) => style.warn(part))),
  ];
  return [...lines.map((line) => clamp(line, input.width)), ...closingLines(input)];
}
