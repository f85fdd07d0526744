import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import { type LoadedScenarios, loadScenarios, type ScenarioSetting } from '../prompts/load-scenarios.ts';
import { problemsError } from '../prompts/specification-manager.ts';
import type { CliContext } from './cli-context.ts';

/** The text of a file that a person named; a clear message when it cannot be read. */
export async function readNamedFile(context: CliContext, file: string): Promise<string> {
  try {
    return await readFile(resolve(context.cwd, file), 'utf8');
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'There is no file' : 'Cannot read';
    throw new ParlaneError('cli/no-file', `${why} "${file}".`, 'Check the path; nothing was run.', { file });
  }
}

/** The scenarios of a file, or every problem with it as one error. */
export async function readScenarios(
  context: CliContext,
  file: string,
  setting: ScenarioSetting,
): Promise<Omit<LoadedScenarios, 'problems'>> {
  const { scenarios, problems, written } = loadScenarios(file, await readNamedFile(context, file), setting);
  if (problems.length === 0) return { scenarios, written };
  throw problemsError(`${problems.length} problem${problems.length > 1 ? 's' : ''} in ${file}:`, problems);
}
