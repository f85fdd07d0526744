/** Where a variable is read or set: in the config itself, or in a prompt or test file that it names. */
import { dirname, isAbsolute, resolve } from 'node:path';
import type { ConfigFiles } from '../config/config-files.ts';
import { isObject, type Json } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import { parseSource, type SourceDocument } from '../prompts/source-document.ts';

export interface VariablePlaces {
  /** Where a prompt reads it. */
  read(name: string, message: string, hint?: string): Problem;
  /** Where a test sets it. */
  set(name: string, message: string): Problem;
}

interface Source {
  readonly shown: string;
  readonly text: string;
  /** Of a config. */
  readonly document?: SourceDocument;
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const references = /(?:file:\/\/)?([\w@~./-]+\.(?:ya?ml|jsonl?|csv|txt|md|j2))\b/g;

/** The first line that the pattern is found in. */
function lineOf(
  { shown, text }: Source,
  pattern: RegExp,
): Pick<Problem, 'file' | 'line' | 'column' | 'excerpt'> | undefined {
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const column = found.index + (found[1]?.length ?? 0) + 1;
    return { file: shown, line: at + 1, column, excerpt: line };
  }
  return undefined;
}

/** The path of the first test that sets the variable. */
function settingPath(config: Json | undefined, name: string): PropertyKey[] | undefined {
  if (!isObject(config)) return undefined;
  const sets = (test: Json | undefined): boolean =>
    isObject(test) && isObject(test['vars']) && Object.hasOwn(test['vars'], name);
  const at = listOf(config['tests']).findIndex(sets);
  if (at >= 0) return ['tests', at, 'vars', name];
  if (sets(config['defaultTest'])) return ['defaultTest', 'vars', name];
  for (const [position, scenario] of listOf(config['scenarios']).entries()) {
    for (const part of ['config', 'tests']) {
      const inner = isObject(scenario) ? listOf(scenario[part]).findIndex(sets) : -1;
      if (inner >= 0) return ['scenarios', position, part, inner, 'vars', name];
    }
  }
  return undefined;
}

async function sourcesOf(
  configs: readonly string[],
  files: ConfigFiles,
  shown: (path: string) => string,
): Promise<Source[]> {
  const sources: Source[] = [];
  const others: Source[] = [];
  for (const path of configs) {
    const text = (await files.read(path)) ?? '';
    const data = /\.(?:ya?ml|json)$/.test(path);
    sources.push({ shown: shown(path), text, ...(data ? { document: parseSource(shown(path), text) } : {}) });
    for (const [, name = ''] of text.matchAll(references)) {
      const file = isAbsolute(name) ? name : resolve(dirname(path), name);
      const inside = (await files.kind(file)) === undefined ? undefined : await files.read(file);
      if (inside !== undefined) others.push({ shown: shown(file), text: inside });
    }
  }
  return [...sources, ...others];
}

/** Reads the config's files once; what cannot be found in them is placed at the first one. */
export async function variablePlaces(
  configs: readonly string[],
  files: ConfigFiles,
  shown: (path: string) => string,
): Promise<VariablePlaces> {
  const sources = await sourcesOf(configs, files, shown);
  const start = { file: sources[0]?.shown ?? '', line: 1, column: 1 };
  const first = (pattern: RegExp) => {
    for (const source of sources) {
      const place = lineOf(source, pattern);
      if (place !== undefined) return place;
    }
    return start;
  };
  return {
    read(name, message, hint) {
      const mention = new RegExp(`(\\{\\{-?\\s*|\\{%[^%]*?\\b)${escaped(name)}\\b`);
      return { ...first(mention), severity: 'warning', message, ...(hint === undefined ? {} : { hint }) };
    },
    set(name, message) {
      for (const { document } of sources) {
        const path = settingPath(document?.value, name);
        if (path !== undefined && document !== undefined)
          return { ...document.atKey(path, message), severity: 'warning' };
      }
      const key = new RegExp(`(^|[\\s,{;]|["'])${escaped(name)}["']?\\s*(?:[:,;]|$)`);
      return { ...first(key), severity: 'warning', message };
    },
  };
}
