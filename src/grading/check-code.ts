import { compileFunction } from 'node:vm';
import { javascriptBody, transformBody } from './user-code.ts';

/** Filled in when a case is there; what comes of it cannot be known before. */
export const isTemplate = (text: string): boolean => /\{\{|\{%/.test(text);

/** Code or a pattern that stands in the config itself: not in a file, and nothing to be filled in. */
export const isCodeText = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && !text.startsWith('file://') && !isTemplate(text);

/** What is wrong with the grammar of a function body; undefined when nothing is. It is not run. */
function syntaxFault(body: string): string | undefined {
  try {
    compileFunction(body, ['output', 'context']);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The same for the code of a `javascript` assertion. */
export const codeFault = (code: string): string | undefined => syntaxFault(javascriptBody(code));

/** The same for a transform. */
export const transformFault = (code: string): string | undefined => syntaxFault(transformBody(code));

/** What is wrong with a regular expression; undefined when nothing is. */
export function patternFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
