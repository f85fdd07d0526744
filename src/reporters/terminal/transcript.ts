import { caseNumber } from '../../domain/ids.ts';
import type { Json } from '../../domain/json.ts';
import { counted, duration, money } from '../../domain/measures.ts';
import { type Row, shownStatus } from '../../domain/row.ts';
import type { Verdict } from '../../domain/verdict.ts';
import {
  type ConversationView,
  checkName,
  checksOf,
  conversationOf,
  type EntryView,
  type Mark,
  marksOf,
  promptOf,
  type ToolView,
  turnsOfCheck,
  turnWords,
} from '../conversation-view.ts';
import { failureReason } from '../failure-reason.ts';
import { plainStyle, type Style } from './style.ts';
import { clamp, cut, safeLines, singleLine, styledWidth, wrap } from './text-width.ts';

export interface TranscriptOptions {
  readonly width: number;
  readonly style?: Style;
  /** Shows tool calls with their whole arguments and results. */
  readonly unfold?: boolean;
  /** Only this turn. */
  readonly turn?: number;
  /** What was tested, in words. */
  readonly column?: string;
  /** What people call the case, where that is not its number: `18f1`. */
  readonly called?: string;
  /** Leave out to print no suggestion. */
  readonly command?: string;
  /** The case has not ended: the row holds what is known so far. */
  readonly unfinished?: 'running' | 'not finished';
  /** What unfolds the tools; `--unfold` unless told. */
  readonly unfoldBy?: string;
}

const indent = 11;

function statusWord(row: Row, options: TranscriptOptions, style: Style): string {
  if (options.unfinished !== undefined) return style.mark(options.unfinished === 'running' ? 'running' : 'open');
  return row.status === 'passed' ? style.good('passed') : style.bad(shownStatus(row));
}

function heading(row: Row, view: ConversationView | undefined, options: TranscriptOptions, style: Style): string {
  const name = style.strong(`#${options.called ?? caseNumber(row.index)} ${singleLine(row.name)}`);
  const parts = [name, statusWord(row, options, style)];
  if (view !== undefined) {
    const tools = view.entries.reduce((sum, entry) => sum + entry.tools.length, 0);
    parts.push(`${counted(view.turns, 'turn')}, ${counted(tools, 'tool call')}`);
  }
  parts.push(duration(view?.durationMs ?? row.latencyMs), money(row.costUsdMicros));
  if (view !== undefined && view.endedBy !== '') parts.push(view.endedBy.replaceAll('_', ' '));
  return parts.join('   ');
}

const columnLines = ({ column, width }: TranscriptOptions, style: Style): string[] =>
  column === undefined ? [] : [style.faint(cut(column, width))];

function argumentWords(tool: ToolView): string {
  try {
    const parsed: Json = JSON.parse(tool.arguments);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return Object.entries(parsed)
        .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
        .join(', ');
    }
  } catch {
    // Malformed arguments are shown as the model wrote them.
  }
  return tool.arguments;
}

function resultWords(result: Json | undefined): string {
  if (result === undefined) return '';
  if (Array.isArray(result)) return ` -> ${counted(result.length, 'result')}`;
  if (typeof result === 'object' && result !== null) {
    const failure = (result as { readonly error?: Json }).error;
    if (failure !== undefined) return ` -> error: ${typeof failure === 'string' ? failure : JSON.stringify(failure)}`;
  }
  return ` -> ${typeof result === 'string' ? result : JSON.stringify(result)}`;
}

function toolLines(tool: ToolView, options: TranscriptOptions, style: Style): string[] {
  const room = options.width - indent;
  const call = singleLine(`> ${tool.name}(${argumentWords(tool)})`);
  if (options.unfold !== true) return [style.mark(cut(call + singleLine(resultWords(tool.result)), room))];
  const result = typeof tool.result === 'string' ? tool.result : JSON.stringify(tool.result, null, 2);
  const shown = tool.result === undefined ? [] : wrap(result, room - 2).map((line) => `  ${line}`);
  return [...wrap(call, room).map((line) => style.mark(line)), ...shown];
}

function timing(entry: EntryView, style: Style): string {
  if (entry.latencyMs === undefined) return '';
  const queued = entry.queueMs === undefined || entry.queueMs < 50 ? '' : `, queued ${duration(entry.queueMs)}`;
  return style.faint(`[${duration(entry.latencyMs)}${queued}]`);
}

const markLine = ({ check, what, pass }: Mark, style: Style, width: number): string =>
  style[pass ? 'warn' : 'bad'](cut(`<-- ${singleLine(check)}: ${singleLine(what)}`, width - indent));

interface Place {
  /** The first entry of its turn carries the number. */
  readonly firstOfTurn: boolean;
  /** Told when another agent takes over. */
  readonly newAgent: boolean;
}

