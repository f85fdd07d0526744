/** Code in an http provider's config: simple paths and comparisons are read as data, everything else runs outside. */
import { isAbsolute, resolve } from 'node:path';
import type { CodeOutcome, CodeRunner, UserCode } from '../../domain/code-runner.ts';
import type { Json } from '../../domain/json.ts';
import { at } from '../read-json.ts';

const isFunction = (source: string): boolean =>
  /^(?:async\s+)?(?:\([^)]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>|function\s*\()/.test(source);

/** An expression, a function, or `file://path.js:name`, as code with these parameters. */
export function userCode(source: string, parameters: readonly string[], basePath: string): UserCode {
  const file = /^file:\/\/(.*?\.[a-z]+)(?::([A-Za-z_$][\w$]*))?$/.exec(source);
  if (file !== null) {
    const path = file[1] ?? '';
    return {
      kind: 'file',
      language: path.endsWith('.py') ? 'python' : 'javascript',
      path: isAbsolute(path) ? path : resolve(basePath, path),
      ...(file[2] === undefined ? {} : { functionName: file[2] }),
    };
  }
  const trimmed = source.trim();
  const list = parameters.join(', ');
  const body = isFunction(trimmed)
    ? `return (${trimmed})(${list});`
    : /\breturn\b/.test(trimmed)
      ? trimmed
      : `return (${trimmed});`;
  return { kind: 'inline', language: 'javascript', parameters, body };
}

const pathStep = /^(?:\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[(?:'([^'\\]*)'|"([^"\\]*)")\])/;

/** `json.choices[0].message.content` as a path; undefined when it is more than a path. */
function plainPath(source: string, root: string): readonly (string | number)[] | undefined {
  let rest = source.trim();
  if (!rest.startsWith(root)) return undefined;
  rest = rest.slice(root.length);
  const path: (string | number)[] = [];
  while (rest !== '') {
    const step = pathStep.exec(rest);
    if (step === null) return undefined;
    const [whole, name, position, quoted, doubled] = step;
    path.push(position === undefined ? (name ?? quoted ?? doubled ?? '') : Number(position));
    rest = rest.slice(whole.length);
  }
  return path;
}

/** Runs a response transform over `json`, `text`, `context`. */
export async function transformed(
  source: string,
  json: Json,
  text: string,
  context: Json,
  surroundings: { readonly code: CodeRunner | undefined; readonly basePath: string; readonly signal: AbortSignal },
): Promise<CodeOutcome> {
  const path = plainPath(source, 'json');
  if (path !== undefined) {
    const parent = at(json, ...path.slice(0, -1));
    // Reading a property of nothing throws in the language this is written in.
    if (path.length > 0 && (parent === undefined || parent === null))
      return { kind: 'threw', message: `Cannot read "${source}" of the answer.` };
    return { kind: 'returned', value: at(json, ...path) };
  }
  const { code, basePath, signal } = surroundings;
  if (code === undefined)
    return { kind: 'broke', cause: 'no-interpreter', message: 'there is nothing to run code with here' };
  return code.run(
    { code: userCode(source, ['json', 'text', 'context'], basePath), args: [json, text, context] },
    { signal },
  );
}

const comparison = /^status\s*(>=|<=|===|==|!==|!=|>|<)\s*(\d{1,3})$/;

/** `status >= 200 && status < 300`, also as an arrow function; undefined when it is more than that. */
export function statusRule(source: string): ((status: number) => boolean) | undefined {
  const expression = source.trim().replace(/^\(?\s*status\s*\)?\s*=>\s*/, '');
  const alternatives = expression
    .split('||')
    .map((part) => part.split('&&').map((piece) => comparison.exec(piece.trim())));
  if (alternatives.flat().some((piece) => piece === null)) return undefined;
  return (status) =>
    alternatives.some((pieces) => pieces.every((piece) => compares(status, piece?.[1] ?? '', Number(piece?.[2]))));
}

function compares(status: number, operator: string, other: number): boolean {
  switch (operator) {
    case '>=':
      return status >= other;
    case '<=':
      return status <= other;
    case '>':
      return status > other;
    case '<':
      return status < other;
    case '!=':
    case '!==':
      return status !== other;
    default:
      return status === other;
  }
}
