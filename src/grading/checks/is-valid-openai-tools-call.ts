import { isObject, type Json } from '../../domain/json.ts';
import { asText, type Check, explained, verdict } from '../check.ts';
import { callProblem } from './is-valid-function-call.ts';

const isToolCall = (item: Json): item is { readonly function: { readonly name: string; readonly arguments: string } } =>
  isObject(item) &&
  isObject(item['function']) &&
  typeof item['function']['name'] === 'string' &&
  typeof item['function']['arguments'] === 'string';

/** `is-valid-openai-tools-call`: a list of tool calls that fit the offered tools, or tool results of an MCP server. */
export const isValidToolsCall: Check = async (input) => {
  const { inverse, output } = input;
  const mcp = /MCP Tool (Result|Error) \(([^)]+)\)/.exec(asText(output));
  if (mcp !== null) {
    const worked = !asText(output).includes('MCP Tool Error');
    return explained(worked !== inverse, `The MCP tool ${mcp[2]} ${worked ? 'answered' : 'failed'}`);
  }
  const calls = isObject(output) && 'tool_calls' in output ? output['tool_calls'] : output;
  if (!Array.isArray(calls) || calls.length === 0 || !calls.every(isToolCall)) {
    return verdict(inverse, `This does not look like a list of tool calls: ${JSON.stringify(calls)}`);
  }
  if (input.subject.provider?.config?.['tools'] === undefined) {
    return verdict(inverse, 'The output has tool calls, but the provider was offered no tools');
  }
  for (const call of calls) {
    const problem = await callProblem(call.function, input);
    if (problem !== undefined) return verdict(inverse, problem);
  }
  return verdict(!inverse, 'Expected the tool calls not to be valid');
};
