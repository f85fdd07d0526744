/** A prompt as it stands in a file, and how to point at a place in it. */
import type { Problem } from '../domain/problem.ts';

/** A place in a prompt's text; both from 1. */
export interface PromptPlace {
  readonly line: number;
  readonly column: number;
}

export interface WrittenPrompt {
  readonly raw: string;
  /** A problem at a place in the prompt, or where the prompt begins. */
  at(place: PromptPlace | undefined, message: string, hint?: string): Problem;
}

const hinted = (hint: string | undefined): object => (hint === undefined ? {} : { hint });
const within = ({ line, column }: PromptPlace): string => ` (line ${line}, column ${column} of the prompt)`;

/** A prompt in a file of prompts. One that does not stand there word for word is told at the file's begin. */
export function promptInFile(file: string, source: string, raw: string): WrittenPrompt {
  const text = source.replace(/\r\n/g, '\n');
  const begin = text.indexOf(raw);
  return {
    raw,
    at(place, message, hint) {
      if (begin < 0) {
        const told = place === undefined ? message : `${message}${within(place)}`;
        return { file, line: 1, column: 1, message: told, ...hinted(hint) };
      }
      const before = text.slice(0, begin).split('\n');
      const { line, column } = place ?? { line: 1, column: 1 };
      const at = before.length + line - 1;
      const excerpt = text.split('\n')[at - 1] ?? '';
      const indent = line === 1 ? (before.at(-1)?.length ?? 0) : 0;
      return {
        file,
        line: at,
        column: indent + column,
        message,
        ...hinted(hint),
        ...(excerpt === '' ? {} : { excerpt }),
      };
    },
  };
}

/** A prompt that stands in a config itself; `start` points at it. */
export function promptInConfig(raw: string, start: (message: string, hint?: string) => Problem): WrittenPrompt {
  return {
    raw,
    at(place, message, hint) {
      const first = start(message, hint);
      if (place === undefined) return first;
      // Only text that stands in the line as it is can be counted through.
      const begin = raw.includes('\n') ? -1 : (first.excerpt?.indexOf(raw, first.column - 1) ?? -1);
      if (begin < 0) return start(`${message}${within(place)}`, hint);
      return { ...first, column: begin + place.column };
    },
  };
}
