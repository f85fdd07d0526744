import { caseNumber } from '../../domain/ids.ts';
import { budgetFlag, counted, duration, money } from '../../domain/measures.ts';
import { efficiencyWords } from '../efficiency-words.ts';
import { laneLabel } from '../lane-label.ts';
import { stopWords } from './live-frame.ts';
import type { FailureNote, LiveLane, LiveState } from './live-state.ts';
import { statusWord } from './panels.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, cut, fill, singleLine, textWidth, wrap } from './text-width.ts';

/** What the last screen of a run is made of. */
export interface SummaryInput {
  readonly state: LiveState;
  readonly width: number;
  readonly style?: Style;
  readonly labels?: Readonly<Record<string, string>>;
  /** What the forecast said the run would take. */
  readonly expectedMs?: number;
  /** What the forecast said it would cost. */
  readonly expectedUsdMicros?: number;
  readonly exitCode: number;
  /** How the person calls the program, for the next steps: `npx parlane`. */
  readonly command?: string;
  /** There is a run to compare it with. */
  readonly comparable?: boolean;
  /** What continues this run, when it was stopped. */
  readonly resumeCommand?: string;
  /** Longest list of failures. */
  readonly failures?: number;
}

function totals(state: LiveState, style: Style): string {
  const parts = [
    style.strong(`${counted(state.planned, 'case')} in ${duration(state.now - state.startedAt)}`),
    style.good(`${state.passed} passed`),
    state.failed > 0 ? style.bad(`${state.failed} failed`) : '0 failed',
    state.errors > 0 ? style.warn(counted(state.errors, 'error')) : '0 errors',
  ];
  if (state.skipped > 0) parts.push(`${state.skipped} skipped`);
  if (state.aborted > 0) parts.push(`${state.aborted} aborted`);
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

function timeWords(input: SummaryInput): string[] {
  const { state, expectedMs } = input;
  const cause = heldUp([...state.lanes.values()], input.labels ?? {});
  if (expectedMs === undefined || state.complete === false) return cause === '' ? [] : [cause];
  const late = state.now - state.startedAt - expectedMs;
  if (Math.abs(late) < Math.max(500, expectedMs * 0.1))
    return [`As expected (${duration(expectedMs)}). ${cause}`.trimEnd()];
  const words = `${duration(Math.abs(late))} ${late > 0 ? 'later' : 'earlier'} than expected`;
  return [late > 0 && cause !== '' ? `${words}: ${cause}` : `${words}. ${cause}`.trimEnd()];
}

/** How close to the least possible time; a run that was stopped is not measured by what it would have taken. */
function closeness({ state: { complete, efficiency }, labels }: SummaryInput): string[] {
  return complete === false || efficiency === undefined ? [] : [`${efficiencyWords(efficiency, labels)}.`];
}

function failureLines(input: SummaryInput, style: Style): string[] {
  const { state, width } = input;
  const labels = input.labels ?? {};
  const most = input.failures ?? 20;
  const shown = [...state.failures].sort((a, b) => a.index - b.index).slice(0, most);
  const widest = (pick: (failure: FailureNote) => string, limit: number): number =>
    Math.min(limit, Math.max(0, ...shown.map((failure) => textWidth(pick(failure)))));
  const number = ({ index }: FailureNote): string => `#${caseNumber(index)}`;
  const name = (failure: FailureNote): string => singleLine(failure.name);
  // On a narrow screen the reason is worth more than the lane.
  const lane = (failure: FailureNote): string =>
    failure.lane === undefined || width < 100 ? '' : `${laneLabel(failure.lane, labels)}  `;
  const [numbers, names, lanes] = [
    widest(number, 8),
    widest(name, Math.floor(width * 0.35)),
    widest(lane, Math.floor(width * 0.2)),
  ];
  const room = width - 2 - 8 - numbers - 1 - names - 2 - lanes;
  const lines = shown.map((failure) => {
    const reason = cut(singleLine(failure.reason), Math.max(10, room));
    return `  ${style.bad(statusWord(failure))}  ${fill(number(failure), numbers)} ${fill(name(failure), names)}  ${fill(lane(failure), lanes)}${reason}`.trimEnd();
  });
  const more = state.failureCount - shown.length;
  if (more > 0) lines.push(`  and ${more} more`);
  return lines.length === 0 ? [] : ['', ...lines];
}

/** What one can do next, in two columns where there is room. */
function nextSteps(input: SummaryInput, style: Style): string[] {
  const { command, state, width } = input;
  if (command === undefined) return [];
  const failure = state.failures.at(0);
  const steps: [string, string][] = [];
  if (failure !== undefined) steps.push(['Look closer', `${command} show ${caseNumber(failure.index)}`]);
  steps.push(['Report', `${command} export ${state.run} --format html`]);
  if (state.failed > 0) steps.push(['Run it again', `${command} run --failed`]);
  else if (state.errors > 0) steps.push(['Run it again', `${command} run --errors`]);
  if (input.comparable === true) steps.push(['Compare', `${command} compare`]);
  const cells = steps.map(([what, how]) => `${what.padEnd(14)}${how}`);
  const wide = Math.max(...cells.map(textWidth)) + 3;
  if (wide * 2 > width) return ['', ...cells.map((cell) => style.faint(cell))];
  const lines: string[] = [];
  for (let at = 0; at < cells.length; at += 2)
    lines.push(`${fill(cells[at] ?? '', wide)}${cells[at + 1] ?? ''}`.trimEnd());
  return ['', ...lines.map((line) => style.faint(line))];
}

/** What an exit code means, in the words of the documentation. */
function exitWords(code: number, { errors, ownErrors }: LiveState): string {
  switch (code) {
    case 0:
      return 'everything passed';
    case 1:
      return 'a bug in Parlane';
    case 2:
      return 'bad usage, config or input: nothing was run, nothing was spent';
    case 3:
      return 'incomplete: can be resumed';
    case 4:
      return `complete, but some cases ended in errors of ${ownErrors >= errors ? 'their checks or code' : 'a provider'}`;
    case 100:
      return 'some checks failed';
    case 130:
      return 'stopped at once';
    default:
      return 'as set by an option';
  }
}

function stopped(input: SummaryInput): string[] {
  const { state } = input;
  if (state.complete !== false && state.stop === undefined) return [];
  const why = stopWords(state);
  const left = state.planned - state.passed - state.failed - state.errors - state.skipped;
  const more = state.stop?.need === undefined ? '' : ` --budget ${budgetFlag(state.stop.need.enoughUsdMicros)}`;
  const resume = input.resumeCommand === undefined ? '' : `  Continue:  ${input.resumeCommand}${more}`;
  return [`Stopped${why === '' ? '' : `: ${why}`}. ${counted(left, 'case')} left, nothing lost.${resume}`];
}

/** The summary after a run: numbers, expected against actual, failures, next steps, exit code. */
export function summaryLines(input: SummaryInput): string[] {
  const style = input.style ?? plainStyle;
  const lines = [
    totals(input.state, style),
    ...expectation(input).flatMap((line) => wrap(line, input.width)),
    ...closeness(input).flatMap((line) => wrap(line, input.width)),
    ...stopped(input).flatMap((line) => wrap(line, input.width).map((part) => style.warn(part))),
    ...failureLines(input, style),
    ...nextSteps(input, style),
  ];
  if (input.exitCode !== 0)
    lines.push(style.faint(`(exit code ${input.exitCode}: ${exitWords(input.exitCode, input.state)})`));
  return lines.map((line) => clamp(line, input.width));
}
