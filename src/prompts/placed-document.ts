import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import type { Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';

/**
 * A JSON or YAML file as data, with the place of every value in it.
 *
 * Its job: parse safely (depth, size, aliases, prototype keys) and answer "where is this?". Not its job: what the
 * data means.
 */
export interface PlacedDocument {
  readonly file: string;
  readonly value: Json;
  /** What is wrong with the text itself: syntax, duplicate keys, forbidden keys. */
  readonly problems: readonly Problem[];
  /** Makes a problem at a value, or at the nearest value around it that exists. */
  problem(path: readonly PropertyKey[], message: string, hint?: string): Problem;
  /** Makes a problem at a key of a map. */
  keyProblem(path: readonly PropertyKey[], message: string, hint?: string): Problem;
}

const deepest = 64;
const largest = 16 * 1024 * 1024;
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads a file's text. A name that ends in `.json` must be JSON; everything else is YAML. */
export function parsePlaced(file: string, source: string): PlacedDocument {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const refused = refuse(file, text);
  if (refused !== undefined) return placed(file, null, [refused], undefined, new LineCounter());
  return file.endsWith('.json') ? parseJson(file, text) : parseYaml(file, text);
}

function refuse(file: string, text: string): Problem | undefined {
  if (text.length > largest) return { file, line: 1, column: 1, message: 'is larger than 16 MB' };
  const line = tooDeepAt(text);
  return line === undefined ? undefined : { file, line, column: 1, message: `is nested deeper than ${deepest} levels` };
}

/** The first line where nesting passes the limit. Counted on the text, since composing a very deep document can end the process. */
function tooDeepAt(text: string): number | undefined {
  let flow = 0;
  const indents: number[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const lead = /^[ \t]*(?:[-?] +)*/.exec(line)?.[0] ?? '';
    if (lead.length < line.length && flow === 0) {
      while (indents.length > 0 && (indents.at(-1) ?? 0) >= lead.length) indents.pop();
      indents.push(lead.length);
    }
    const dashes = lead.split(/[-?]/).length - 1;
    const bare = line.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/'[^']*'/g, '');
    for (const character of bare) {
      if (character === '[' || character === '{') flow += 1;
      else if ((character === ']' || character === '}') && flow > 0) flow -= 1;
      if (flow > deepest) return at + 1;
    }
    if (indents.length > deepest || dashes > deepest) return at + 1;
  }
  return undefined;
}

function parseJson(file: string, text: string): PlacedDocument {
  const counter = new LineCounter();
  // A tab is white space in JSON and an error in YAML; a space keeps every column.
  const document = parseDocument(
    text.replace(/^\t+/gm, (tabs) => ' '.repeat(tabs.length)),
    {
      lineCounter: counter,
      uniqueKeys: false,
    },
  );
  try {
    const value: Json = JSON.parse(text);
    return placed(file, value, keyProblems(file, document, counter), document, counter);
  } catch (error) {
    return placed(file, null, [jsonProblem(file, text, error)], undefined, counter);
  }
}

function jsonProblem(file: string, text: string, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  const offset = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
  const before = text.slice(0, offset).split('\n');
  const what = message.replace(/ in JSON at position.*$/s, '').replace(/,? ?".*" is not valid JSON$/s, '');
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message: `is not valid JSON: ${what}` };
}

function parseYaml(file: string, text: string): PlacedDocument {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false });
  const syntax = document.errors.map((error): Problem => {
    const { line, col } = counter.linePos(error.pos[0]);
    return { file, line: Math.max(1, line), column: Math.max(1, col), message: firstLine(error.message) };
  });
  if (syntax.length > 0) return placed(file, null, syntax, undefined, counter);
  try {
    const value: Json = document.toJS({ maxAliasCount: 100 });
    return placed(file, value ?? null, keyProblems(file, document, counter), document, counter);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return placed(file, null, [{ file, line: 1, column: 1, message: firstLine(message) }], undefined, counter);
  }
}

const firstLine = (message: string): string =>
  (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');

/** Duplicate and forbidden keys, wherever they are. */
function keyProblems(file: string, document: Document, counter: LineCounter): Problem[] {
  const problems: Problem[] = [];
  const visit = (node: unknown): void => {
    if (isPair(node)) visit(node.value);
    if (!isCollection(node)) return;
    const seen = new Set<string>();
    for (const item of node.items) {
      if (isMap(node) && isPair(item) && isScalar(item.key)) {
        const key = String(item.key.value);
        const { line, column } = start(item.key, counter);
        if (seen.has(key))
          problems.push({ file, line, column, message: `the key "${key}" stands here twice`, hint: 'keep one' });
        if (forbiddenKeys.has(key)) problems.push({ file, line, column, message: `the key "${key}" is not allowed` });
        seen.add(key);
      }
      visit(item);
    }
  };
  visit(document.contents);
  return problems;
}

function start(node: Node | null | undefined, counter: LineCounter): { line: number; column: number } {
  const offset = node?.range?.[0];
  if (offset === undefined) return { line: 1, column: 1 };
  const { line, col } = counter.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function placed(
  file: string,
  value: Json,
  problems: readonly Problem[],
  document: Document | undefined,
  counter: LineCounter,
): PlacedDocument {
  const nodeAt = (path: readonly PropertyKey[]): Node | null => {
    if (document === undefined) return null;
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true);
      if (isNode(node)) return node;
    }
    return document.contents;
  };
  const keyAt = (path: readonly PropertyKey[]): Node | null => {
    const parent = path.length === 1 ? document?.contents : document?.getIn(path.slice(0, -1), true);
    const key = path.at(-1);
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    return isNode(pair?.key) ? pair.key : nodeAt(path);
  };
  const at = (node: Node | null, message: string, hint?: string): Problem => ({
    file,
    ...start(node, counter),
    message,
    ...(hint === undefined ? {} : { hint }),
  });
  return {
    file,
    value,
    problems,
    problem: (path, message, hint) => at(nodeAt(path), message, hint),
    keyProblem: (path, message, hint) => at(keyAt(path), message, hint),
  };
}
