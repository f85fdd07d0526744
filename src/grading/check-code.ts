import { compileFunction } from 'node:vm';
import { javascriptBody } from './user-code.ts';

/** Filled in when a case is there; what comes of it cannot be known before. */
export const isTemplate = (text: string): boolean => /\{\{|\{%/.test(text);

/** What is wrong with the grammar of a function body; undefined when nothing is. It is not run. */
export function syntaxFault(body: string): string | undefined {
  try {
    compileFunction(body, ['output', 'context']);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The same for the code of a `javascript` assertion. */
export const codeFault = (code: string): string | undefined => syntaxFault(javascriptBody(code));

/** The same for a transform, which is an expression when it is one line. */
export const transformFault = (code: string): string | undefined =>
  syntaxFault(code.includes('\n') ? code : `return ${code}`);

/** What is wrong with a regular expression; undefined when nothing is. */
export function patternFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
