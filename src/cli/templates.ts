/** The projects that `init` writes: files that lie beside this one, each project in a folder of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Template {
  readonly name: string;
  /** For the list to choose from. */
  readonly about: string;
  /** For the line of its config. */
  readonly holds: string;
}

export const templates: readonly [Template, ...Template[]] = [
  {
    name: 'chat',
    about: 'prompts with tests, and conversations with a simulated client',
    holds: '8 tests, 2 conversations, 4 simulated models',
  },
  { name: 'prompt', about: 'prompts with tests, nothing else', holds: '8 tests, 2 simulated models' },
  {
    name: 'agents',
    about: 'agents with tools that hand over to each other',
    holds: '3 conversations played twice, 3 simulated models',
  },
];

export interface TemplateFile {
  /** Relative, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The files of a template, those at the top first. */
export function templateFiles(name: string): TemplateFile[] {
  const folder = join(import.meta.dirname, 'templates', name);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file.slice(folder.length + 1).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => a.path.split('/').length - b.path.split('/').length || (a.path < b.path ? -1 : 1));
}
