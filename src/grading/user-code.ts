import { extname, resolve } from 'node:path';
import type { CodeOutcome, CodeRunner, UserCode } from '../domain/code-runner.ts';
import type { Json } from '../domain/json.ts';

export type Language = 'javascript' | 'python' | 'ruby';

const byExtension: Readonly<Record<string, Language>> = {
  '.js': 'javascript',
  '.cjs': 'javascript',
  '.mjs': 'javascript',
  '.ts': 'javascript',
  '.cts': 'javascript',
  '.mts': 'javascript',
  '.py': 'python',
  '.rb': 'ruby',
};

/** `file://path[:function]` taken apart; the language is undefined for files that hold data. */
export interface FileReference {
  readonly path: string;
  readonly functionName?: string;
  readonly language?: Language;
}

/** Reads a file reference; a colon after the extension names a function, one in a drive letter does not. */
export function fileReference(reference: string, baseDir: string): FileReference {
  const text = reference.slice('file://'.length);
  const named = /^(.+\.[a-z]{2,3}):([\w$.]+)$/i.exec(text);
  const path = resolve(baseDir, named?.[1] ?? text);
  const language = byExtension[extname(path).toLowerCase()];
  return {
    path,
    ...(named?.[2] === undefined ? {} : { functionName: named[2] }),
    ...(language === undefined ? {} : { language }),
  };
}

/** A file reference as code to call; `fallback` is the function that Python and Ruby files have by convention. */
export function codeInFile(reference: FileReference & { language: Language }, fallback: string): UserCode {
  const { path, language, functionName } = reference;
  const name = functionName ?? (language === 'javascript' ? undefined : fallback);
  return { kind: 'file', language, path, ...(name === undefined ? {} : { functionName: name }) };
}

/** Where the last statement of a one-line body begins, quotes being respected; -1 when there is only one statement. */
function lastSemicolon(code: string): number {
  let quote = '';
  let found = -1;
  for (let at = 0; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if (char === '\\') at += 1;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'" || char === '`') quote = char;
    else if (char === ';') found = at;
  }
  return found;
}

/** A function body: several lines say `return` themselves, one line is an expression, maybe after declarations. */
export function javascriptBody(source: string): string {
  const code = source.trimEnd();
  if (code.includes('\n')) return code;
  const line = code.trim().replace(/;+\s*$/, '');
  if (!/^(?:const|let|var)\s/.test(line)) return `return ${line}`;
  const semicolon = lastSemicolon(line);
  const rest = line.slice(semicolon + 1).trim();
  return semicolon < 0 || rest === '' ? line : `${line.slice(0, semicolon + 1)} return ${rest}`;
}

/** A transform's function body: an expression when it is one line. */
export const transformBody = (code: string): string => (code.includes('\n') ? code : `return ${code}`);

/** Runs a transform: an expression over `output`, or a file. */
export function runTransform(
  transform: string,
  output: Json,
  context: Json,
  options: { readonly baseDir: string; readonly code: CodeRunner; readonly signal: AbortSignal },
): Promise<CodeOutcome> {
  const { baseDir, code, signal } = options;
  if (transform.startsWith('file://')) {
    const reference = fileReference(transform, baseDir);
    const { language } = reference;
    if (language === undefined) {
      return Promise.resolve({ kind: 'threw', message: `${transform} is neither JavaScript, Python nor Ruby` });
    }
    return code.run(
      { code: codeInFile({ ...reference, language }, 'get_transform'), args: [output, context] },
      { signal },
    );
  }
  const body = transformBody(transform);
  const inline: UserCode = { kind: 'inline', language: 'javascript', body, parameters: ['output', 'context'] };
  return code.run({ code: inline, args: [output, context] }, { signal });
}
