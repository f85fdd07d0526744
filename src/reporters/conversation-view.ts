import type { Finding } from '../domain/finding.ts';
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Verdict } from '../domain/verdict.ts';

/**
 * A recorded conversation as readers see it. Results are read by other programs too and come from many versions, so
 * this reads with care: what is missing is left out, what is odd is shown as text, nothing throws.
 */
export interface ConversationView {
  readonly scenario: string;
  readonly status: string;
  readonly endedBy: string;
  readonly turns: number;
  readonly durationMs: number | undefined;
  readonly error: string;
  readonly entries: readonly EntryView[];
}

export interface EntryView {
  readonly turn: number;
  readonly side: 'agent' | 'client';
  /** The agent's name, when there are several. */
  readonly agent: string;
  readonly content: string;
  readonly tools: readonly ToolView[];
  readonly latencyMs: number | undefined;
  readonly queueMs: number | undefined;
}

export interface ToolView {
  readonly name: string;
  /** The model's own text, as it came. */
  readonly arguments: string;
  readonly result: Json | undefined;
  readonly kind: 'tool' | 'handoff' | 'end';
}

const text = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
const number = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function toolKind(name: string): ToolView['kind'] {
  if (name === 'end_call') return 'end';
  return name.startsWith('handoff_') ? 'handoff' : 'tool';
}

function toolsOf(entry: JsonObject): ToolView[] {
  const results = list(entry['tool_results'] ?? entry['client_tool_results']);
  return list(entry['tool_calls']).map((call, at) => {
    const asked = isObject(call) && isObject(call['function']) ? call['function'] : {};
    const name = text(asked['name']);
    return { name, arguments: text(asked['arguments']), result: results[at], kind: toolKind(name) };
  });
}

function entryOf(value: Json): EntryView {
  const entry = isObject(value) ? value : { content: value };
  const speaker = text(entry['speaker']);
  return {
    turn: number(entry['turn']) ?? 0,
    side: speaker === 'client' ? 'client' : 'agent',
    agent: speaker.startsWith('agent_') ? speaker.slice('agent_'.length) : '',
    content: text(entry['content']),
    tools: toolsOf(entry),
    latencyMs: number(entry['latency_ms']),
    queueMs: number(entry['queue_ms']),
  };
}

/** The conversation in a row's detail, at its top or under `conversation` or `result`; undefined when there is none. */
export function conversationOf(row: Pick<Row, 'detail'>): ConversationView | undefined {
  const detail = row.detail;
  if (!isObject(detail)) return undefined;
  const places = [detail, detail['conversation'], detail['result']];
  const result = places.find((place) => isObject(place) && Array.isArray(place['conversation_history']));
  if (!isObject(result)) return undefined;
  const seconds = number(result['duration_seconds']);
  return {
    scenario: text(result['scenario']),
    status: text(result['status']),
    endedBy: text(result['termination_reason']),
    turns: number(result['total_turns']) ?? 0,
    durationMs: seconds === undefined ? undefined : seconds * 1000,
    error: text(result['error']),
    entries: list(result['conversation_history']).map(entryOf),
  };
}

/** The rendered prompt in a row's detail, as text; empty when there is none. */
export function promptOf(row: Pick<Row, 'detail'>): string {
  return isObject(row.detail) ? text(row.detail['prompt']) : '';
}

/** What a check is called: its metric, else its type and value. */
export function checkName(check: Verdict): string {
  const { assertion } = check;
  if (assertion === undefined) return 'check';
  if (assertion.metric !== undefined) return assertion.metric;
  const value = typeof assertion.value === 'string' ? ` ${JSON.stringify(assertion.value)}` : '';
  return `${assertion.type}${value.length > 42 ? `${value.slice(0, 40)}…"` : value}`;
}

/** All checks of a row, sets unfolded. */
export function checksOf(verdict: Verdict | undefined): Verdict[] {
  if (verdict === undefined) return [];
  const parts = verdict.componentResults ?? [];
  return parts.length === 0 ? [verdict] : parts.flatMap(checksOf);
}

/** What a check found, each at its turn, as a judge named it. */
function namedFindings(check: Verdict): Finding[] {
  return list(check.metadata?.['findings']).flatMap((one): Finding[] => {
    const at = isObject(one) ? number(one['turn']) : undefined;
    return isObject(one) && at !== undefined ? [{ turn: at, what: text(one['what']) }] : [];
  });
}

/** The turn that a check is about, where nothing was found at another. */
const ownTurn = (check: Verdict): number | undefined => number(check.metadata?.['turn']);

/** The turns a check points at, first ones first. */
export function turnsOfCheck(check: Verdict): number[] {
  const found = namedFindings(check).map(({ turn }) => turn);
  const own = ownTurn(check);
  return found.length > 0 ? [...new Set(found)].sort((a, b) => a - b) : own === undefined ? [] : [own];
}

function findingsOf(check: Verdict): Finding[] {
  const found = namedFindings(check);
  const turn = ownTurn(check);
  return found.length > 0 || turn === undefined || check.pass ? found : [{ turn, what: '' }];
}

/** `(turn 3)`, `(turns 2, 3)`, or nothing. */
export function turnWords(check: Verdict): string {
  const turns = turnsOfCheck(check);
  return turns.length === 0 ? '' : `(${turns.length === 1 ? 'turn' : 'turns'} ${turns.join(', ')})`;
}

/** A finding at the line it is about. */
export interface Mark {
  readonly check: string;
  readonly what: string;
  /** The check passed all the same. */
  readonly pass: boolean;
}

/** The findings by entry: at the agent's last words of the turn, or at whoever spoke when no agent did. */
export function marksOf(view: ConversationView, checks: readonly Verdict[]): Map<EntryView, Mark[]> {
  const marks = new Map<EntryView, Mark[]>();
  for (const check of checks) {
    for (const { turn, what } of findingsOf(check)) {
      const own = view.entries.filter((entry) => entry.turn === turn);
      const entry = own.findLast(({ side }) => side === 'agent') ?? own.at(-1);
      if (entry === undefined) continue;
      const mark = { check: checkName(check), what: what === '' ? check.reason : what, pass: check.pass };
      const known = marks.get(entry) ?? [];
      // A judge names a finding once for each who spoke in the turn; they stand together here.
      const isTold = known.some((one) => one.check === mark.check && one.what === mark.what);
      if (!isTold) marks.set(entry, [...known, mark]);
    }
  }
  return marks;
}
