/** A refusal told whole: everything that `check` finds, where opening a project stops at the first thing. */
import { ConfigError } from '../config/loading.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Problem } from '../domain/problem.ts';
import type { CheckedProject } from './check-project.ts';
import { wordsOf } from './place-provider-error.ts';

/** What an error is about. Warnings that came with it are found by a check again. */
function saidBy(error: ParlaneError): readonly Pick<Problem, 'message'>[] {
  const listed = error.fields['problems'];
  if (!Array.isArray(listed)) return [wordsOf(error)];
  return (listed as Problem[]).filter(({ severity }) => severity !== 'warning');
}

/** The error with all problems of the project; one that is not about its files, as it is. */
export async function wholeRefusal(error: unknown, check: () => Promise<CheckedProject>): Promise<unknown> {
  if (!(error instanceof ParlaneError) || error.code.startsWith('cli/')) return error;
  // What cannot even be checked leaves what was said first.
  const { problems } = await check().catch(() => ({ problems: [] as readonly Problem[] }));
  const said = saidBy(error);
  const isTold = ({ message }: Pick<Problem, 'message'>): boolean => problems.some((one) => one.message === message);
  if (!(error instanceof ConfigError)) return said.some(isTold) ? new ConfigError(problems) : error;
  const own = error.problems.filter((one) => said.includes(one) && !isTold(one));
  return problems.length + own.length === 0 ? error : new ConfigError([...problems, ...own]);
}
