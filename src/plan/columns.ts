import type { Column } from '../domain/case.ts';
import type { Suite, SuitePrompt, SuiteProvider } from '../domain/suite.ts';
import { isAllowed, matchesPrompt } from '../domain/suite-names.ts';

/** Gives a short fixed text for any text; SHA-256 in hex. */
export type Hash = (text: string) => string;

/** A column of the table, with what stands behind it. */
export interface EvalColumn {
  readonly column: Column;
  readonly provider: SuiteProvider;
  readonly prompt: SuitePrompt;
  readonly promptId: string;
}

/** SHA-256 of the label, else the id, else the text: two prompts with one label share it. */
export const promptId = (prompt: SuitePrompt, hash: Hash): string => hash(prompt.label || prompt.id || prompt.raw);

/** For each provider, each prompt it answers. */
export function evalColumns(suite: Pick<Suite, 'providers' | 'prompts'>, hash: Hash): EvalColumn[] {
  const columns: EvalColumn[] = [];
  for (const provider of suite.providers) {
    for (const prompt of suite.prompts) {
      if (!isAllowed(prompt, provider.prompts, matchesPrompt)) continue;
      const column = { position: columns.length, provider: provider.name, prompt: prompt.label };
      columns.push({ column, provider, prompt, promptId: promptId(prompt, hash) });
    }
  }
  return columns;
}
