/**
 * A YAML or JSON file as data, with the place of every value in it.
 * Its job: parse within limits (depth, aliases, size, prototype keys) and answer "where is this?".
 * Not its job: what the data means.
 *
 * 1. Nesting is counted while tokens are read, before anything recursive runs over the document.
 * 2. All problems of the text are reported, not the first one.
 * 3. Keys that stand twice or are not allowed do not hide the data: further problems can be found in it.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
} from 'yaml';
import type { Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';

export interface SourceDocument {
  readonly file: string;
  /** `undefined` for an empty file, and when the text cannot be read. */
  readonly value: Json | undefined;
  readonly problems: readonly Problem[];
  /** A problem at a value, or at the nearest value around it that exists. */
  at(path: readonly PropertyKey[], message: string, hint?: string): Problem;
  /** A problem at a key of a map. */
  atKey(path: readonly PropertyKey[], message: string, hint?: string): Problem;
}

const deepest = 64;
const largest = 64 * 1024 * 1024;
const mostAliases = 1000;
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);

type Place = (offset: number, message: string, hint?: string) => Problem;

/** How a file that ends in `.json` is read: JSON first and else as YAML, unless it must be JSON with each key once. */
export interface SourceRules {
  readonly strictJson: boolean;
}

/** For files of our own making, where nothing old has to be taken. */
export const strictJson: SourceRules = { strictJson: true };

/** Parses a file's text. */
export function parseSource(file: string, source: string, rules: SourceRules = { strictJson: false }): SourceDocument {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const lines = new LineCounter();
  const place = placer(file, text, lines);
  if (text.length > largest) return failed(file, [place(0, 'the file is larger than 64 MB')], place);
  const strict = file.endsWith('.json') ? parseStrictJson(text) : undefined;
  // A tab is white space in JSON and may not indent YAML; a space keeps every column.
  const readable = strict?.ok === true ? text.replace(/\t/g, ' ') : text;
  const tokens = readTokens(readable, lines);
  if (tokens.tooDeepAt !== undefined) {
    return failed(file, [place(tokens.tooDeepAt, `nested deeper than ${deepest} levels`)], place);
  }
  const document = compose(tokens.list);
  // Old configs have JSON with a key twice; every reader takes the last one.
  if (strict?.ok === true) return finish(file, document, place, rules.strictJson, strict.value);
  const syntax = document.errors.map((error) => place(error.pos[0], plainMessage(error.message)));
  if (strict !== undefined && (rules.strictJson || syntax.length > 0)) {
    return failed(file, [place(strict.offset, `not valid JSON: ${strict.message}`)], place);
  }
  return syntax.length > 0 ? failed(file, syntax, place) : finish(file, document, place, true);
}

function placer(file: string, text: string, lines: LineCounter): Place {
  return (offset, message, hint) => {
    const { line, col } = lines.lineStarts.length > 0 ? lines.linePos(offset) : { line: 1, col: 1 };
    const begin = lines.lineStarts[line - 1] ?? 0;
    const end = text.indexOf('\n', begin);
    const excerpt = text.slice(begin, end < 0 ? undefined : end).replace(/\r$/, '');
    const where = { file, line: Math.max(1, line), column: Math.max(1, col) };
    return { ...where, message, ...(hint === undefined ? {} : { hint }), ...(excerpt === '' ? {} : { excerpt }) };
  };
}

function parseStrictJson(text: string): { ok: true; value: Json } | { ok: false; message: string; offset: number } {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const found = /position (\d+)/.exec(message)?.[1];
    const what = message.replace(/ in JSON at position[\s\S]*$/, '').replace(/, "[\s\S]*$/, '');
    return { ok: false, message: what, offset: found === undefined ? Math.max(0, text.length - 1) : Number(found) };
  }
}

function readTokens(text: string, lines: LineCounter): { list: CST.Token[]; tooDeepAt?: number } {
  const list: CST.Token[] = [];
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) list.push(token);
    if (parser.stack.length > deepest + 1) return { list, tooDeepAt: parser.offset };
  }
  for (const token of parser.end()) list.push(token);
  return { list };
}

