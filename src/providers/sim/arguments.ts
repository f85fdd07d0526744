import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { ToolDefinition } from '../../domain/message.ts';
import type { Dialogue } from './dialogue.ts';
import { codesIn, contentWords, coverage, numberOf, stem, type Wish, wishesOf } from './words.ts';

/** What could be filled in from the conversation, and what could not. */
export interface Filled {
  readonly args: { readonly [name: string]: Json };
  readonly missing: readonly string[];
}

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const dayMs = 86_400_000;

/** A day named in a text, as an ISO date; relative ones count from the day that the instructions call today. */
function dateIn(text: string, system: string): string | undefined {
  const iso = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)?.[0];
  if (iso) return iso;
  const today = Date.parse(/\b\d{4}-\d{2}-\d{2}\b/.exec(system)?.[0] ?? '2026-01-05');
  const shift = (days: number): string => new Date(today + days * dayMs).toISOString().slice(0, 10);
  const lower = text.toLowerCase();
  if (/day after tomorrow/.test(lower)) return shift(2);
  if (/\btomorrow\b/.test(lower)) return shift(1);
  if (/\btoday\b/.test(lower)) return shift(0);
  const named = weekdays.findIndex((day) => lower.includes(day));
  return named < 0 ? undefined : shift(((named - new Date(today).getUTCDay() + 6) % 7) + 1);
}

/** Rows of earlier tool results that have an id and a name: what a search found. */
export interface Found {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

function rowsIn(value: Json, into: Found[]): void {
  if (Array.isArray(value)) {
    for (const item of value) rowsIn(item, into);
  } else if (isObject(value)) {
    const id = Object.entries(value).find(([key, item]) => /(?:^|_)id$/i.test(key) && typeof item !== 'object')?.[1];
    const name = Object.entries(value).find(
      ([key, item]) => /name|title|address/i.test(key) && typeof item === 'string',
    );
    if (id !== undefined && name) into.push({ id: String(id), name: String(name[1]), detail: JSON.stringify(value) });
    else for (const item of Object.values(value)) rowsIn(item, into);
  }
}

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

/** What tools found so far, and what a colleague told: `P-101 Oat milk 1 l`. */
export function foundIn(dialogue: Dialogue): Found[] {
  const found: Found[] = [];
  const known = parsed(/\[\{[\s\S]*?\}\]/.exec(dialogue.system)?.[0] ?? '');
  if (known !== undefined) rowsIn(known, found);
  for (const { result } of dialogue.calls) {
    const value = result === undefined ? undefined : parsed(result);
    if (value !== undefined) rowsIn(value, found);
  }
  for (const part of dialogue.context.split(';')) {
    const id = codesIn(part)[0];
    if (id) found.push({ id, name: part.replace(id, '').trim(), detail: part.trim() });
  }
  return [...new Map(found.map((row) => [row.id, row])).values()];
}

/** The found row that fits a name best, when any does. */
export const bestFound = (name: string, found: readonly Found[]): Found | undefined =>
  found
    .map((row) => ({ row, fit: coverage(name, `${row.name} ${row.detail}`) }))
    .filter(({ fit }) => fit > 0.5)
    .toSorted((a, b) => b.fit - a.fit)[0]?.row;

const idSuffix = /_?(?:id|number|code|ref(?:erence)?)$/i;
const things = /^(?:order|booking|customer|account|product|item|ticket|invoice|flight)s?$/i;

/** A code that somebody said for this kind of thing: `order A-1007` is no product. */
function codeSaid(property: string, dialogue: Dialogue, used: string): string | undefined {
  const kind = property.replace(idSuffix, '');
  for (const text of dialogue.heard) {
    for (const code of codesIn(text)) {
      const before = new RegExp(`(\\w+)\\W+${code}`).exec(text)?.[1] ?? '';
      const fits = kind === '' || !things.test(before) || stem(before.toLowerCase()) === stem(kind.toLowerCase());
      if (fits && !used.includes(code)) return code;
    }
  }
  return undefined;
}

const usedBy = (dialogue: Dialogue, tool: string): string =>
  dialogue.calls
    .filter(({ name }) => name === tool)
    .map((call) => call.arguments)
    .join(' ');

/** The wish that the next action is about: the first that was found and not yet acted on. */
function currentFound(
  property: string,
  dialogue: Dialogue,
  tool: string,
): { found: Found; quantity: number } | undefined {
  const found = foundIn(dialogue);
  const used = usedBy(dialogue, tool);
  for (const wish of dialogue.heard.flatMap(wishesOf)) {
    const row = bestFound(wish.name, found);
    if (row && !used.includes(`"${row.id}"`)) return { found: row, quantity: wish.quantity };
  }
  const code = codeSaid(property, dialogue, used);
  return code === undefined ? undefined : { found: { id: code, name: '', detail: '' }, quantity: 1 };
}

/** Wishes that this tool has not acted on yet. */
export function openWishes(dialogue: Dialogue, tool: string): Wish[] {
  const found = foundIn(dialogue);
  const used = usedBy(dialogue, tool);
  return dialogue.heard.flatMap(wishesOf).filter(({ name }) => {
    const row = bestFound(name, found);
    return row === undefined || !used.includes(`"${row.id}"`);
  });
}

/** The words to search for: a wish that nobody searched for yet, else what was said last. */
function queryFor(dialogue: Dialogue, tool: string): string | undefined {
  const asked = dialogue.calls.filter(({ name }) => name === tool).map((call) => call.arguments.toLowerCase());
  const wishes = dialogue.heard.flatMap(wishesOf).map(({ name }) => name);
  const open = wishes.find((name) => !asked.some((text) => text.includes(name.toLowerCase())));
  if (open !== undefined || wishes.length > 0) return open;
  const words = contentWords(dialogue.lastHeard).slice(0, 4).join(' ');
  return words === '' ? undefined : words;
}

const quoted = (text: string): string | undefined => /["“”«]([^"“”»]{1,80})["“”»]/u.exec(text)?.[1];

function stringFor(name: string, dialogue: Dialogue, tool: string): string | undefined {
  const all = dialogue.heard.join('\n');
  if (/^execution_message$/.test(name)) return undefined;
  if (/date|day/i.test(name)) return dateIn(dialogue.heard.toReversed().join('\n'), dialogue.system);
  if (/(?:^|_)(?:id|number|code|ref(?:erence)?)$/i.test(name)) return currentFound(name, dialogue, tool)?.found.id;
  if (/query|search|keyword|question|text|term/i.test(name)) return queryFor(dialogue, tool);
  if (/reason|note|comment|message|summary|description|issue|topic|subject/i.test(name)) {
    return dialogue.lastHeard.slice(0, 120) || undefined;
  }
  if (/e-?mail/i.test(name)) return /[\w.+-]+@[\w-]+\.[\w.]+/.exec(all)?.[0];
  if (/phone|tel/i.test(name)) return /\+?\d[\d -]{6,}\d/.exec(all)?.[0];
  if (/name/i.test(name))
    return /\b(?:my name is|this is|i am) ([\p{Lu}][\p{L}'-]+(?: [\p{Lu}][\p{L}'-]+)?)/u.exec(all)?.[1];
  if (/address|location|city|place|street/i.test(name)) {
    return (
      /\b\d{1,4} [\p{Lu}][\p{L}' ]+/u.exec(all)?.[0]?.trim() ?? /\b(?:to|in|at) ([\p{Lu}][\p{L}'-]+)/u.exec(all)?.[1]
    );
  }
  return quoted(all);
}

