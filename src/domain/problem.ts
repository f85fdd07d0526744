/** One thing wrong with a file somebody wrote: where it is, what it is, what would be right. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly message: string;
  /** The nearest right thing: a name, an expected type, a cure. */
  readonly hint?: string;
  /** Absent: an error. A warning never keeps anything from running, except where the user asked for strictness. */
  readonly severity?: 'error' | 'warning';
  /** The source line it is about, for the caret. */
  readonly excerpt?: string;
}

/** `file:line:column  message (hint)`: the one form in which a problem is told. */
export const problemText = (problem: Problem): string =>
  `${problem.file}:${problem.line}:${problem.column}  ${problem.message}${problem.hint === undefined ? '' : ` (${problem.hint})`}`;
