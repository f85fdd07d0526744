import nunjucks from 'nunjucks';
import type { Json, JsonObject } from '../domain/json.ts';

/**
 * Templates over the author's own text. Jinja-like, strict, rendered once.
 *
 * Its job: put values into a prompt, or say what is missing. Not its job: values themselves: they are data and are
 * never rendered, whatever they contain.
 *
 * 1. Text from a scenario, a model, a tool or a webhook only ever comes in as a value.
 * 2. A name that nobody provides is an error, also inside `{% if %}`, unless the author wrote `is defined` or `default`.
 * 3. Lists and objects print as JSON.
 */
const environment = new nunjucks.Environment(null, { autoescape: false, throwOnUndefined: true });

export class TemplateError extends Error {
  /** Names the template uses and nobody provides. */
  readonly missing: readonly string[];

  constructor(message: string, missing: readonly string[] = []) {
    super(message);
    this.name = 'TemplateError';
    this.missing = missing;
  }
}

/** Puts the values into the template; throws a TemplateError when it cannot be done completely. */
export function renderTemplate(template: string, values: JsonObject): string {
  if (!/\{[{%#]/.test(template)) return template;
  const { template: prepared, required } = prepare(template);
  const missing = required.filter((name) => !Object.hasOwn(values, name));
  if (missing.length > 0) {
    throw new TemplateError(
      `unknown variable${missing.length > 1 ? 's' : ''} ${missing.map((name) => `"${name}"`).join(', ')}`,
      missing,
    );
  }
  try {
    return prepared.render(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, printable(value)])));
  } catch (error) {
    throw new TemplateError(plainMessage(error));
  }
}

interface Prepared {
  readonly template: nunjucks.Template;
  readonly required: readonly string[];
}

/** A memo of a pure function: a batch renders the same few prompts thousands of times. */
const memo = new Map<string, Prepared>();
const mostRemembered = 500;

function prepare(text: string): Prepared {
  const known = memo.get(text);
  if (known !== undefined) return known;
  const required = requiredVariables(text);
  const fresh = { template: new nunjucks.Template(text, environment, undefined, true), required };
  if (memo.size >= mostRemembered) memo.clear();
  memo.set(text, fresh);
  return fresh;
}

/** The names a template cannot do without, in order of appearance; throws a TemplateError when it is not a template. */
export function requiredVariables(template: string): string[] {
  if (!/\{[{%#]/.test(template)) return [];
  const scan: Scan = { required: new Set(), optional: new Set() };
  walk(parse(template), new Set(['range', 'cycler', 'joiner', 'loop']), scan);
  return [...scan.required].filter((name) => !scan.optional.has(name));
}

/** Why this text is not a usable template, or undefined when it is one. */
export function templateFault(template: string): string | undefined {
  try {
    requiredVariables(template);
    return undefined;
  } catch (error) {
    return plainMessage(error);
  }
}

interface TemplateNode {
  readonly typename: string;
  readonly fields: readonly string[];
  readonly [field: string]: unknown;
}

interface Scan {
  readonly required: Set<string>;
  readonly optional: Set<string>;
}

function parse(template: string): TemplateNode {
  // The package's types leave its parser out.
  const { parser } = nunjucks as unknown as { parser: { parse(text: string): TemplateNode } };
  try {
    return parser.parse(template);
  } catch (error) {
    throw new TemplateError(plainMessage(error));
  }
}

const isTemplateNode = (value: unknown): value is TemplateNode =>
  typeof value === 'object' && value !== null && 'typename' in value && 'fields' in value;

function walk(node: unknown, known: Set<string>, scan: Scan): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, known, scan);
    return;
  }
  if (!isTemplateNode(node)) return;
  switch (node.typename) {
    case 'Symbol':
      if (typeof node['value'] === 'string' && !known.has(node['value'])) scan.required.add(node['value']);
      return;
    case 'Include':
    case 'Import':
    case 'FromImport':
    case 'Extends':
      throw new TemplateError('a template cannot include or import other files');
    case 'Filter':
      walkFilter(node, known, scan);
      return;
    case 'Is':
      walkTest(node, known, scan);
      return;
    case 'For':
      walkLoop(node, known, scan);
      return;
    case 'Set':
      walkSet(node, known, scan);
      return;
    case 'Macro':
      known.add(symbolName(node['name']));
      walk(node['body'], new Set([...known, ...namesIn(node['args'])]), scan);
      return;
    case 'LookupVal':
      walk(node['target'], known, scan);
      walk(node['val'], known, scan);
      return;
    case 'Pair':
      walk(node['value'], known, scan);
      return;
    default:
      for (const child of childrenOf(node)) walk(child, known, scan);
  }
}

const childrenOf = (node: TemplateNode): unknown[] =>
  Array.isArray(node['children']) ? node['children'] : node.fields.map((field) => node[field]);

const symbolName = (node: unknown): string =>
  isTemplateNode(node) && typeof node['value'] === 'string' ? node['value'] : '';

function namesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn);
  if (!isTemplateNode(node)) return [];
  if (node.typename === 'Symbol') return [symbolName(node)];
  if (node.typename === 'Pair') return namesIn(node['key']);
  return childrenOf(node).flatMap(namesIn);
}

function walkFilter(node: TemplateNode, known: Set<string>, scan: Scan): void {
  const name = symbolName(node['name']);
  const args = isTemplateNode(node['args']) ? childrenOf(node['args']) : [];
  if (!Object.hasOwn(filtersOf(environment), name)) throw new TemplateError(`there is no filter "${name}"`);
  if ((name === 'default' || name === 'd') && isTemplateNode(args[0]) && args[0].typename === 'Symbol') {
    scan.optional.add(symbolName(args[0]));
    walk(args.slice(1), known, scan);
    return;
  }
  walk(args, known, scan);
}

const filtersOf = (from: nunjucks.Environment): object => (from as unknown as { filters: object }).filters;

function walkTest(node: TemplateNode, known: Set<string>, scan: Scan): void {
  const test = symbolName(node['right']);
  if (test === 'defined' || test === 'undefined') {
    for (const name of namesIn(node['left'])) scan.optional.add(name);
    return;
  }
  walk(node['left'], known, scan);
}

function walkLoop(node: TemplateNode, known: Set<string>, scan: Scan): void {
  walk(node['arr'], known, scan);
  const inner = new Set([...known, ...namesIn(node['name'])]);
  walk(node['body'], inner, scan);
  walk(node['else_'], known, scan);
}

function walkSet(node: TemplateNode, known: Set<string>, scan: Scan): void {
  walk(node['value'], known, scan);
  walk(node['body'], known, scan);
  for (const name of namesIn(node['targets'])) known.add(name);
}

/** A copy that prints as JSON where a template shows it whole, and still has its fields and items. */
function printable(value: Json): unknown {
  if (value === null) return '';
  if (typeof value !== 'object') return value;
  const copy: object = Array.isArray(value)
    ? value.map(printable)
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, printable(item)]));
  return Object.defineProperty(copy, 'toString', { value: () => JSON.stringify(value), enumerable: false });
}

/** What the template engine says, without the words about itself. */
export const plainMessage = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^\(unknown path\)\s*/, '')
    .replace(/^Template render error:\s*/, '')
    .replace(/\s+/g, ' ')
    .replace(/(?:Template render )?\b\w*[Ee]rror: /, '')
    .replace(/^parse\w+: /, '')
    .trim();
