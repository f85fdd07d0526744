/** Values of vars that stand in files: text, data, pictures, or what code makes of it when the case starts. */
import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { parseSource } from '../prompts/source-document.ts';
import type { ConfigFiles } from './config-files.ts';
import { absolute, fileReference, isCode, referencedCode } from './file-reference.ts';

export interface VarFiles {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly provider: { readonly id: string; readonly label?: string };
  /** `PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64`. */
  readonly mediaAsText?: boolean;
}

const pictures: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  bmp: 'image/bmp',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};
const media = new Set([
  'mp4',
  'webm',
  'ogg',
  'mov',
  'avi',
  'wmv',
  'mkv',
  'm4v',
  'wav',
  'mp3',
  'aac',
  'm4a',
  'flac',
  'wma',
  'aiff',
  'opus',
]);
const signatures: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGODlh', 'image/gif'],
  ['R0lGODdh', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['Qk0', 'image/bmp'],
  ['Qk1', 'image/bmp'],
];

const fault = (name: string, message: string): ParlaneError =>
  new ParlaneError('config/var-file', `The var "${name}": ${message}.`, '', { name });

async function fromCode(
  name: string,
  text: string,
  prompt: string,
  vars: JsonObject,
  options: VarFiles,
): Promise<Json> {
  const code = referencedCode(text, options.folder, 'get_var');
  if (code === undefined) throw fault(name, `${text} is no code file`);
  const { id, label } = options.provider;
  const args = [name, prompt, vars, { id, ...(label === undefined ? {} : { label }) }].slice(
    0,
    code.language === 'python' ? 3 : 4,
  ) as Json[];
  const outcome = await options.code.run({ code, args }, { signal: options.signal });
  if (outcome.kind !== 'returned') throw fault(name, outcome.message);
  const { output, error } = Object(outcome.value) as { output?: Json; error?: unknown };
  if (error !== undefined && error !== null && error !== '') throw fault(name, String(error));
  if (!output) throw fault(name, `${text} must return {output: text}`);
  return code.language === 'python' && typeof output === 'string' ? output.trim() : output;
}

async function fromFile(name: string, path: string, options: VarFiles): Promise<Json> {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const picture = pictures[ending];
  if ((picture !== undefined || media.has(ending)) && options.mediaAsText !== true) {
    const bytes = await options.files.readBytes(path);
    if (bytes === undefined) throw fault(name, `there is no file ${path}`);
    const base64 = Buffer.from(bytes).toString('base64');
    if (picture === undefined) return base64;
    const seen = signatures.find(([start]) => base64.startsWith(start))?.[1];
    return `data:${seen ?? picture};base64,${base64}`;
  }
  if (ending === 'pdf') throw fault(name, 'PDF files cannot be read; save the text as .txt');
  const text = await options.files.read(path);
  if (text === undefined) throw fault(name, `there is no file ${path}`);
  if (ending !== 'yaml' && ending !== 'yml') return text.trim();
  const document = parseSource(path, text);
  const [problem] = document.problems;
  if (problem !== undefined) throw fault(name, `${problem.file}:${problem.line}:${problem.column} ${problem.message}`);
  return JSON.stringify(document.value ?? null);
}

/** The vars with their files loaded, in order, so that code sees the values before its own. */
export async function loadVars(
  vars: JsonObject,
  prompt: string,
  literal: ReadonlySet<string>,
  options: VarFiles,
): Promise<JsonObject> {
  const loaded: Record<string, Json> = { ...vars };
  for (const [name, value] of Object.entries(vars)) {
    if (typeof value !== 'string' || literal.has(name) || !value.startsWith('file://')) continue;
    const { path } = fileReference(value);
    loaded[name] = isCode(path)
      ? await fromCode(name, value, prompt, loaded, options)
      : await fromFile(name, absolute(path, options.folder), options);
  }
  return loaded;
}
