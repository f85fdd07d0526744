import { z } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Problem } from '../domain/problem.ts';
import type { Scenario } from '../domain/scenario.ts';
import { keysAt, parseWhatIsRight, schemaProblems } from './schema-problems.ts';
import { parseSource, type SourceDocument, strictJson } from './source-document.ts';
import { notAgents, providedVariables, type Specification } from './specification.ts';
import { requiredVariables, templateFault } from './template.ts';

const positiveInteger = z.number().int().min(1);
const json = z.json() as z.ZodType<Json>;

const scenarioSchema = z.strictObject({
  name: z.string().min(1),
  variables: z.record(z.string(), json).default({}),
  tags: z.array(z.string()).optional(),
  max_turns: positiveInteger.optional(),
  timeout_sec: z.number().positive().optional(),
  max_cost: z.number().positive().optional(),
  script: z
    .array(
      z.union([
        z.string().min(1),
        z.strictObject({ say: z.string().min(1) }),
        z.strictObject({ model: positiveInteger }),
      ]),
    )
    .min(1)
    .optional(),
  checks: z.array(z.looseObject({ type: z.string().min(1) })).optional(),
  expected_turns: positiveInteger.optional(),
  first_speaker: z.enum(['agent', 'client']).optional(),
  goal: z.string().optional(),
  description: z.string().optional(),
});

/** The checks of a scenario as they stand in its file, in the form of a test with assertions. */
export interface WrittenChecks {
  readonly test: { readonly assert: readonly Json[] };
  at(path: readonly PropertyKey[], message: string, hint?: string): Problem;
}

export interface LoadedScenarios {
  readonly scenarios: readonly Scenario[];
  readonly problems: readonly Problem[];
  /** Where the scenarios' checks stand, for those who find something wrong with them later. */
  readonly written: readonly WrittenChecks[];
}

/** What the scenarios will be played with, as far as it is known before anything runs. */
export interface ScenarioSetting {
  readonly specification: Specification;
  /** Variables may also come from a webhook, so a missing one is not yet a fault. */
  readonly enriched?: boolean;
  /** Scoring is on: the evaluator's prompt is used too. */
  readonly scored?: boolean;
}

/** Reads a scenario file: the scenarios, or every problem there is. With a setting, missing variables are found too. */
export function loadScenarios(file: string, text: string, setting?: ScenarioSetting): LoadedScenarios {
  const document = parseSource(file, text, strictJson);
  if (document.value === undefined || document.value === null) {
    return {
      scenarios: [],
      written: [],
      problems: document.problems.length > 0 ? document.problems : [document.at([], 'holds no scenarios')],
    };
  }
  return checkScenarios(document, [], setting);
}

/** The same for a list of scenarios that stands somewhere in a larger file. */
function checkScenarios(
  document: SourceDocument,
  base: readonly PropertyKey[],
  setting?: ScenarioSetting,
): LoadedScenarios {
  let list: unknown = document.value;
  for (const key of base) list = Object(list)[key];
  // One list, or a map that holds it under "scenarios": both are in use.
  const inner = isRecord(list) && Array.isArray(list['scenarios']) ? [...base, 'scenarios'] : base;
  const entries = inner === base ? list : Object(list)['scenarios'];
  if (!Array.isArray(entries))
    return {
      scenarios: [],
      written: [],
      problems: [...document.problems, document.at(base, 'must be a list of scenarios')],
    };
  if (entries.length === 0)
    return { scenarios: [], written: [], problems: [...document.problems, document.at(base, 'holds no scenarios')] };
  const checked = entries.map((entry: Json, at) => checkScenario(entry, document, [...inner, at], setting));
  const problems = [...document.problems, ...checked.flatMap(({ problems: found }) => found)];
  const written = entries.flatMap((entry: Json, at) => writtenChecks(entry, document, [...inner, at]));
  return { scenarios: problems.length > 0 ? [] : checked.flatMap(({ scenario }) => scenario ?? []), problems, written };
}

