/** Where things stand in config files, for problems that are found after the files were read. */
import type { Problem } from '../domain/problem.ts';
import { configFiles, shownPath } from '../platform/config-files.ts';
import { parseSource, type SourceDocument } from '../prompts/source-document.ts';
import type { CliContext } from './cli-context.ts';

type Path = readonly (string | number)[];

export interface ConfigPlaces {
  /** At the first value or key that is this text; undefined when no file has it. */
  text(text: string, message: string, hint?: string): Problem | undefined;
  /** At a top key, in the first file that has it; else where the files begin. */
  key(key: string, message: string, hint?: string): Problem;
  /** At a key of an entry in a list that all files together have: `conversations`. */
  entry(list: string, at: number, key: string, message: string, hint?: string): Problem;
}

const isDocument = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path);

/** The first place in a document whose text is this. */
function pathOf(value: unknown, text: string, path: Path = []): Path | undefined {
  if (value === text) return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (key === text) return [...path, key];
    const found = pathOf(part, text, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

export async function configPlaces(configs: readonly string[], context: CliContext): Promise<ConfigPlaces> {
  const shown = configs.map((path) => shownPath(path, context.cwd));
  const documents: SourceDocument[] = [];
  for (const path of configs.filter(isDocument))
    documents.push(parseSource(shownPath(path, context.cwd), (await configFiles.read(path)) ?? ''));
  const begin = (message: string, hint?: string): Problem =>
    documents[0]?.at([], message, hint) ?? {
      file: shown[0] ?? context.cwd,
      line: 1,
      column: 1,
      message,
      ...(hint === undefined ? {} : { hint }),
    };
  const listIn = (document: SourceDocument, key: string): readonly unknown[] => {
    const value: unknown = Object(document.value)[key];
    return Array.isArray(value) ? value : [];
  };
  return {
    text(text, message, hint) {
      for (const document of documents) {
        const path = pathOf(document.value, text);
        if (path !== undefined) return document.at(path, message, hint);
      }
      return undefined;
    },
    key(key, message, hint) {
      const document = documents.find(({ value }) => Object.hasOwn(Object(value), key));
      return document?.at([key], message, hint) ?? begin(message, hint);
    },
    entry(list, at, key, message, hint) {
      let left = at;
      for (const document of documents) {
        const { length } = listIn(document, list);
        if (left < length) return document.at([list, left, key], message, hint);
        left -= length;
      }
      return begin(message, hint);
    },
  };
}
