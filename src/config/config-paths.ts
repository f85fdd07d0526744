import { join } from 'node:path';
import { isPattern } from './config-files.ts';
import { absolute } from './file-reference.ts';
import type { Loading } from './loading.ts';

const endings = ['yaml', 'yml', 'json', 'cjs', 'cts', 'js', 'mjs', 'mts', 'ts'];

/** Names a folder's config can have, in the order they are looked for. */
const configNames: readonly string[] = [
  'parlane.yaml',
  'parlane.yml',
  ...endings.map((ending) => `promptfooconfig.${ending}`),
];

async function inFolder(folder: string, loading: Loading): Promise<string | undefined> {
  for (const name of configNames) {
    const path = join(folder, name);
    if ((await loading.files.kind(path)) !== undefined) return path;
  }
  return undefined;
}

/** The config files that `-c` arguments mean: paths, patterns, folders; without any, the one in the current folder. */
export async function findConfigs(given: readonly string[], loading: Loading): Promise<string[]> {
  if (given.length === 0) {
    const found = await inFolder(loading.cwd, loading);
    return found === undefined ? [] : [found];
  }
  const paths: string[] = [];
  for (const text of given) {
    const path = absolute(text, loading.cwd);
    const kind = await loading.files.kind(path);
    const matched = kind === undefined && isPattern(text) ? await loading.files.glob(path, loading.cwd) : [];
    const one = kind === 'folder' ? await inFolder(path, loading) : kind === undefined ? undefined : path;
    if (one !== undefined) paths.push(one);
    paths.push(...matched);
    if (one !== undefined || matched.length > 0) continue;
    const message = kind === 'folder' ? 'there is no config in this folder' : 'there is no such config file';
    loading.report({
      file: text,
      line: 1,
      column: 1,
      message,
      hint: `known names: ${configNames.slice(0, 4).join(', ')}, ...`,
    });
  }
  return [...new Set(paths)];
}
