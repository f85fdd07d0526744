/** What is wrong with the template of an eval's prompt, found without values: what cannot be parsed, unknown filters. */
import nunjucks from 'nunjucks';
import type { Json } from '../domain/json.ts';
import { guarded, parsedJson } from './eval-template.ts';
import { didYouMean } from './nearest-name.ts';
import { plainMessage } from './template.ts';

export interface EvalTemplateFault {
  readonly message: string;
  readonly hint?: string;
  /** Where in the prompt, both from 1; absent when it is the end that is missing. */
  readonly line?: number;
  readonly column?: number;
}

export interface EvalTemplateRules {
  /** The names of the author's own filters. */
  readonly filters: readonly string[];
  readonly jsonAsText?: boolean;
  readonly off?: boolean;
}

interface TemplateNode {
  readonly typename?: string;
  readonly lineno: number;
  readonly colno: number;
  readonly [field: string]: unknown;
}

const { parser } = nunjucks as unknown as { parser: { parse(text: string): TemplateNode } };
const builtIn = new nunjucks.Environment(null) as unknown as { readonly filters: object };

/** Why a prompt could not be rendered whatever its values are; undefined when it could. */
export function evalTemplateFault(raw: string, rules: EvalTemplateRules): EvalTemplateFault | undefined {
  if (rules.off === true) return undefined;
  const known = new Set([...Object.keys(builtIn.filters), 'load', ...rules.filters]);
  // A prompt that is JSON is rendered string by string, and as text when that cannot be done.
  const parsed = rules.jsonAsText === true ? undefined : parsedJson(raw);
  if (parsed !== undefined && stringsIn(parsed.value).every((text) => textFault(text, known) === undefined))
    return undefined;
  return textFault(guarded(raw), known);
}

function textFault(template: string, known: ReadonlySet<string>): EvalTemplateFault | undefined {
  if (!/\{[{%#]/.test(template)) return undefined;
  try {
    return unknownFilter(parser.parse(template), known);
  } catch (error) {
    const { lineno, colno } = error as { lineno?: number; colno?: number };
    const place = lineno === undefined || colno === undefined ? {} : { line: lineno, column: colno };
    return { message: `not a template: ${plainMessage(error)}`, ...place };
  }
}

function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

const isNode = (value: unknown): value is TemplateNode =>
  typeof value === 'object' && value !== null && 'typename' in value;

function unknownFilter(node: TemplateNode, known: ReadonlySet<string>): EvalTemplateFault | undefined {
  if (node.typename === 'Filter' && isNode(node['name'])) {
    const { value, lineno, colno } = node['name'];
    const name = String(value);
    if (!known.has(name)) {
      const hint = didYouMean(name, known) ?? 'define it under nunjucksFilters';
      return { message: `there is no filter "${name}"`, hint, line: lineno + 1, column: colno + 1 };
    }
  }
  for (const child of Object.values(node).flat()) {
    const fault = isNode(child) ? unknownFilter(child, known) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}
