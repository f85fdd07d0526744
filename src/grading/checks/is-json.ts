import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { type Check, type CheckInput, CheckProblem, demand, verdict } from '../check.ts';
import { findJsonObjects } from '../find-json.ts';

/** The schema in the value: an object, or text in JSON or YAML; undefined when there is none. */
function schemaOf({ type, value }: CheckInput): JsonObject | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const schema: unknown = typeof value === 'string' ? readSchema(type, value) : value;
  demand(isObject(schema), `"${type}" needs a JSON schema (an object) as its value, or none`);
  return schema;
}

function readSchema(type: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new CheckProblem(`The schema of "${type}" cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The output as JSON; `undefined` when it is not. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** `is-json`: the whole output is JSON, and fits the schema if there is one. */
export const isJson: Check = async (input) => {
  const { text, inverse } = input;
  const schema = schemaOf(input);
  const data = parsed(text);
  if (data === undefined) return verdict(inverse, 'Expected output to be JSON');
  if (schema === undefined) return verdict(!inverse, 'Expected output not to be JSON');
  const problems = await input.ports.schemas.problemsOf(schema, data);
  return verdict(
    (problems === undefined) !== inverse,
    inverse ? 'Expected output not to fit the schema' : `The JSON does not fit the schema: ${problems}`,
  );
};

/** `contains-json`: somewhere in the output stands a JSON object, and one of them fits the schema if there is one. */
export const containsJson: Check = async (input) => {
  const { text, inverse } = input;
  const schema = schemaOf(input);
  const candidates = findJsonObjects(text);
  if (candidates.length === 0 || schema === undefined) {
    return verdict(candidates.length > 0 !== inverse, `Expected output ${inverse ? 'not ' : ''}to contain JSON`);
  }
  let problems: string | undefined = '';
  for (const candidate of candidates) {
    problems = await input.ports.schemas.problemsOf(schema, candidate);
    if (problems === undefined) break;
  }
  return verdict(
    (problems === undefined) !== inverse,
    inverse ? 'Expected no JSON that fits the schema' : `No JSON in the output fits the schema: ${problems}`,
  );
};