function compose(tokens: readonly CST.Token[]): Document {
  const documents = [...new Composer({ merge: true, uniqueKeys: false, logLevel: 'error' }).compose(tokens, true, 0)];
  const [first, second] = documents;
  if (first === undefined) throw new Error('a composer that was forced made no document');
  if (second !== undefined) {
    const start = second.range?.[0] ?? 0;
    first.errors.push({ pos: [start, start], message: 'a second document starts here; one is expected' } as never);
  }
  return first as Document;
}

const plainMessage = (message: string): string => {
  const first = (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');
  return first.charAt(0).toLowerCase() + first.slice(1);
};

function failed(file: string, problems: readonly Problem[], place: Place): SourceDocument {
  const at = (_path: readonly PropertyKey[], message: string, hint?: string): Problem => place(0, message, hint);
  return { file, value: undefined, problems, at, atKey: at };
}

function finish(file: string, document: Document, place: Place, keysOnce: boolean, known?: Json): SourceDocument {
  const problems = keyProblems(document, place, keysOnce);
  let value = known;
  if (value === undefined) {
    try {
      value = document.toJS({ maxAliasCount: mostAliases }) as Json | undefined;
    } catch (error) {
      const bomb = place(0, error instanceof Error ? error.message : String(error), 'too many aliases');
      return failed(file, problems.length > 0 ? problems : [bomb], place);
    }
  }
  const offsetOf = (node: Node | undefined): number => node?.range?.[0] ?? 0;
  return {
    file,
    value: value === null && document.contents === null ? undefined : value,
    problems,
    at: (path, message, hint) => place(offsetOf(nodeAt(document, path)), message, hint),
    atKey: (path, message, hint) => place(offsetOf(keyAt(document, path)), message, hint),
  };
}

/** Keys that stand twice or would reach into JavaScript, and maps as keys: what a template without quotes is to YAML. */
function keyProblems(document: Document, place: Place, keysOnce: boolean): Problem[] {
  const problems: Problem[] = [];
  const visit = (node: unknown): void => {
    if (isSeq(node)) node.items.forEach(visit);
    if (isAlias(node) && node.resolve(document) === undefined) {
      problems.push(place(node.range?.[0] ?? 0, `there is no anchor &${node.source} before this`));
    }
    if (!isMap(node)) return;
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (isScalar(pair.key)) {
        const key = String(pair.key.value);
        const offset = pair.key.range?.[0] ?? 0;
        if (keysOnce && seen.has(key)) problems.push(place(offset, `the key "${key}" stands here twice`, 'keep one'));
        if (forbidden.has(key)) problems.push(place(offset, `the key "${key}" is not allowed`));
        seen.add(key);
      }
      if (isMap(pair.key)) {
        problems.push(place(node.range?.[0] ?? 0, 'a map cannot be a key', 'a template needs quotes: "{{ name }}"'));
      }
      visit(pair.value);
    }
  };
  visit(document.contents);
  return problems;
}

const followed = (node: unknown, document: Document): unknown => (isAlias(node) ? node.resolve(document) : node);

function pairAt(node: unknown, key: PropertyKey, document: Document): { key: unknown; value: unknown } | undefined {
  if (!isMap(node)) return undefined;
  const own = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
  if (own !== undefined) return own;
  const merges = node.items.filter(
    (pair) => isScalar(pair.key) && /^(?:<<|Symbol\(<<\))$/.test(String(pair.key.value)),
  );
  for (const merge of merges) {
    const sources = followed(merge.value, document);
    for (const source of isSeq(sources) ? sources.items : [sources]) {
      const found = pairAt(followed(source, document), key, document);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function childOf(node: unknown, key: PropertyKey, document: Document): unknown {
  const parent = followed(node, document);
  if (isSeq(parent)) return parent.items[Number(key)];
  return pairAt(parent, key, document)?.value;
}

function nodeAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  let node: unknown = document.contents;
  for (const key of path) {
    const next = childOf(node, key, document);
    if (!isNode(next)) break;
    node = next;
  }
  return isNode(node) ? node : undefined;
}

function keyAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  const last = path.at(-1);
  const parent = followed(nodeAt(document, path.slice(0, -1)), document);
  const pair = last === undefined ? undefined : pairAt(parent, last, document);
  return isPair(pair) && isNode(pair.key) ? pair.key : nodeAt(document, path);
}
