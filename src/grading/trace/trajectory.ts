/**
 * Reads a trace as what an agent did, one step after the other. Tracing libraries name the same thing differently; the
 * tables below hold the names that are met.
 */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { CheckProblem } from '../check.ts';
import { matchesGlob } from '../glob.ts';
import type { Span, Trace } from '../subject.ts';

export type StepType = 'command' | 'message' | 'reasoning' | 'search' | 'span' | 'tool';

export interface TrajectoryStep {
  readonly type: StepType;
  readonly name: string;
  /** Every name under which a check may mean it. */
  readonly aliases: readonly string[];
  readonly args?: Json;
  readonly span: Span;
}

const nameKeys =
  'tool.name tool_name tool function.name function_name ai.toolCall.name gen_ai.tool.name agent.tool_name agent.tool agent.toolName codex.mcp.tool'.split(
    ' ',
  );
const argumentKeys = [
  ...['tool', 'function', 'ai.toolCall', 'gen_ai.tool', 'gen_ai.tool.call', 'agent.tool', 'codex.mcp'].flatMap(
    (prefix) => ['.args', '.arguments', '.input', '_args', '_arguments', '_input'].map((suffix) => prefix + suffix),
  ),
  'args',
  'arguments',
  'input',
];
const commandKeys = ['codex.command', 'command', 'command.name', 'command_name'];
const searchKeys = ['codex.search.query', 'search.query', 'search_query'];
const shells = new Set(['exec_command', 'local_shell', 'shell']);

