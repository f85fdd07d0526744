/** What stands under the numbers of a run: what did not pass, what one can do next, what the process ends with. */
import { caseNumber } from '../../domain/ids.ts';
import { testedBy } from '../column-label.ts';
import type { FailureNote, LiveState } from './live-state.ts';
import { statusWord } from './panels.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, cut, fill, singleLine, textWidth } from './text-width.ts';

export interface ClosingInput {
  readonly state: LiveState;
  readonly width: number;
  readonly style?: Style;
  readonly labels?: Readonly<Record<string, string>>;
  readonly exitCode: number;
  /** How the person calls the program, for the next steps: `npx parlane`. */
  readonly command?: string;
  /** What the next steps must be told to find the run: `--store elsewhere`. */
  readonly flags?: string;
  /** There is a run to compare it with. */
  readonly comparable?: boolean;
  /** What continues this run, when it was stopped: `resume 42`. */
  readonly resume?: string;
  /** What runs again what did not pass: `retry --run 42`. */
  readonly again?: string;
  /** Longest list of failures. */
  readonly failures?: number;
}

function failureLines(input: ClosingInput, style: Style): string[] {
  const { state, width } = input;
  const labels = input.labels ?? {};
  const most = input.failures ?? 20;
  const shown = [...state.failures].sort((a, b) => a.index - b.index).slice(0, most);
  const widest = (pick: (failure: FailureNote) => string, limit: number): number =>
    Math.min(limit, Math.max(0, ...shown.map((failure) => textWidth(pick(failure)))));
  const number = ({ index }: FailureNote): string => `#${caseNumber(index)}`;
  const name = (failure: FailureNote): string => singleLine(failure.name);
  // On a narrow screen the reason is worth more than what was tested.
  const tested = (failure: FailureNote): string => (width < 100 ? '' : testedBy(state, failure, labels));
  const [numbers, names, columns] = [
    widest(number, 8),
    widest(name, Math.floor(width * 0.35)),
    widest(tested, Math.floor(width * 0.2)),
  ];
  const room = width - 2 - 8 - numbers - 1 - names - 2 - (columns === 0 ? 0 : columns + 2);
  // Without a terminal's width nothing is cut, and a long prompt widens no other line.
  const column = (failure: FailureNote): string =>
    Number.isFinite(width) ? fill(tested(failure), columns) : tested(failure).padEnd(Math.min(columns, 40));
  const lines = shown.map((failure) => {
    const reason = cut(singleLine(failure.reason), Math.max(10, room));
    return `  ${style.bad(statusWord(failure))}  ${fill(number(failure), numbers)} ${fill(name(failure), names)}  ${columns === 0 ? '' : `${column(failure)}  `}${reason}`.trimEnd();
  });
  const more = state.failureCount - shown.length;
  if (more > 0) lines.push(`  and ${more} more`);
  return lines.length === 0 ? [] : ['', ...lines];
}

/** A stopped run is gone on with before anything of it is run again. */
function stepsOf({ state, comparable, resume, again }: ClosingInput): [what: string, how: string][] {
  const failure = state.failures.at(0);
  const steps: [string, string][] = [];
  if (resume !== undefined) steps.push(['Continue', resume]);
  if (failure !== undefined) steps.push(['Look closer', `show ${caseNumber(failure.index)}`]);
  steps.push(['Report', `export ${state.run} --format html`]);
  if (resume === undefined && again !== undefined && state.failed + state.errors > 0)
    steps.push(['Run it again', again]);
  if (comparable === true) steps.push(['Compare', 'compare']);
  return steps;
}

/** What one can do next, in two columns where there is room. A command is never cut or broken: it is there to be copied. */
function nextSteps(input: ClosingInput, style: Style): string[] {
  const { command, flags, width } = input;
  if (command === undefined) return [];
  const cells = stepsOf(input).map(
    ([what, how]) => `${what.padEnd(14)}${[command, how, ...(flags === undefined ? [] : [flags])].join(' ')}`,
  );
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
      if (errors === 0) return 'complete, but some cases were cancelled';
      return `complete, but some cases ended in errors of ${ownErrors >= errors ? 'their checks or code' : 'a provider'}`;
    case 100:
      return 'some checks failed';
    case 130:
      return 'stopped at once';
    default:
      return 'as set by an option';
  }
}

export function closingLines(input: ClosingInput): string[] {
  const { state, width, exitCode, style = plainStyle } = input;
  const clamped = (lines: readonly string[]): string[] => lines.map((line) => clamp(line, width));
  const ends = exitCode === 0 ? [] : [style.faint(`(exit code ${exitCode}: ${exitWords(exitCode, state)})`)];
  return [...clamped(failureLines(input, style)), ...nextSteps(input, style), ...clamped(ends)];
}