function integerFor(name: string, dialogue: Dialogue, tool: string): number | undefined {
  if (/quantity|amount|count|number_of|qty/i.test(name)) return currentFound(name, dialogue, tool)?.quantity ?? 1;
  if (/(?:^|_)id$/i.test(name)) {
    const what = name.replace(/_?id$/i, '');
    const row = dialogue.heard
      .map((text) => foundIn(dialogue).find((one) => coverage(one.name, text) >= 0.5))
      .find(Boolean);
    if (row && /^\d+$/.test(row.id)) return Number(row.id);
    const told = new RegExp(`\\b${what || 'number'}\\D{0,12}(\\d+)`, 'iu').exec(dialogue.heard.join('\n'))?.[1];
    return told === undefined ? 1 : Number(told);
  }
  const first = dialogue.lastHeard
    .split(/\s+/)
    .map((word) => numberOf(word))
    .find((value) => value !== undefined);
  return first;
}

function valueFor(name: string, schema: JsonObject, dialogue: Dialogue, tool: string): Json | undefined {
  if (schema['const'] !== undefined) return schema['const'];
  const options = schema['enum'];
  if (Array.isArray(options)) {
    return (
      options.find((item) => dialogue.heard.some((text) => text.toLowerCase().includes(String(item).toLowerCase()))) ??
      options[0]
    );
  }
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'integer':
    case 'number':
      return integerFor(name, dialogue, tool);
    case 'boolean':
      return true;
    case 'array': {
      const item = valueFor(name.replace(/s$/, ''), isObject(schema['items']) ? schema['items'] : {}, dialogue, tool);
      return item === undefined ? undefined : [item];
    }
    case 'object':
      return fillSchema(schema, dialogue, tool).args;
    default:
      return stringFor(name, dialogue, tool);
  }
}

function fillSchema(schema: JsonObject, dialogue: Dialogue, tool: string): Filled {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const args: Record<string, Json> = {};
  const missing: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const must = required.includes(name);
    if (!must && !/quantity|date/i.test(name)) continue;
    const value = valueFor(name, isObject(property) ? property : {}, dialogue, tool);
    if (value !== undefined) args[name] = value;
    else if (must) missing.push(name);
  }
  return { args, missing };
}

/** Fills a tool's arguments from what was said and found. */
export const fillArguments = (tool: ToolDefinition, dialogue: Dialogue): Filled =>
  fillSchema(tool.function.parameters ?? {}, dialogue, tool.function.name);
