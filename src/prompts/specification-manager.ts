import { join } from 'node:path';
import { stringify } from 'yaml';
import { ParlaneError } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import { type Problem, problemText } from '../domain/problem.ts';
import type { FilePort } from './files.ts';
import { type LoadedSpecification, loadSpecification, type SpecificationSnapshot } from './load-specification.ts';
import { nearestOrAll } from './nearest-name.ts';
import { parseSource, type SourceDocument, strictJson } from './source-document.ts';

export const defaultSpecification = 'default_prompts';
/** Where the specifications that come with Parlane are. */
const shippedFolder = join(import.meta.dirname, 'shipped');

export interface SpecificationEntry {
  readonly name: string;
  readonly file: string;
  readonly shipped: boolean;
}

const endings = ['.json', '.yaml', '.yml'];

/**
 * The PromptSpecificationManager: finds specifications by name, in the user's folder first and then among the shipped
 * ones, and changes those of the user. It never writes a specification that does not load.
 */
export class PromptSpecificationManager {
  readonly #files: FilePort;
  readonly #folder: string;

  constructor(files: FilePort, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  /** Every specification, by name; the user's own stands in for a shipped one of the same name. */
  async list(): Promise<SpecificationEntry[]> {
    const found = new Map<string, SpecificationEntry>();
    for (const [folder, shipped] of this.#places()) {
      for (const file of await this.#files.list(folder)) {
        const ending = endings.find((candidate) => file.endsWith(candidate));
        const name = ending === undefined ? '' : file.slice(0, -ending.length);
        if (name !== '' && !found.has(name)) found.set(name, { name, file: join(folder, file), shipped });
      }
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Loads one by name: its snapshot, or every problem with it. */
  async validate(name: string): Promise<LoadedSpecification> {
    const entry = await this.#entry(name);
    return loadSpecification(entry.file, (await this.#files.read(entry.file)) ?? '', this.#files);
  }

  /** The specification as an immutable snapshot with its content hash. */
  async snapshot(name: string = defaultSpecification): Promise<SpecificationSnapshot> {
    const loaded = await this.validate(name);
    if (loaded.snapshot !== undefined) return loaded.snapshot;
    throw problemsError(`The prompt specification "${name}" cannot be used.`, loaded.problems);
  }

  /** The specification's text with the place of every value in it. */
  async document(name: string = defaultSpecification): Promise<SourceDocument> {
    const { file, text } = await this.get(name);
    return parseSource(file, text, strictJson);
  }

  /** The specification's file and text, as they are. */
  async get(name: string): Promise<SpecificationEntry & { readonly text: string }> {
    const entry = await this.#entry(name);
    return { ...entry, text: (await this.#files.read(entry.file)) ?? '' };
  }

  async create(name: string, content: Json): Promise<SpecificationEntry> {
    checkName(name);
    const existing = (await this.list()).find((entry) => entry.name === name && !entry.shipped);
    if (existing !== undefined) {
      throw new ParlaneError(
        'specification/exists',
        `There already is a prompt specification "${name}".`,
        'Update it, or choose another name.',
        { name },
      );
    }
    return this.#write(name, join(this.#folder, `${name}.yaml`), content);
  }

  /** Replaces the user's specification; a shipped one gets a copy in the user's folder. */
  async update(name: string, content: Json): Promise<SpecificationEntry> {
    const entry = await this.#entry(name);
    return this.#write(name, entry.shipped ? join(this.#folder, `${name}.yaml`) : entry.file, content);
  }

  /** Copies a specification, its prompt files' text included, under a new name. */
  async duplicate(name: string, copy: string): Promise<SpecificationEntry> {
    const { specification } = await this.snapshot(name);
    return this.create(copy, { ...specification, name: copy } as unknown as Json);
  }

  async delete(name: string): Promise<void> {
    if (name === defaultSpecification) {
      throw new ParlaneError('specification/default', `"${name}" is the default and cannot be deleted.`, '', { name });
    }
    const entry = await this.#entry(name);
    if (entry.shipped) {
      throw new ParlaneError('specification/shipped', `"${name}" comes with Parlane and cannot be deleted.`, '', {
        name,
      });
    }
    await this.#files.remove(entry.file);
  }

  #places(): [string, boolean][] {
    return [
      [this.#folder, false],
      [shippedFolder, true],
    ];
  }

  async #entry(name: string): Promise<SpecificationEntry> {
    const entries = await this.list();
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry !== undefined) return entry;
    const hint = nearestOrAll(
      name,
      entries.map((candidate) => candidate.name),
    );
    throw new ParlaneError(
      'specification/unknown',
      `There is no prompt specification "${name}" (${hint}).`,
      `It would be ${join(this.#folder, `${name}.yaml`)}.`,
      { name },
    );
  }

  async #write(name: string, file: string, content: Json): Promise<SpecificationEntry> {
    const text = file.endsWith('.json') ? `${JSON.stringify(content, null, 2)}\n` : stringify(content);
    const loaded = await loadSpecification(file, text, this.#files);
    if (loaded.snapshot === undefined)
      throw problemsError(`The prompt specification "${name}" was not written.`, loaded.problems);
    await this.#files.write(file, text);
    return { name, file, shipped: false };
  }
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name) && !name.includes('..')) return;
  throw new ParlaneError(
    'specification/name',
    `"${name}" cannot name a prompt specification.`,
    'Use letters, digits, "_", "-" and "." (up to 64).',
    { name },
  );
}

/** Bad input as one error that lists every problem with its place. */
export function problemsError(what: string, problems: readonly Problem[]): ParlaneError {
  const list = problems.map((problem) => `  ${problemText(problem)}`).join('\n');
  return new ParlaneError('input/problems', `${what}\n${list}\n`, 'Nothing was run, nothing was spent.', { problems });
}
