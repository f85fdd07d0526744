import type { Problem } from '../domain/problem.ts';
import { nearestOrAll } from './nearest-name.ts';
import { parameterFault } from './parameter-schema.ts';
import { shippedTools } from './shipped-tools.ts';
import type { SourceDocument } from './source-document.ts';
import { entryOf, notAgents, type Specification, type ToolBackend } from './specification.ts';
import { templateFault } from './template.ts';

/** Everything that is well-formed and still wrong: names that lead nowhere, agents nobody reaches, broken templates. */
export function checkSpecification(specification: Specification, document: SourceDocument): Problem[] {
  return [
    ...checkParts(specification, document),
    ...Object.keys(specification.agents).flatMap((key) => checkAgent(key, specification, document)),
    ...checkReach(specification, document),
    ...Object.keys(specification.tools ?? {}).flatMap((name) => checkTool(name, specification, document)),
    ...checkEndMarker(specification, document),
  ];
}

function checkParts(specification: Specification, document: SourceDocument): Problem[] {
  const problems: Problem[] = [];
  const agents = Object.keys(specification.agents);
  const entry = entryOf(specification);
  if (notAgents.has(entry)) problems.push(document.at(['entry'], `"${entry}" cannot be the entry agent`));
  else if (!agents.includes(entry)) {
    const hint =
      specification.entry === undefined
        ? 'add an agent "agent", or name the first one by "entry"'
        : nearestOrAll(entry, talkers(specification));
    problems.push(
      document.at(
        specification.entry === undefined ? ['agents'] : ['entry'],
        `the entry agent "${entry}" does not exist`,
        hint,
      ),
    );
  }
  if (!agents.includes('client'))
    problems.push(document.at(['agents'], 'the agent "client" is missing', 'it plays the caller'));
  for (const key of agents) {
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(key)) {
      problems.push(
        document.atKey(
          ['agents', key],
          `"${key}" cannot name an agent`,
          'letters, digits, "_" and "-", up to 48, starting with a letter',
        ),
      );
    }
  }
  return problems;
}

const talkers = (specification: Specification): string[] =>
  Object.keys(specification.agents).filter((key) => !notAgents.has(key));

function checkAgent(key: string, specification: Specification, document: SourceDocument): Problem[] {
  const problems: Problem[] = [];
  const agent = specification.agents[key];
  if (agent === undefined) return problems;
  const tools = [...new Set([...Object.keys(specification.tools ?? {}), ...Object.keys(shippedTools), 'end_call'])];
  for (const [at, name] of agent.tools.entries()) {
    const place = ['agents', key, 'tools', at];
    if (name.startsWith('handoff_'))
      problems.push(document.at(place, `"${name}" is made from "handoffs"`, 'list the target there instead'));
    else if (!tools.includes(name))
      problems.push(document.at(place, `unknown tool "${name}"`, nearestOrAll(name, tools)));
  }
  for (const target of Object.keys(agent.handoffs ?? {}))
    problems.push(...checkHandoff(key, target, specification, document));
  const fault = agent.prompt.startsWith('file:') ? undefined : templateFault(agent.prompt);
  if (fault !== undefined)
    problems.push(document.at(['agents', key, 'prompt'], `the prompt is not a template: ${fault}`));
  return problems;
}

function checkHandoff(key: string, target: string, specification: Specification, document: SourceDocument): Problem[] {
  const place = ['agents', key, 'handoffs', target];
  if (notAgents.has(key)) return [document.atKey(place, `"${key}" cannot hand over`)];
  if (target === key) return [document.atKey(place, `"${key}" hands over to itself`)];
  if (notAgents.has(target)) return [document.atKey(place, `nobody can hand over to "${target}"`)];
  if (specification.agents[target] !== undefined) return [];
  return [
    document.atKey(
      place,
      `hands over to "${target}", which does not exist`,
      nearestOrAll(target, talkers(specification)),
    ),
  ];
}

function checkReach(specification: Specification, document: SourceDocument): Problem[] {
  const entry = entryOf(specification);
  if (specification.agents[entry] === undefined) return [];
  const reached = new Set([entry]);
  for (const key of reached)
    for (const target of Object.keys(specification.agents[key]?.handoffs ?? {})) reached.add(target);
  return talkers(specification)
    .filter((key) => !reached.has(key))
    .map((key) =>
      document.atKey(
        ['agents', key],
        `nobody hands over to "${key}"`,
        `name it in the "handoffs" of an agent that "${entry}" reaches`,
      ),
    );
}

const kindsOf = (backend: ToolBackend): string[] => Object.keys(backend).filter((kind) => kind !== 'faults');

function checkTool(name: string, specification: Specification, document: SourceDocument): Problem[] {
  const problems: Problem[] = [];
  const tool = specification.tools?.[name];
  if (tool === undefined) return problems;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    problems.push(
      document.atKey(['tools', name], `"${name}" cannot name a tool`, 'letters, digits, "_" and "-", up to 64'),
    );
  if (name.startsWith('handoff_'))
    problems.push(document.atKey(['tools', name], 'names that start with "handoff_" are made from "handoffs"'));
  if (name === 'end_call') problems.push(document.atKey(['tools', name], '"end_call" is made by the engine'));
  const kinds = kindsOf(tool.backend);
  if (kinds.length !== 1) {
    problems.push(
      document.at(
        ['tools', name, 'backend'],
        `a backend has one kind, this one has ${kinds.length === 0 ? 'none' : kinds.join(' and ')}`,
        'static, script, state, http, module or replay',
      ),
    );
  }
  if (tool.parallel === true && (tool.backend.state !== undefined || tool.backend.script !== undefined)) {
    problems.push(
      document.at(['tools', name, 'parallel'], 'a tool that reads or changes the session cannot run in parallel'),
    );
  }
  if (tool.parameters['type'] !== 'object')
    problems.push(document.at(['tools', name, 'parameters'], 'parameters must be a JSON Schema of type "object"'));
  const schemaFault = parameterFault(tool.parameters);
  if (schemaFault !== undefined)
    problems.push(document.at(['tools', name, 'parameters'], `is not a JSON Schema: ${schemaFault}`));
  if (tool.backend.module !== undefined && !/^[^#]+#[A-Za-z_$][\w$]*$/.test(tool.backend.module)) {
    problems.push(document.at(['tools', name, 'backend', 'module'], 'a module backend is written "file.ts#function"'));
  }
  const reply = tool.backend.state?.reply;
  const fault = reply === undefined ? undefined : templateFault(reply);
  if (fault !== undefined)
    problems.push(document.at(['tools', name, 'backend', 'state', 'reply'], `the reply is not a template: ${fault}`));
  return problems;
}

/** A marker must not be a thing people say. */
function checkEndMarker(specification: Specification, document: SourceDocument): Problem[] {
  const marker = specification.end_marker;
  if (marker === undefined || /^[^\p{L}\p{N}\s].{2,}[^\p{L}\p{N}\s]$/u.test(marker)) return [];
  return [
    document.at(
      ['end_marker'],
      `"${marker}" could be an ordinary word`,
      'put it in brackets, for example "[END_OF_CALL]"',
    ),
  ];
}
