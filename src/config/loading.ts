import type { CodeRunner } from '../domain/code-runner.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';
import { counted } from '../domain/measures.ts';
import type { Problem } from '../domain/problem.ts';
import { parseSource, type SourceDocument } from '../prompts/source-document.ts';
import type { ConfigFiles } from './config-files.ts';
import type { WrittenPrompt } from './written-prompt.ts';
import type { WrittenTest } from './written-test.ts';

/** Everything loading may use, and the list it adds problems to. */
export interface Loading {
  readonly files: ConfigFiles;
  readonly code: CodeRunner;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the user stands: relative `-c` paths start here and shown paths are relative to it. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** The path as it is shown in problems. */
  shown(path: string): string;
  report(problem: Problem): void;
  /** Keeps where a test stands, for those who find something wrong with it later. */
  note(test: WrittenTest): void;
  /** The same for a prompt. */
  notePrompt(prompt: WrittenPrompt): void;
}

export const warning = (problem: Problem): Problem => ({ ...problem, severity: 'warning' });

/** Reads a YAML or JSON file with its places; problems of its text are reported. Undefined: there is no such file. */
export async function readSource(path: string, loading: Loading): Promise<SourceDocument | undefined> {
  const text = await loading.files.read(path);
  if (text === undefined) return undefined;
  const document = parseSource(loading.shown(path), text);
  for (const problem of document.problems) loading.report(problem);
  return document;
}

/** Runs code of the config while it loads. Gives the value, or says what went wrong. */
export async function runCode(
  loading: Loading,
  call: Parameters<CodeRunner['run']>[0],
): Promise<{ readonly value: Json | undefined } | { readonly fault: string }> {
  const outcome = await loading.code.run(call, { signal: loading.signal });
  if (outcome.kind === 'returned') return { value: outcome.value as Json | undefined };
  return { fault: outcome.message };
}

/** Thrown when a config cannot become a suite; carries every problem found. */
export class ConfigError extends ParlaneError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('config/invalid', `${counted(problems.length, 'problem')}.`, '', { problems });
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
