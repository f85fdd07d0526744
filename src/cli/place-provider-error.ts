/** A provider that cannot be made, or a recording that is not there, told at the line of the config that names it. */
import { ConfigError } from '../config/loading.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Problem } from '../domain/problem.ts';
import type { Suite } from '../domain/suite.ts';
import { configFiles, shownPath } from '../platform/config-files.ts';
import { parseSource } from '../prompts/source-document.ts';
import type { ProviderContext } from '../providers/provider-factory.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import type { RecordingFault } from '../run/check-recordings.ts';
import type { CliContext } from './cli-context.ts';
import { namedProviders } from './doctor/provider-health.ts';

type Path = readonly (string | number)[];

/** The first place in a document whose text is this id. */
function placeOf(value: unknown, id: string, path: Path = []): Path | undefined {
  if (value === id) return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    if (key === id) return [...path, key];
    const found = placeOf(part, id, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isDocument = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path);

async function problemIn(
  path: string,
  error: ParlaneError,
  id: string,
  context: CliContext,
): Promise<Problem | undefined> {
  if (!isDocument(path)) return undefined;
  const document = parseSource(shownPath(path, context.cwd), (await configFiles.read(path)) ?? '');
  const place = placeOf(document.value, id);
  if (place === undefined) return undefined;
  const what = error.message
    .slice(0, error.message.length - error.cure.length)
    .trim()
    .replace(/\.$/, '');
  const hint = error.cure.replace(/[.]$/, '');
  const message = `${what[0]?.toLowerCase() ?? ''}${what.slice(1)}`;
  return document.at(place, error.code === 'provider/unknown' ? message : what, hint === '' ? undefined : hint);
}

/** Recordings that tools of simulated conversations name and that are not there, each at its line. */
async function placedRecordings(
  faults: readonly RecordingFault[],
  configs: readonly string[],
  context: CliContext,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const path of configs.filter(isDocument)) {
    const document = parseSource(shownPath(path, context.cwd), (await configFiles.read(path)) ?? '');
    for (const { source, message, hint } of faults) {
      const place = placeOf(document.value, source);
      if (place !== undefined) problems.push(document.at(place, message, hint));
    }
  }
  return problems;
}

/** The same error with its place; errors of another kind, and those whose place is not found, as they are. */
export async function placed(error: unknown, configs: readonly string[], context: CliContext): Promise<unknown> {
  if (!(error instanceof ParlaneError)) return error;
  if (error.code === 'recording/missing') {
    const problems = await placedRecordings(error.fields['faults'] as readonly RecordingFault[], configs, context);
    return problems.length === 0 ? error : new ConfigError(problems);
  }
  if (!error.code.startsWith('provider/')) return error;
  const id = error.fields['provider'];
  if (typeof id !== 'string') return error;
  for (const path of configs) {
    const problem = await problemIn(path, error, id, context);
    if (problem !== undefined) return new ConfigError([problem]);
  }
  return error;
}

/** Providers that nobody knows or that are set up wrongly, each at its place. A missing key is not a fault of the config. */
export async function providerProblems(
  suite: Suite,
  configs: readonly string[],
  surroundings: ProviderContext,
  context: CliContext,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { id, config } of namedProviders(suite)) {
    try {
      await resolveProvider(config === undefined ? id : { id, config }, surroundings).cleanup?.();
    } catch (error) {
      const told = await placed(error, configs, context);
      if (error instanceof ParlaneError && error.code === 'provider/missing-key') continue;
      if (!(told instanceof ConfigError)) throw told;
      problems.push(...told.problems);
    }
  }
  return problems;
}
