/** Prompts of a config: inline text, files of many kinds, patterns, and functions that make them. */
import type { Json, JsonObject } from '../domain/json.ts';
import type { PromptCode, SuitePrompt } from '../domain/suite.ts';
import { parseSource } from '../prompts/source-document.ts';
import { isPattern } from './config-files.ts';
import { loadReferences } from './external-files.ts';
import { absolute, fileReference, isJavascript, referencedCode } from './file-reference.ts';
import type { Loading } from './loading.ts';
import { csvPrompts, jsonlPrompts, textPrompts } from './prompt-tables.ts';
import { promptInFile } from './written-prompt.ts';

/** A prompt as a config says it, before its file is read. */
export interface PromptEntry {
  readonly raw: string;
  readonly id?: string;
  readonly label?: string;
  readonly config?: JsonObject;
}

type Fault = (message: string, hint?: string) => void;

const endings = ['cjs', 'cts', 'j2', 'js', 'json', 'jsonl', 'md', 'mjs', 'mts', 'py', 'ts', 'txt', 'yml', 'yaml'];
const programs = /\.(?:sh|bash|exe|bat|cmd|ps1|rb|pl)$/;

/** Whether text may be meant as a file. Short text with a slash may be, too: then the file decides. */
function mayBeFile(text: string): boolean {
  if (text.includes('\n')) return false;
  const parts = text.split(':');
  const ends = (part: string | undefined): boolean => endings.some((ending) => part?.endsWith(`.${ending}`));
  if (text.startsWith('file://') || ends(parts.at(-1)) || ends(parts.at(-2))) return true;
  return text.at(-3) === '.' || text.at(-4) === '.' || /[*/\\]/.test(text);
}

const literal = (entry: PromptEntry): SuitePrompt => ({
  ...(entry.id === undefined ? {} : { id: entry.id }),
  raw: entry.raw,
  label: entry.label ?? entry.raw,
  ...(entry.config === undefined ? {} : { config: entry.config }),
});

/** The entries of a config's `prompts`, whatever form it has. */
export function promptEntries(prompts: Json): PromptEntry[] {
  if (typeof prompts === 'string') return [{ raw: prompts }];
  if (!Array.isArray(prompts)) {
    return Object.entries(prompts as JsonObject).map(([raw, label]) => ({ raw, label: String(label) }));
  }
  return prompts.map((entry) => {
    if (typeof entry === 'string') return { raw: entry };
    const { id, label, raw, config } = entry as { id?: string; label?: string; raw?: string; config?: JsonObject };
    const rest = { ...(id ? { id } : {}), ...(label ? { label } : {}), ...(config ? { config } : {}) };
    return { raw: raw || id || '', ...rest };
  });
}

/** All prompts that an entry stands for. */
export async function readPrompt(
  entry: PromptEntry,
  folder: string,
  loading: Loading,
  fault: Fault,
): Promise<SuitePrompt[]> {
  if (entry.raw.startsWith('exec:')) return [programPrompt(entry, entry.raw.slice('exec:'.length), folder)];
  if (/^(?:langfuse|portkey|helicone):\/\//.test(entry.raw)) {
    fault(`prompts from ${entry.raw.split(':')[0]} cannot be loaded`, 'put the prompt into a file');
    return [];
  }
  if (!mayBeFile(entry.raw)) return [literal(entry)];
  const { path, functionName } = fileReference(entry.raw);
  const file = absolute(path, folder);
  const kind = await loading.files.kind(file);
  if (kind === 'folder' || (kind === undefined && isPattern(path))) {
    const pattern = kind === 'folder' ? `${file}/*` : file;
    return readMatching(entry, pattern, functionName, folder, loading, fault);
  }
  if (kind === undefined) return missingFile(entry, file, loading, fault);
  return readPromptFile(entry, file, functionName, kind === 'executable', loading, fault);
}

function missingFile(entry: PromptEntry, file: string, loading: Loading, fault: Fault): SuitePrompt[] {
  const clearlyFile =
    entry.raw.startsWith('file://') || (endings.some((e) => entry.raw.endsWith(`.${e}`)) && !/\s/.test(entry.raw));
  if (!clearlyFile) return [literal(entry)];
  fault(`there is no prompt file ${loading.shown(file)}`);
  return [];
}