function writtenChecks(entry: Json, document: SourceDocument, path: readonly PropertyKey[]): WrittenChecks[] {
  const checks = isRecord(entry) ? entry['checks'] : undefined;
  if (!Array.isArray(checks)) return [];
  // What leads into the assertions of the test leads into the checks.
  const at: WrittenChecks['at'] = ([, ...part], message, hint) =>
    document.at([...path, 'checks', ...part], message, hint);
  return [{ test: { assert: checks as readonly Json[] }, at }];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checkScenario(
  entry: Json,
  document: SourceDocument,
  path: readonly PropertyKey[],
  setting: ScenarioSetting | undefined,
): { scenario?: Scenario; problems: Problem[] } {
  const { data, issues } = parseWhatIsRight(scenarioSchema, entry);
  const shape = schemaProblems(issues, document, path, (at) => keysAt(scenarioSchema, at));
  if (data === undefined) return { problems: shape };
  const scenario = data as unknown as Scenario;
  const problems = [...shape, ...checkVariables(scenario, document, path), ...checkScript(scenario, document, path)];
  if (setting !== undefined && setting.enriched !== true)
    problems.push(...missingVariables(scenario, document, path, setting));
  return { scenario, problems };
}

function checkVariables(scenario: Scenario, document: SourceDocument, path: readonly PropertyKey[]): Problem[] {
  const seed = scenario.variables['SEED'];
  const client = scenario.variables['client_id'];
  const problems: Problem[] = [];
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    problems.push(document.at([...path, 'variables', 'SEED'], `SEED must be an integer, not ${JSON.stringify(seed)}`));
  }
  if (client !== undefined && typeof client !== 'string' && typeof client !== 'number') {
    problems.push(document.at([...path, 'variables', 'client_id'], 'client_id must be a text or a number'));
  }
  return problems;
}

function checkScript(scenario: Scenario, document: SourceDocument, path: readonly PropertyKey[]): Problem[] {
  return (scenario.script ?? []).flatMap((line, at) => {
    const fault = typeof line === 'object' && 'say' in line ? templateFault(line.say) : undefined;
    return fault === undefined ? [] : [document.at([...path, 'script', at, 'say'], `is not a template: ${fault}`)];
  });
}

/** Every variable that the prompts and the scenario's own lines use and nobody provides. */
function missingVariables(
  scenario: Scenario,
  document: SourceDocument,
  path: readonly PropertyKey[],
  setting: ScenarioSetting,
): Problem[] {
  const known = new Set<string>([...Object.keys(scenario.variables), ...providedVariables]);
  const used = new Map<string, string>();
  for (const [key, agent] of Object.entries(setting.specification.agents)) {
    if (notAgents.has(key) && key !== 'client' && setting.scored !== true) continue;
    for (const name of requiredVariables(agent.prompt)) if (!used.has(name)) used.set(name, `the prompt of "${key}"`);
  }
  for (const line of scenario.script ?? []) {
    if (typeof line !== 'object' || !('say' in line) || templateFault(line.say) !== undefined) continue;
    for (const name of requiredVariables(line.say)) if (!used.has(name)) used.set(name, 'its script');
  }
  const position = path.findLast((key) => typeof key === 'number') ?? 0;
  return [...used]
    .filter(([name]) => !known.has(name))
    .map(([name, where]) =>
      document.at(
        [...path, 'variables'],
        `scenario ${Number(position) + 1} ("${scenario.name}") lacks the variable "${name}", which ${where} uses`,
      ),
    );
}

/** Why values given by a program are not a scenario; empty when they are one. */
export function scenarioFaults(scenario: unknown): string[] {
  const parsed = scenarioSchema.loose().safeParse(scenario);
  if (!parsed.success)
    return parsed.error.issues.map((issue) => `${issue.path.map(String).join('.') || 'scenario'}: ${issue.message}`);
  const variables: JsonObject = parsed.data.variables;
  const seed = variables['SEED'];
  return seed === undefined || Number.isSafeInteger(seed)
    ? []
    : [`variables.SEED: must be an integer, not ${JSON.stringify(seed)}`];
}
