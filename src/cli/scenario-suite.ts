/** A list of scenarios in place of a config: a suite of these conversations and nothing else. */
import { readFile, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { LoadedSuite } from '../config/load-suite.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { loadScenarios } from '../prompts/load-scenarios.ts';
import type { CliContext } from './cli-context.ts';

export interface ScenarioFlags {
  readonly spec?: string;
  readonly agentModel?: string;
  readonly clientModel?: string;
  readonly judgeModel?: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list whose entries have names, or a map that holds nothing but such a list. A config is neither. */
function holdsScenarios(value: unknown): boolean {
  const list = isObject(value) && Object.keys(value).length === 1 ? value['scenarios'] : value;
  return (
    Array.isArray(list) && list.length > 0 && list.every((one) => isObject(one) && typeof one['name'] === 'string')
  );
}

async function isScenarioFile(path: string): Promise<boolean> {
  if (!['.yaml', '.yml', '.json'].includes(extname(path).toLowerCase())) return false;
  try {
    if (!(await stat(path)).isFile()) return false;
    return holdsScenarios(parse(await readFile(path, 'utf8')));
  } catch {
    // What cannot be read or parsed is told by whoever reads configs, with its place.
    return false;
  }
}

function refuseFlags(flags: ScenarioFlags): void {
  const given = [
    flags.spec === undefined ? '' : '--spec',
    flags.agentModel === undefined ? '' : '--agent-model',
    flags.clientModel === undefined ? '' : '--client-model',
    flags.judgeModel === undefined ? '' : '--judge-model',
  ].filter((flag) => flag !== '');
  if (given.length === 0) return;
  throw new ParlaneError(
    'cli/conflict',
    `${given.join(', ')}: only for a list of scenarios; a config names its own.`,
    'Leave it out, or name a scenario file: parlane run scenarios.yaml.',
  );
}

const modelsOf = ({ agentModel, clientModel, judgeModel }: ScenarioFlags): JsonObject => ({
  agent: agentModel ?? 'sim:agent',
  client: clientModel ?? agentModel ?? 'sim:client',
  ...(judgeModel === undefined ? {} : { judge: judgeModel }),
});

/** The suite of a scenario file; undefined when the file is something else, which then is a config. */
export async function scenarioSuite(
  file: string | undefined,
  flags: ScenarioFlags,
  context: CliContext,
): Promise<LoadedSuite | undefined> {
  const path = file === undefined ? undefined : resolve(context.cwd, file);
  if (path === undefined || file === undefined || !(await isScenarioFile(path))) {
    refuseFlags(flags);
    return undefined;
  }
  if (flags.agentModel === undefined)
    context.complain('No --agent-model was given: the simulated models sim:agent and sim:client play.');
  const entry = {
    scenarios: path,
    models: modelsOf(flags),
    ...(flags.spec === undefined ? {} : { spec: flags.spec }),
  };
  return {
    suite: {
      description: flags.spec ?? basename(path, extname(path)),
      folder: context.cwd,
      providers: [],
      prompts: [],
      tests: { count: 0, read: async function* () {} },
      defaultTest: {},
      env: {},
      nunjucksFilters: {},
      derivedMetrics: [],
      extensions: [],
      outputPath: [],
      evaluateOptions: {},
      commandLineOptions: {},
      conversations: [entry],
      lanes: {},
      prices: {},
    },
    warnings: [],
    configs: [file],
    written: loadScenarios(file, await readFile(path, 'utf8')).written,
    prompts: [],
  };
}