function entryLines(
  entry: EntryView,
  place: Place,
  marks: readonly Mark[],
  options: TranscriptOptions,
  style: Style,
): string[] {
  const room = options.width - indent;
  const tools = entry.tools.flatMap((tool) => toolLines(tool, options, style));
  const words = entry.content === '' ? [] : wrap(entry.content, room);
  const body = entry.side === 'client' ? [...words, ...tools] : [...tools, ...words];
  const time = timing(entry, style);
  const last = body.at(-1) ?? '';
  if (time !== '' && styledWidth(last) + styledWidth(time) + 2 <= room)
    body.splice(-1, 1, `${last}  ${time}`.trimStart());
  body.push(...marks.map((mark) => markLine(mark, style, options.width)));
  const turn = place.firstOfTurn ? String(entry.turn).padStart(2) : '  ';
  const who = entry.side === 'client' ? style.faint('client ') : style.strong('agent  ');
  const lines = place.newAgent ? [style.faint(`(${singleLine(entry.agent)})`), ...body] : body;
  return lines.map((line, at) => (at === 0 ? `${turn} ${who} ${line}` : `${' '.repeat(indent)}${line}`));
}

function checkLines(row: Row, options: TranscriptOptions, style: Style): string[] {
  return checksOf(row.verdict).flatMap((check) => {
    const turns = turnWords(check);
    const at = turns === '' ? '' : ` ${turns}`;
    const word =
      check.error !== undefined ? style.warn('ERROR ') : check.pass ? style.good('PASSED') : style.bad('FAILED');
    const text = `${singleLine(checkName(check))}   ${singleLine(check.error ?? check.reason)}${at}`;
    const [head = '', ...rest] = wrap(text, options.width - 8);
    return [`${word}  ${head}`, ...rest.map((line) => `        ${line}`)];
  });
}

function conversationLines(
  view: ConversationView,
  checks: readonly Verdict[],
  options: TranscriptOptions,
  style: Style,
): string[] {
  let turn = -1;
  const several = new Set(view.entries.map(({ agent }) => agent).filter((agent) => agent !== '')).size > 1;
  let agent = '';
  const marks = marksOf(view, checks);
  const lines: string[] = [];
  for (const entry of view.entries) {
    if (options.turn !== undefined && entry.turn !== options.turn) continue;
    const newAgent = several && entry.side === 'agent' && entry.agent !== agent;
    lines.push(
      ...entryLines(entry, { firstOfTurn: entry.turn !== turn, newAgent }, marks.get(entry) ?? [], options, style),
    );
    turn = entry.turn;
    if (entry.side === 'agent') agent = entry.agent;
  }
  if (view.error !== '') lines.push(style.bad(`error  ${singleLine(view.error)}`));
  // Without a terminal's width every folded line is whole.
  const folds = options.unfold !== true && Number.isFinite(options.width);
  const folded = folds && view.entries.some((entry) => entry.tools.length > 0);
  if (folded)
    lines.push(style.faint(`           (tools are folded; ${options.unfoldBy ?? '--unfold'} shows them whole)`));
  return lines;
}

function section(title: string, body: string, options: TranscriptOptions, style: Style): string[] {
  if (body === '') return [];
  return [style.strong(title), ...wrap(body, options.width - 2).map((line) => `  ${line}`), ''];
}

function promptLines(row: Row, options: TranscriptOptions, style: Style): string[] {
  const output =
    typeof row.output === 'string' ? row.output : row.output === null ? '' : JSON.stringify(row.output, null, 2);
  return [...section('prompt', promptOf(row), options, style), ...section('output', output, options, style)];
}

function suggestion(
  row: Row,
  checks: readonly Verdict[],
  view: ConversationView | undefined,
  command: string,
): string[] {
  if (view === undefined || row.status !== 'failed') return [];
  const broken = checks.find((check) => !check.pass && turnsOfCheck(check).length > 0);
  // Where nobody says which turn went wrong, the greeting is kept and the rest played again.
  const turn = (broken === undefined ? undefined : turnsOfCheck(broken)[0]) ?? Math.min(2, view.turns);
  return [
    `Try again from here:  ${command} fork ${caseNumber(row.index)} --after ${Math.max(0, turn - 1)} --agent-prompt <file>`,
  ];
}

/** One case for the terminal: the conversation turn by turn, or prompt and output, then its checks. */
export function transcriptLines(row: Row, options: TranscriptOptions): string[] {
  const style = options.style ?? plainStyle;
  const view = conversationOf(row);
  const checks = checksOf(row.verdict);
  const reason = row.status === 'error' ? failureReason(row) : '';
  const isToldByCheck = checks.some((check) => check.error === reason);
  const lines = [
    heading(row, view, options, style),
    ...columnLines(options, style),
    ...(view === undefined ? promptLines(row, options, style) : conversationLines(view, checks, options, style)),
    ...(reason === '' || isToldByCheck ? [] : safeLines(reason).map((line) => style.warn(`ERROR   ${line}`))),
    ...checkLines(row, options, style),
    ...(options.command === undefined ? [] : suggestion(row, checks, view, options.command)),
  ];
  return lines.map((line) => clamp(line, options.width));
}
