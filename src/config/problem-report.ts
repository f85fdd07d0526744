import type { JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';

const widest = 160;

/** The source line with a caret under the place; long lines are cut around it. */
function pointer(excerpt: string, column: number): string[] {
  const cut = Math.max(0, Math.min(column - 1 - widest / 2, excerpt.length - widest));
  const shown = excerpt.slice(cut, cut + widest).replaceAll('\t', ' ');
  const number = Math.max(0, column - 1 - cut);
  return [`    ${shown}`, `    ${' '.repeat(number)}^`];
}

/** A problem for people: place, what is wrong, the source line with a caret, and what would be right. */
function problemLines(problem: Problem): string {
  const mark = problem.severity === 'warning' ? 'warning: ' : '';
  const lines = [`${problem.file}:${problem.line}:${problem.column}  ${mark}${problem.message}`];
  if (problem.excerpt !== undefined) lines.push(...pointer(problem.excerpt, problem.column));
  if (problem.hint !== undefined) lines.push(`    ${problem.hint}`);
  return lines.join('\n');
}

/** All problems, in the order of their places, errors and warnings together. */
export function problemReport(problems: readonly Problem[]): string {
  return sorted(problems).map(problemLines).join('\n');
}

/** The same for programs. */
export function problemsAsJson(problems: readonly Problem[]): JsonObject[] {
  return sorted(problems).map((problem) => ({
    severity: problem.severity ?? 'error',
    file: problem.file,
    line: problem.line,
    column: problem.column,
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.excerpt === undefined ? {} : { excerpt: problem.excerpt }),
  }));
}

const sorted = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column);
