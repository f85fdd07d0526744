import { isObject, type Json, type JsonObject } from '../../domain/json.ts';
import { type Check, type CheckInput, verdict } from '../check.ts';

/** The functions that the provider was offered, with their parameter schemas. */
function offeredFunctions(input: CheckInput): readonly JsonObject[] {
  const config = input.subject.provider?.config ?? {};
  const functions = Array.isArray(config['functions']) ? config['functions'] : [];
  const tools = Array.isArray(config['tools']) ? config['tools'] : [];
  const described = tools.map((tool) => (isObject(tool) && isObject(tool['function']) ? tool['function'] : tool));
  return [...functions, ...described].filter(isObject);
}

/** What is wrong with one call `{name, arguments}`; undefined when it fits what was offered. */
export async function callProblem(call: Json | undefined, input: CheckInput): Promise<string | undefined> {
  if (!isObject(call) || typeof call['name'] !== 'string' || typeof call['arguments'] !== 'string') {
    return `This does not look like a function call: ${JSON.stringify(call)}`;
  }
  const { name } = call;
  let args: Json;
  try {
    args = JSON.parse(call['arguments']) as Json;
  } catch {
    return `The arguments of "${name}" are not JSON: ${call['arguments']}`;
  }
  const schema = offeredFunctions(input).find((offered) => offered['name'] === name)?.['parameters'];
  if (!isObject(schema)) return `"${name}" was called, but no function of that name was offered`;
  const problems = await input.ports.schemas.problemsOf(schema, args);
  return problems === undefined ? undefined : `The call of "${name}" does not fit its schema: ${problems}`;
}

/** All calls in an output: a legacy `function_call`, one call, a list of tool calls, or `{tool_calls}`. */
function callsOf(output: Json): readonly (Json | undefined)[] {
  if (isObject(output) && 'function_call' in output) return [output['function_call']];
  const list = isObject(output) && Array.isArray(output['tool_calls']) ? output['tool_calls'] : output;
  if (!Array.isArray(list)) return [list as Json];
  return list.length === 0
    ? [undefined]
    : list.map((item) => (isObject(item) && 'function' in item ? item['function'] : item));
}

/** `is-valid-function-call` (and its OpenAI name): the output calls offered functions with arguments that fit. */
export const isValidFunctionCall: Check = async (input) => {
  for (const call of callsOf(input.output)) {
    const problem = await callProblem(call, input);
    if (problem !== undefined) return verdict(input.inverse, problem);
  }
  return verdict(!input.inverse, 'Expected the function call not to be valid');
};
