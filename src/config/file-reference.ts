import { isAbsolute, resolve } from 'node:path';
import type { UserCode } from '../domain/code-runner.ts';

const javascript = /\.(?:js|cjs|mjs|ts|cts|mts)$/i;

export const isJavascript = (path: string): boolean => javascript.test(path);
export const isCode = (path: string): boolean => isJavascript(path) || /\.(?:py|rb)$/.test(path);

export interface FileReference {
  /** As written, without `file://` and without the function. */
  readonly path: string;
  readonly functionName?: string;
}

/** Reads `file://path[:function]`; only code files can have a function. */
export function fileReference(text: string): FileReference {
  const path = text.startsWith('file://') ? text.slice('file://'.length) : text;
  const colon = path.lastIndexOf(':');
  if (colon > 1 && isCode(path.slice(0, colon))) {
    return { path: path.slice(0, colon), functionName: path.slice(colon + 1) };
  }
  return { path };
}

export const absolute = (path: string, folder: string): string => (isAbsolute(path) ? path : resolve(folder, path));

/** The code a reference means, or undefined when it is no code file. `fallback` names the function of Python and Ruby. */
export function referencedCode(text: string, folder: string, fallback?: string): UserCode | undefined {
  const { path, functionName } = fileReference(text);
  if (!isCode(path)) return undefined;
  const language = isJavascript(path) ? 'javascript' : path.endsWith('.py') ? 'python' : 'ruby';
  const name = functionName ?? (language === 'javascript' ? undefined : fallback);
  return {
    kind: 'file',
    language,
    path: absolute(path, folder),
    ...(name === undefined ? {} : { functionName: name }),
  };
}
