/** The lists below the lanes: failures, cases, warnings, keys. Each in at most `room` lines. */
import { type CaseIndex, caseNumber } from '../../domain/ids.ts';
import { clock, counted, duration } from '../../domain/measures.ts';
import { testedBy } from '../column-label.ts';
import { laneLabel } from '../lane-label.ts';
import { caseKeys, type KeyBinding, keyNames, markedIn, type Panel, viewKeys } from './keymap.ts';
import type { EndedCase, FailureNote, LiveState } from './live-state.ts';
import type { Style } from './style.ts';
import { cut, fill, singleLine } from './text-width.ts';

export interface PanelInput {
  readonly state: LiveState;
  readonly panel: Panel;
  readonly marked: CaseIndex | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly width: number;
  readonly style: Style;
}

/** A list is looked through, not read: more running cases than this are only counted. */
const mostRunning = 50;

/** The cases of the lists, in the order in which they stand there. */
export function listedCases(state: LiveState): { failures: CaseIndex[]; cases: CaseIndex[]; running: number } {
  const running = [...state.live.keys().take(mostRunning)];
  const indexes = (list: readonly EndedCase[]): CaseIndex[] => list.map(({ index }) => index).reverse();
  return {
    failures: indexes(state.failures),
    cases: [...running, ...indexes(state.ended)],
    running: running.length,
  };
}

/** `FAILED` is a wrong answer, `ERROR` is none. */
export const statusWord = (failure: FailureNote): string => (failure.status === 'failed' ? 'FAILED' : 'ERROR ');

const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);

export function failureText(failure: FailureNote, state: LiveState, labels: PanelInput['labels']): string {
  const tested = inBrackets(testedBy(state, failure, labels));
  return `#${caseNumber(failure.index)} ${singleLine(failure.name)}${tested}: ${singleLine(failure.reason)}`;
}

/** The part of a list that is shown: so many lines, the marked one among them. */
function windowed<T>(list: readonly T[], at: number, room: number): readonly T[] {
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), list.length - room));
  return list.slice(from, from + room);
}

interface ListedLine {
  readonly index: CaseIndex;
  readonly word: string;
  readonly text: string;
}

function caseList(lines: readonly ListedLine[], title: string, input: PanelInput, room: number): string[] {
  const { style, width } = input;
  const indexes = lines.map(({ index }) => index);
  const marked = markedIn(indexes, input.marked);
  const at = marked === undefined ? 0 : indexes.indexOf(marked);
  const shown = windowed(lines, at, Math.max(1, room - 1)).map(
    ({ index, word, text }) => `${index === marked ? style.mark('>') : ' '} ${word} ${cut(text, width - 12)}`,
  );
  return [style.strong(title), ...shown];
}

function failurePanel(input: PanelInput, room: number): string[] {
  const { failures, failureCount } = input.state;
  if (failures.length === 0) return [input.style.faint('no failures so far')];
  const lines = failures
    .map((each) => ({
      index: each.index,
      word: input.style.bad(statusWord(each)),
      text: failureText(each, input.state, input.labels),
    }))
    .reverse();
  return caseList(lines, `${counted(failureCount, 'case')} not passed, the latest first; enter opens`, input, room);
}

function casePanel(input: PanelInput, room: number): string[] {
  const { state, style, labels } = input;
  const running = [...state.live.entries().take(mostRunning)].map(([index, live]): ListedLine => {
    const note = live.note === '' ? '' : `  ${singleLine(live.note)}`;
    const called = live.lane === undefined ? '' : inBrackets(laneLabel(live.lane, labels));
    const took = duration(state.now - live.startedAt);
    const text = `#${caseNumber(index)} ${singleLine(live.name)}${called}  ${took}${note}`;
    return { index, word: style.mark('running'), text };
  });
  const ended = state.ended.map((each): ListedLine => {
    const word = each.status.padEnd(7);
    const text = `#${caseNumber(each.index)} ${singleLine(each.name)}${inBrackets(testedBy(state, each, labels))}`;
    return { index: each.index, word: each.status === 'passed' ? style.good(word) : style.bad(word), text };
  });
  const lines = [...running, ...ended.reverse()];
  if (lines.length === 0) return [style.faint('no cases so far')];
  return caseList(lines, `${state.live.size} running, then the latest that ended; enter opens`, input, room);
}

function logPanel({ state, style, width }: PanelInput, room: number): string[] {
  if (state.log.length === 0) return [style.faint('no warnings so far')];
  const lines = state.log
    .slice(-Math.max(1, room - 1))
    .reverse()
    .map(({ at, message }) => `  ${cut(`${clock(at - state.startedAt)}  ${singleLine(message)}`, width - 2)}`);
  return [style.strong(`${counted(state.warnings, 'warning')}, the latest first`), ...lines];
}

/** Wide enough for every line of help, and two of them beside each other on a small screen. */
const namesWidth = 11;
const helpWidth = 40;

function keyColumns(bindings: readonly KeyBinding[], { width, style }: PanelInput): string[] {
  const columns = Math.max(1, Math.floor(width / helpWidth));
  const rows = Math.ceil(bindings.length / columns);
  const cell = (binding: KeyBinding): string =>
    style.strong(fill(keyNames(binding), namesWidth)) + fill(binding.does, helpWidth - namesWidth);
  return Array.from({ length: rows }, (_, row) =>
    bindings
      .filter((_binding, at) => at % rows === row)
      .map(cell)
      .join('')
      .trimEnd(),
  );
}

const helpPanel = (input: PanelInput): string[] => [
  ...keyColumns(viewKeys, input),
  input.style.faint('in an open case:'),
  ...keyColumns(caseKeys, input),
];

/** The open list; help is as long as it is, everything else keeps to a third of the screen. */
export function panelLines(input: PanelInput, height: number): string[] {
  const room = Math.max(3, Math.floor(height / 3));
  switch (input.panel) {
    case 'none':
      return [];
    case 'failures':
      return failurePanel(input, room);
    case 'cases':
      return casePanel(input, room);
    case 'log':
      return logPanel(input, room);
    case 'help':
      return helpPanel(input);
  }
}
