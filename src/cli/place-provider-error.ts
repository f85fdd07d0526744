/** What is found wrong when a project is opened (providers, recordings), told at the line of the config that names it. */
import type { LoadedSuite } from '../config/load-suite.ts';
import { ConfigError } from '../config/loading.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import type { ProviderContext } from '../providers/provider-factory.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import type { RecordingFault } from '../run/check-recordings.ts';
import type { PromptFault } from '../run/check-templates.ts';
import { assertionPlace } from '../run/check-written.ts';
import type { AssertionFault } from '../run/refuse-assertions.ts';
import type { CliContext } from './cli-context.ts';
import { type ConfigPlaces, configPlaces } from './config-places.ts';
import { namedProviders } from './doctor/provider-health.ts';

/** What went wrong and its cure, without the full stops of sentences. */
export function wordsOf(error: ParlaneError): { readonly message: string; readonly hint?: string } {
  const bare = (text: string): string => text.trim().replace(/\.$/, '');
  const what = bare(error.what);
  const message = error.code === 'provider/unknown' ? `${what[0]?.toLowerCase() ?? ''}${what.slice(1)}` : what;
  return { message, ...(error.cure === '' ? {} : { hint: bare(error.cure) }) };
}

function providerProblem(error: ParlaneError, places: ConfigPlaces): Problem | undefined {
  const id = error.fields['provider'];
  if (typeof id !== 'string') return undefined;
  const { message, hint } = wordsOf(error);
  return places.text(id, message, hint);
}

/** The same error with its place; errors of another kind, and those whose place is not found, as they are. */
export async function placed(error: unknown, loaded: Files, context: CliContext): Promise<unknown> {
  if (!(error instanceof ParlaneError)) return error;
  const places = await configPlaces(loaded.configs, context);
  const problems = problemsIn(error, places, loaded).filter((problem) => problem !== undefined);
  return problems.length === 0 ? error : new ConfigError(problems);
}

type Files = Pick<LoadedSuite, 'configs' | 'written' | 'prompts'>;

/** Assertions that cannot be checked, each where it stands; those that code made, where the tests are named. */
export const assertionProblems = (
  faults: readonly AssertionFault[],
  places: ConfigPlaces,
  written: Files['written'],
): Problem[] =>
  faults.map(({ assertion, message, hint }) => {
    const at = assertionPlace(written, assertion);
    return at === undefined ? places.key('tests', message, hint) : at(message, hint);
  });

/** Prompts that are no templates, each where it stands; those that code made, where the prompts are named. */
export const promptProblems = (
  faults: readonly PromptFault[],
  places: ConfigPlaces,
  prompts: Files['prompts'],
): Problem[] =>
  faults.map(({ raw, message, hint, line, column }) => {
    const found = prompts.findLast((one) => one.raw === raw);
    const place = line === undefined || column === undefined ? undefined : { line, column };
    return found === undefined ? places.key('prompts', message, hint) : found.at(place, message, hint);
  });

function problemsIn(error: ParlaneError, places: ConfigPlaces, { written, prompts }: Files): (Problem | undefined)[] {
  if (error.code === 'assertion/unusable')
    return assertionProblems(error.fields['faults'] as readonly AssertionFault[], places, written);
  if (error.code === 'prompt/unusable')
    return promptProblems(error.fields['faults'] as readonly PromptFault[], places, prompts);
  if (error.code === 'recording/missing') {
    const faults = error.fields['faults'] as readonly RecordingFault[];
    return faults.map(({ source, message, hint }) => places.text(source, message, hint));
  }
  return error.code.startsWith('provider/') ? [providerProblem(error, places)] : [];
}

/** Providers that nobody knows or that are set up wrongly, each at its place. A missing key is not a fault of the config. */
export async function providerProblems(
  suite: Suite,
  places: ConfigPlaces,
  surroundings: ProviderContext,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { id, config, env } of namedProviders(suite)) {
    const context = { ...surroundings, env: { ...surroundings.env, ...env } };
    try {
      await resolveProvider(config === undefined ? id : { id, config }, context).cleanup?.();
    } catch (error) {
      if (!(error instanceof ParlaneError)) throw error;
      if (error.code === 'provider/missing-key') continue;
      const { message, hint } = wordsOf(error);
      problems.push(providerProblem(error, places) ?? places.key('providers', message, hint));
    }
  }
  return problems;
}
