import type { z } from 'zod';
import type { Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import { nearestOrAll } from './nearest-name.ts';
import type { SourceDocument } from './source-document.ts';

type Issue = z.core.$ZodIssue;

/** Turns what a schema found into problems with a place in the file. `base` is where the checked value stands in it. */
export function schemaProblems(
  issues: readonly Issue[],
  document: SourceDocument,
  base: readonly PropertyKey[],
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): Problem[] {
  return issues.flatMap((issue) => issueProblems(issue, document, base, keysAt));
}

function issueProblems(
  issue: Issue,
  document: SourceDocument,
  base: readonly PropertyKey[],
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): Problem[] {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      document.atKey([...path, key], `unknown key "${key}"`, nearestOrAll(key, keysAt(issue.path))),
    );
  }
  if (issue.code === 'invalid_union') {
    const deepest = issue.errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && deepest.path.length > 0) {
      return issueProblems({ ...deepest, path: [...issue.path, ...deepest.path] } as Issue, document, base, keysAt);
    }
  }
  const name = issue.path.map(String).join('.');
  const missing = valueAt(document.value, path) === undefined;
  const what = missing ? `"${name}" is missing` : `${name === '' ? 'this' : `"${name}"`}: ${lowerFirst(issue.message)}`;
  return [document.at(path, what)];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) found = found === null || found === undefined ? undefined : Object(found)[key];
  return found;
}

const lowerFirst = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);

/** The keys that a schema knows at a place inside it; of a union, those of its map. */
export function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  let piece = opened(schema);
  for (const key of path) piece = opened(Object(piece['shape'])[key] ?? piece['element'] ?? piece['valueType']);
  return Object.keys(Object(piece['shape']));
}

/** A schema without what says that it may be absent. */
function opened(schema: unknown): Readonly<Record<string, unknown>> {
  const { unwrap, element, options } = Object(schema) as Record<string, unknown>;
  if (typeof unwrap === 'function' && element === undefined) return opened(unwrap.call(schema));
  const maps = Array.isArray(options) ? options.map(opened).filter((option) => 'shape' in option) : [];
  return maps[0] ?? Object(schema);
}

/** Keys that a file cannot do without; a stand-in lets the rest of the file be checked. */
const standIns: Readonly<Record<string, Json>> = { name: '-', prompt: '-', version: '-', description: '-' };

/** What a schema makes of a value, and what it objects to. What is broken is taken out, so that the rest is checked in the same pass. */
export function parseWhatIsRight<T>(
  schema: z.ZodType<T>,
  value: Json,
): { readonly data?: T; readonly issues: readonly Issue[] } {
  const first = schema.safeParse(value);
  if (first.success) return { data: first.data, issues: [] };
  const copy = structuredClone(value);
  let issues: readonly Issue[] = first.error.issues;
  for (let pass = 0; pass < 4; pass += 1) {
    for (const issue of issues) {
      const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      for (const path of paths) mend(copy, path);
    }
    const next = schema.safeParse(copy);
    if (next.success) return { data: next.data, issues: first.error.issues };
    issues = next.error.issues;
  }
  return { issues: first.error.issues };
}

function mend(root: Json, path: readonly PropertyKey[]): void {
  let parent: unknown = root;
  for (const key of path.slice(0, -1)) parent = Object(parent)[key];
  const last = path.at(-1);
  if (last === undefined || typeof parent !== 'object' || parent === null) return;
  if (typeof last === 'string' && Object.hasOwn(standIns, last)) Object.assign(parent, { [last]: standIns[last] });
  else if (Array.isArray(parent)) parent[Number(last)] = '-';
  else Reflect.deleteProperty(parent, last);
}