const wordAt = (attributes: JsonObject, key: string): string | undefined => {
  const value = attributes[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
const firstWord = (attributes: JsonObject, keys: readonly string[]): string | undefined =>
  keys.map((key) => wordAt(attributes, key)).find((word) => word !== undefined);

function asData(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value ?? undefined;
  const text = value.trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function toolNameOf(span: Span, attributes: JsonObject): string | undefined {
  const direct = firstWord(attributes, nameKeys);
  if (direct !== undefined) return direct;
  for (const key of Object.keys(attributes)) {
    const word = wordAt(attributes, key);
    if (word === undefined || typeof asData(word) === 'object') continue;
    if (/tool.?name|function.?name/i.test(key)) return word;
    if (/(^|[._])tool($|[._])/i.test(key) && !/result|output|definition/i.test(key)) return word;
  }
  const path = /^mcp .*\/(.+)$/.exec(span.name);
  return path?.[1]?.trim();
}

function argumentsOf(attributes: JsonObject): Json | undefined {
  for (const key of argumentKeys) {
    const data = asData(attributes[key]);
    if (data !== undefined) return data;
  }
  for (const [key, value] of Object.entries(attributes)) {
    if (/result|output|error|status/i.test(key) || !/(^|[._])(arguments|args|input)($|[._])/i.test(key)) continue;
    const data = asData(value);
    if (data !== undefined) return data;
  }
  return undefined;
}

function commandOf(span: Span, attributes: JsonObject, isShell: boolean): string | undefined {
  const direct = firstWord(attributes, commandKeys);
  if (direct !== undefined) return direct;
  const key = Object.keys(attributes).find(
    (name) => /command/i.test(name) && !/output|result/i.test(name) && wordAt(attributes, name),
  );
  if (key !== undefined) return wordAt(attributes, key);
  const args = isShell ? argumentsOf(attributes) : undefined;
  if (isObject(args)) {
    const words = args['cmd'] ?? args['command'] ?? args['commands'];
    const separator = args['cmd'] === undefined && args['command'] === undefined ? '; ' : ' ';
    const joined =
      (Array.isArray(words)
        ? words
            .map((word) => String(word).trim())
            .filter(Boolean)
            .join(separator)
        : words) ?? '';
    if (typeof joined === 'string' && joined.trim() !== '') return joined.trim();
  }
  return span.name.startsWith('exec ') ? span.name.slice(5).trim() : undefined;
}

function searchOf(span: Span, attributes: JsonObject): string | undefined {
  const direct = firstWord(attributes, searchKeys);
  if (direct !== undefined) return direct;
  const searches =
    /(^|[\s._:/-])(search|find|lookup|retriev(?:e|al))($|[\s._:/-])/i.test(span.name) ||
    Object.keys(attributes).some(
      (key) => key !== 'query' && /(^|[._])(search|lookup|retriev(?:e|al))($|[._])/i.test(key),
    );
  if (searches && wordAt(attributes, 'query') !== undefined) return wordAt(attributes, 'query');
  return span.name.startsWith('search ') ? span.name.slice(7).replace(/^"|"$/g, '').trim() : undefined;
}

function stepOf(span: Span, commandTools: ReadonlySet<string>): TrajectoryStep {
  const attributes = span.attributes ?? {};
  const tool = toolNameOf(span, attributes);
  const isShell = tool !== undefined && commandTools.has(tool.toLowerCase());
  const command = commandOf(span, attributes, isShell);
  const args = tool === undefined ? undefined : argumentsOf(attributes);
  const step = (type: StepType, name: string, ...more: string[]): TrajectoryStep => ({
    type,
    name,
    aliases: [...new Set([span.name, name, ...more])],
    ...(args === undefined ? {} : { args }),
    span,
  });
  if (command !== undefined && (isShell || tool === undefined)) {
    return step('command', command, ...(tool === undefined ? [] : [tool]), command.split(/\s+/)[0] ?? command);
  }
  if (tool !== undefined) return step('tool', tool);
  const query = searchOf(span, attributes);
  if (query !== undefined) return step('search', query);
  const item = attributes['codex.item.type'];
  if (item === 'reasoning' || /^reasoning([_\s]|$)/i.test(span.name)) return step('reasoning', span.name, 'reasoning');
  const speaks = item === 'agent_message' || span.name === 'agent response' || span.name === 'send input';
  return speaks ? step('message', span.name, 'message') : step('span', span.name);
}

/** The steps in the order in which they began. */
export function stepsOf(trace: Trace): TrajectoryStep[] {
  const extra = trace.metadata?.['commandToolNames'];
  const named = Array.isArray(extra) ? extra.filter((name) => typeof name === 'string') : [];
  const commandTools = new Set([...shells, ...named.map((name) => name.trim().toLowerCase())]);
  const end = (span: Span): number => span.endTime ?? span.startTime;
  return trace.spans
    .toSorted((one, other) => one.startTime - other.startTime || end(one) - end(other))
    .map((span) => stepOf(span, commandTools));
}

/** Which steps a check means. */
export interface StepMatcher {
  readonly pattern?: string;
  readonly types?: readonly string[];
}

const word = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A matcher from a config: a name or pattern, or `{name, pattern, type}`. */
export function matcherOf(value: Json, fallbackType?: StepType): StepMatcher {
  const types = fallbackType === undefined ? {} : { types: [fallbackType] };
  if (typeof value === 'string') return { pattern: value, ...types };
  if (!isObject(value))
    throw new CheckProblem(`Not a step: ${JSON.stringify(value)}; say a name or {name, pattern, type}`);
  const pattern = word(value['pattern']) ?? word(value['name']);
  const type = value['type'];
  const said = typeof type === 'string' ? { types: [type] } : Array.isArray(type) ? { types: type.map(String) } : types;
  return { ...(pattern === undefined ? {} : { pattern }), ...said };
}

export function matchesStep(step: TrajectoryStep, { pattern, types }: StepMatcher): boolean {
  if (types !== undefined && !types.includes(step.type)) return false;
  return pattern === undefined || step.aliases.some((alias) => matchesGlob(alias, pattern));
}

export const toolSteps = (trace: Trace): TrajectoryStep[] => stepsOf(trace).filter((step) => step.type === 'tool');
export const nameList = (steps: readonly TrajectoryStep[]): string =>
  steps.map((step) => step.name).join(', ') || 'none';
