/** The grammar of `__expected` cells: `(not-)?type(threshold)?:value`, old prefixes, or plain text to be equal to. */
import { assertionTypes } from '../domain/assertion-types.ts';
import type { Assertion } from '../domain/verdict.ts';
import { isJavascript } from './file-reference.ts';

const typed = new RegExp(`^(not-)?(${assertionTypes.join('|')})(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([\\s\\S]*))?$`);
const lists = new Set(['contains-all', 'contains-any', 'icontains-all', 'icontains-any']);
const untouched = new Set(['contains-json', 'is-json']);
const withThreshold = new Set([
  ...['answer-relevance', 'classifier', 'context-faithfulness', 'context-recall', 'context-relevance', 'cost'],
  ...['latency', 'levenshtein', 'perplexity-score', 'perplexity', 'rouge-n', 'similar', 'starts-with'],
]);

/** A whole number literal, or undefined: an empty or odd cell says nothing. */
export function cellNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

function afterPrefix(cell: string, prefixes: readonly string[]): string | undefined {
  const prefix = prefixes.find((candidate) => cell.startsWith(candidate));
  return prefix === undefined ? undefined : cell.slice(prefix.length);
}

/** The assertion that a cell means. */
export function cellAssertion(cell: string): Assertion {
  const code = afterPrefix(cell, ['javascript:', 'fn:', 'eval:']);
  if (code !== undefined) return { type: 'javascript', value: code.trim() };
  if (cell.startsWith('file://') && isJavascript(cell)) return { type: 'javascript', value: cell };
  const rubric = afterPrefix(cell, ['grade:', 'llm-rubric:']);
  if (rubric !== undefined) return { type: 'llm-rubric', value: rubric };
  const python = afterPrefix(cell, ['python:']);
  if (python !== undefined) return { type: 'python', value: python.trim() };
  if (cell.startsWith('file://') && (cell.endsWith('.py') || cell.includes('.py:')))
    return { type: 'python', value: cell };
  return typedAssertion(cell) ?? { type: 'equals', value: cell };
}

function typedAssertion(cell: string): Assertion | undefined {
  const match = typed.exec(cell);
  if (match === null) return undefined;
  const [, not, type = '', threshold, value] = match;
  const full = not === undefined ? type : `not-${type}`;
  const valued = (text: string | undefined): object => (text === undefined ? {} : { value: text });
  if (lists.has(type)) return { type: full, ...(value ? { value: cellList(value) } : valued(value)) };
  if (untouched.has(type)) return { type: full, ...valued(value) };
  if (!withThreshold.has(type)) return { type: full, ...valued(value?.trim()) };
  const usual = type === 'similar' ? 0.8 : 0.75;
  return { type: full, ...valued(value?.trim()), threshold: cellNumber(threshold) ?? usual };
}

/** Splits at commas; a field in double quotes may hold commas, `\"` and `""`. Throws on a quote that never ends. */
export function cellList(text: string): string[] {
  const fields: string[] = [];
  const field = /\s*(?:"((?:\\["\\]|""|[^"])*)"\s*(?=,|$)|([^,"][^,]*))?(?:,|$)/gy;
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (match === null) throw new Error('a quoted field does not end');
    const [, quoted, plain] = match;
    if (quoted !== undefined) fields.push(quoted.replace(/\\(["\\])|""/g, (_all, escaped: string) => escaped ?? '"'));
    else if (plain !== undefined && plain.trim() !== '') fields.push(plain.trim());
  }
  return fields;
}