async function readMatching(
  entry: PromptEntry,
  pattern: string,
  functionName: string | undefined,
  folder: string,
  loading: Loading,
  fault: Fault,
): Promise<SuitePrompt[]> {
  const prompts: SuitePrompt[] = [];
  for (const file of await loading.files.glob(pattern, folder)) {
    const executable = (await loading.files.kind(file)) === 'executable';
    prompts.push(...(await readPromptFile({ raw: file }, file, functionName, executable, loading, fault)));
  }
  if (prompts.length > 0 || !entry.raw.startsWith('file://')) return prompts.length > 0 ? prompts : [literal(entry)];
  fault(`no prompt file matches ${entry.raw.slice('file://'.length)}`);
  return [];
}

async function readPromptFile(
  entry: PromptEntry,
  file: string,
  functionName: string | undefined,
  executable: boolean,
  loading: Loading,
  fault: Fault,
): Promise<SuitePrompt[]> {
  const text = (await loading.files.read(file)) ?? '';
  const prompts = await promptsIn({ file, text, executable }, entry, functionName, loading, fault);
  for (const { raw } of prompts) loading.notePrompt(promptInFile(loading.shown(file), text, raw));
  return prompts;
}

async function promptsIn(
  { file, text, executable }: { readonly file: string; readonly text: string; readonly executable: boolean },
  entry: PromptEntry,
  functionName: string | undefined,
  loading: Loading,
  fault: Fault,
): Promise<SuitePrompt[]> {
  const config = entry.config === undefined ? {} : { config: entry.config };
  const code = referencedCode(`file://${file}${functionName === undefined ? '' : `:${functionName}`}`, '/');
  if (code !== undefined && !file.endsWith('.rb')) return [codePrompt(entry, file, functionName, text, code)];
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  switch (ending) {
    case 'txt':
      return textPrompts(text, file, entry.label, loading.env['PROMPTFOO_PROMPT_SEPARATOR'] || '---');
    case 'csv':
      return csvPrompts(text, entry, loading.env['PROMPTFOO_CSV_DELIMITER'] ?? ',');
    case 'jsonl':
      return jsonlPrompts(text, file, entry);
    case 'json':
    case 'yaml':
    case 'yml': {
      const raw = await dataPrompt(text, file, loading, fault);
      return [{ raw, label: entry.label || `${file}: ${ending === 'json' ? raw : raw.slice(0, 80)}`, ...config }];
    }
    case 'md':
    case 'j2':
      return [{ raw: text, label: entry.label || `${file}: ${text.slice(0, 50)}...`, ...config }];
    default:
      if (programs.test(file) || executable) return [programPrompt(entry, file, '/')];
      fault(`there are no prompts in ${loading.shown(file)}`, `known endings: ${endings.join(', ')}, csv`);
      return [];
  }
}

async function dataPrompt(text: string, file: string, loading: Loading, fault: Fault): Promise<string> {
  const parsed = parseSource(file, text);
  if (parsed.problems.length > 0 || parsed.value === undefined) return text;
  const folder = file.slice(0, file.lastIndexOf('/'));
  return JSON.stringify(await loadReferences(parsed.value, folder, loading, fault));
}

function codePrompt(
  entry: PromptEntry,
  file: string,
  name: string | undefined,
  text: string,
  code: PromptCode,
): SuitePrompt {
  const named = name === undefined ? file : `${file}:${name}`;
  const python = file.endsWith('.py');
  const label = entry.label ?? (python && name === undefined ? `${file}: ${text}` : named);
  // A Python file without a function is a program that prints its prompt.
  const runs: PromptCode = python && name === undefined ? { kind: 'program', command: `python3 ${file}` } : code;
  return { raw: text, label, config: entry.config ?? {}, code: isJavascript(file) ? code : runs };
}

function programPrompt(entry: PromptEntry, command: string, folder: string): SuitePrompt {
  const [program = '', ...rest] = command.trim().split(/\s+/);
  const path = program.includes('/') || program.includes('.') ? absolute(program, folder) : program;
  const code: PromptCode = { kind: 'program', command: [path, ...rest].join(' ') };
  return {
    raw: command,
    label: entry.label ?? command,
    ...(entry.config === undefined ? {} : { config: entry.config }),
    code,
  };
}
