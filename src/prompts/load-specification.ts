import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import { checkSpecification } from './check-specification.ts';
import type { FilePort } from './files.ts';
import { keysAt, parseWhatIsRight, schemaProblems } from './schema-problems.ts';
import { parseSource, type SourceDocument, strictJson } from './source-document.ts';
import { type Specification, specificationSchema } from './specification.ts';
import { templateFault } from './template.ts';

/** An immutable copy of a specification with every prompt's text in it. The hash leads back to exactly this text. */
export interface SpecificationSnapshot {
  readonly hash: string;
  readonly specification: Specification;
  /** Where relative module files of its tools are found. */
  readonly folder: string;
}

export type LoadedSpecification =
  | { readonly snapshot: SpecificationSnapshot; readonly problems: readonly [] }
  | { readonly snapshot?: undefined; readonly problems: readonly Problem[] };

/** Reads a specification's text, with its prompt files: a snapshot, or every problem there is. */
export async function loadSpecification(file: string, text: string, files: FilePort): Promise<LoadedSpecification> {
  const document = parseSource(file, text, strictJson);
  if (document.problems.length > 0 && document.value === undefined) return { problems: document.problems };
  const { data, issues } = parseWhatIsRight(specificationSchema, document.value ?? null);
  const shape = schemaProblems(issues, document, [], (path) => keysAt(specificationSchema, path));
  if (data === undefined) return { problems: [...document.problems, ...shape] };
  const withPrompts = await readPrompts(data, document, dirname(file), files);
  const problems = [...document.problems, ...shape, ...checkSpecification(data, document), ...withPrompts.problems];
  if (problems.length > 0) return { problems };
  return { snapshot: snapshotOf(withPrompts.specification, dirname(file)), problems: [] };
}

/** Freezes a specification whose prompts are all text. */
export function snapshotOf(specification: Specification, folder: string): SpecificationSnapshot {
  const hash = createHash('sha256')
    .update(canonical(specification as unknown as Json))
    .digest('hex');
  return Object.freeze({ hash, specification, folder });
}

/** The same data gives the same text, whatever the order of its keys. */
export function canonical(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
    .join(',')}}`;
}

async function readPrompts(
  specification: Specification,
  document: SourceDocument,
  folder: string,
  files: FilePort,
): Promise<{ specification: Specification; problems: Problem[] }> {
  const problems: Problem[] = [];
  const agents: Specification['agents'] = {};
  for (const [key, agent] of Object.entries(specification.agents)) {
    const read = await readPrompt(agent.prompt, folder, files);
    if ('fault' in read) problems.push(document.at(['agents', key, 'prompt'], read.fault, read.hint));
    agents[key] = 'text' in read ? { ...agent, prompt: read.text } : agent;
  }
  return { specification: { ...specification, agents }, problems };
}

async function readPrompt(
  prompt: string,
  folder: string,
  files: FilePort,
): Promise<{ readonly text: string } | { readonly fault: string; readonly hint?: string }> {
  if (!prompt.startsWith('file:')) return { text: prompt };
  const name = prompt.replace(/^file:(\/\/)?/, '');
  const path = join(folder, name);
  if (isAbsolute(name) || isOutside(folder, path)) return outside(name);
  const [realFolder, realPath] = [(await files.realPath(folder)) ?? folder, await files.realPath(path)];
  if (realPath === undefined) return { fault: `the prompt file "${name}" does not exist` };
  if (isOutside(realFolder, realPath)) return outside(name);
  const text = (await files.read(path)) ?? '';
  const fault = templateFault(text);
  if (fault !== undefined) return { fault: `the prompt file "${name}" is not a template: ${fault}` };
  return text.trim() === '' ? { fault: `the prompt file "${name}" is empty` } : { text };
}

const outside = (name: string) => ({
  fault: `the prompt file "${name}" lies outside the specification's folder`,
  hint: 'move it beside the specification',
});

function isOutside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
