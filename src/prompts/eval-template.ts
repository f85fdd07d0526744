/**
 * The templates of evals: Nunjucks as promptfoo's users know it. Nothing is escaped, what is not defined is empty, `env`
 * holds the environment, JSON prompts are walked string by string.
 * Templates are text of the config's author. What models, tools and the web said (registers, history) arrives in
 * `literal` vars: it is put in as it is and never read as a template.
 */
import nunjucks from 'nunjucks';
import type { Json, JsonObject } from '../domain/json.ts';
import { plainMessage, TemplateError } from './template.ts';

export type TemplateFilter = (...args: unknown[]) => Promise<unknown>;

export interface EvalTemplateOptions {
  /** What `{{ env.X }}` may see. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The author's own filters, which run elsewhere and answer later. */
  readonly filters?: Readonly<Record<string, TemplateFilter>>;
  /** Prompts that are JSON are rendered as text too. */
  readonly jsonAsText?: boolean;
  /** Templates are left as they are. */
  readonly off?: boolean;
}

export interface EvalTemplates {
  /** One template with these values. */
  render(template: string, vars: JsonObject): Promise<string>;
  /** The same at once; the author's own filters cannot be used then. */
  renderNow(template: string, vars: JsonObject): string;
  /** Every string in a value, keys left alone. */
  renderAll(value: Json, vars: JsonObject): Promise<Json>;
  /** A prompt the way evals do it: vars inside vars, JSON prompts, half-open tags. */
  renderPrompt(raw: string, vars: JsonObject, literal?: ReadonlySet<string>): Promise<string>;
}

/** Makes the engine of one run. */
export function createEvalTemplates(options: EvalTemplateOptions): EvalTemplates {
  const engine = new nunjucks.Environment(null, { autoescape: false, throwOnUndefined: false });
  engine.addGlobal('env', options.env);
  engine.addFilter('load', (text: string) => JSON.parse(text));
  const own = Object.entries(options.filters ?? {});
  for (const [name, filter] of own) engine.addFilter(name, laterFilter(filter), true);
  const cache = new Map<string, nunjucks.Template>();

  const compiled = (template: string): nunjucks.Template => {
    const known = cache.get(template);
    if (known !== undefined) return known;
    const fresh = new nunjucks.Template(template, engine, undefined, true);
    if (cache.size >= 500) cache.clear();
    cache.set(template, fresh);
    return fresh;
  };
  const renderPlain = (template: string, vars: JsonObject): string => orUnusable(() => compiled(template).render(vars));
  const render = async (template: string, vars: JsonObject): Promise<string> => {
    if (options.off === true || !/\{[{%#]/.test(template)) return template;
    if (own.length === 0) return renderPlain(template, vars);
    const made = orUnusable(() => compiled(template));
    return new Promise((resolve, reject) => {
      made.render(vars, (error, text) => (error === null ? resolve(text ?? '') : reject(unusable(error))));
    });
  };
  const renderAll = async (value: Json, vars: JsonObject): Promise<Json> => {
    if (typeof value === 'string') return render(value, vars);
    if (Array.isArray(value)) return Promise.all(value.map((item) => renderAll(item, vars)));
    if (typeof value !== 'object' || value === null) return value;
    const parts: [string, Json][] = [];
    for (const [key, item] of Object.entries(value)) parts.push([key, await renderAll(item, vars)]);
    return Object.fromEntries(parts);
  };
  const renderVars = async (vars: JsonObject, literal: ReadonlySet<string>): Promise<JsonObject> => {
    const parts: [string, Json][] = [];
    for (const [key, value] of Object.entries(vars)) {
      const plain = typeof value !== 'string' || literal.has(key) || leansOnNothing(value, vars);
      parts.push([key, plain ? value : await render(guarded(value), vars)]);
    }
    return Object.fromEntries(parts);
  };

  const isPlain = (template: string): boolean => options.off === true || !/\{[{%#]/.test(template);
  return {
    render,
    renderNow: (template, vars) => (isPlain(template) ? template : renderPlain(template, vars)),
    renderAll,
    async renderPrompt(raw, vars, literal = new Set()) {
      const resolved = resolveVars(vars, literal);
      const parsed = options.jsonAsText === true ? undefined : parsedJson(raw);
      if (parsed !== undefined) {
        try {
          return JSON.stringify(await renderAll(parsed.value, resolved.vars), null, 2);
        } catch {
          // A prompt that is JSON with a broken template in it is rendered as text, like any other.
        }
      }
      if (options.jsonAsText === true) return render(guarded(raw), resolved.vars);
      return render(guarded(raw), await renderVars(resolved.vars, resolved.literal));
    },
  };
}

const unusable = (error: unknown): TemplateError =>
  new TemplateError(`The template cannot be rendered: ${plainMessage(error)}`);

function orUnusable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(error);
  }
}

const laterFilter =
  (filter: TemplateFilter) =>
  (...args: unknown[]): void => {
    const done = args.pop() as (error: unknown, value?: unknown) => void;
    filter(...args).then(
      (value) => done(null, value),
      (error) => done(error),
    );
  };

export function parsedJson(raw: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(raw) as Json };
  } catch {
    return undefined;
  }
}

/** An opening tag that never closes is text, not a template. */
export function guarded(template: string): string {
  const halfOpen = /({%[^%]*$|{{[^}]*$|{#[^#]*$)/m.test(template);
  const already = /{%\s*raw\s*%}/.test(template) && /{%\s*endraw\s*%}/.test(template);
  return halfOpen && !already ? `{% raw %}${template}{% endraw %}` : template;
}

/** A var that mentions something nobody defined stays as it was written. */
function leansOnNothing(template: string, vars: JsonObject): boolean {
  return templateVars(template).some((name) => {
    const root = /^([A-Za-z_]\w*)/.exec(name)?.[1];
    return root !== undefined && root !== 'env' && vars[root] === undefined;
  });
}

/** The names a template mentions, found in its text. */
export function templateVars(template: string): string[] {
  const text = template.replace(/\{#[\s\S]*?#\}/g, '');
  const names = new Set<string>();
  const mention = /\{\{\s*([^{}\s|]+)\s*(?:\|[^}]+)?\}\}|\{%\s*(?:if|for)\s+([^{}\s]+)\s*.*?%\}/g;
  for (const match of text.matchAll(mention)) names.add(match[1] ?? match[2] ?? '');
  for (const match of text.matchAll(/\{%\s*for\s+(\w+)\s+in\s+(\w+)\s*%\}/g)) {
    names.delete(match[1] ?? '');
    names.add(match[2] ?? '');
  }
  names.delete('');
  return [...names];
}

const oneVar = /\{\{\s*(\w+)\s*\}\}/;
const mostRounds = 5;

/** Puts vars into vars. A var that took in literal text is literal from then on. */
export function resolveVars(
  given: JsonObject,
  literal: ReadonlySet<string>,
): { readonly vars: JsonObject; readonly literal: ReadonlySet<string> } {
  const vars: Record<string, Json> = { ...given };
  for (const [key, value] of Object.entries(vars)) {
    if (typeof value === 'string' && !literal.has(key)) vars[key] = value.replace(/\n$/, '');
  }
  const closed = new Set(literal);
  let changed = true;
  for (let round = 0; changed && round < mostRounds; round += 1) {
    changed = false;
    for (const [key, value] of Object.entries(vars)) {
      if (typeof value !== 'string' || closed.has(key)) continue;
      const found = oneVar.exec(value);
      const inner = found === null ? undefined : vars[found[1] ?? ''];
      if (found === null || inner === undefined) continue;
      vars[key] = value.replace(found[0], () => String(inner));
      if (closed.has(found[1] ?? '')) closed.add(key);
      changed = true;
    }
  }
  return { vars, literal: closed };
}

interface TemplateNode {
  readonly typename?: string;
  readonly value?: unknown;
  readonly fields?: readonly string[];
  readonly [field: string]: unknown;
}

/** Whether a template reads a variable. A template that cannot be parsed counts as yes when it mentions the name at all. */
export function readsVariable(template: string, name: string): boolean {
  if (!template.includes(name)) return false;
  const parser = (nunjucks as unknown as { parser?: { parse(text: string): TemplateNode } }).parser;
  try {
    return parser === undefined || mentions(parser.parse(template), name);
  } catch {
    return true;
  }
}

const isTemplateNode = (value: unknown): value is TemplateNode =>
  typeof value === 'object' && value !== null && typeof (value as TemplateNode).typename === 'string';

/** Fields that hold names, not reads. */
const naming: Readonly<Record<string, readonly string[]>> = {
  Pair: ['key'],
  Filter: ['name'],
  Set: ['targets'],
  For: ['name'],
  Macro: ['name'],
  Block: ['name'],
};

function mentions(node: TemplateNode, name: string): boolean {
  if (node.typename === 'Symbol') return node.value === name;
  const skipped = naming[node.typename ?? ''] ?? [];
  return [...(node.fields ?? []), 'children'].some((field) => {
    if (skipped.includes(field)) return false;
    const child = node[field];
    if (Array.isArray(child)) return child.some((item) => isTemplateNode(item) && mentions(item, name));
    return isTemplateNode(child) && mentions(child, name);
  });
}
