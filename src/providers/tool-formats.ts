/** Tools in OpenAI form, said in the forms of other vendors. Tools already in a vendor's own form pass untouched. */
import type { Json, JsonObject } from '../domain/json.ts';
import { asObject, textAt } from './read-json.ts';

const emptySchema: JsonObject = { type: 'object', properties: {} };

interface OpenAiFunction {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

function functionsIn(tools: Json): readonly OpenAiFunction[] | undefined {
  if (!Array.isArray(tools) || tools.length === 0) return undefined;
  const first = tools[0];
  if (textAt(first, 'type') !== 'function' || textAt(first, 'function', 'name') === undefined) return undefined;
  return tools.map((tool) => asObject(asObject(tool)?.['function']) as unknown as OpenAiFunction);
}

const described = (tool: OpenAiFunction): JsonObject => ({
  name: tool.name,
  ...(tool.description ? { description: tool.description } : {}),
});

export const anthropicTools = (tools: Json): Json =>
  functionsIn(tools)?.map((tool) => ({ ...described(tool), input_schema: tool.parameters ?? emptySchema })) ?? tools;

export const bedrockTools = (tools: Json): Json =>
  functionsIn(tools)?.map((tool) => ({
    toolSpec: { ...described(tool), inputSchema: { json: tool.parameters ?? emptySchema } },
  })) ?? tools;

export function googleTools(tools: Json): Json {
  const functions = functionsIn(tools);
  if (functions === undefined) return tools;
  const functionDeclarations = functions.map((tool) => ({
    ...described(tool),
    ...(tool.parameters === undefined ? {} : { parameters: googleSchema(tool.parameters) }),
  }));
  return [{ functionDeclarations }];
}

const unknownToGoogle = new Set(['additionalProperties', '$schema', 'default', '$id', '$ref']);

/** Gemini takes a part of JSON Schema, with type names in capitals. */
function googleSchema(schema: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (unknownToGoogle.has(key)) continue;
    const object = asObject(value);
    if (key === 'type' && typeof value === 'string') result[key] = value.toUpperCase();
    else if (key === 'properties' && object !== undefined) result[key] = mapSchemas(object);
    else if (key === 'items' && object !== undefined) result[key] = googleSchema(object);
    else result[key] = value;
  }
  return result;
}

const mapSchemas = (properties: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => {
      const object = asObject(value);
      return [name, object === undefined ? value : googleSchema(object)];
    }),
  );

const chosenName = (choice: Json): string | undefined =>
  textAt(choice, 'type') === 'function' ? textAt(choice, 'function', 'name') : undefined;

/** A tool choice in OpenAI form (`auto`, `none`, `required`, a named function); other forms pass untouched. */
export function anthropicToolChoice(choice: Json): Json {
  const types: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', required: 'any' };
  if (typeof choice === 'string' && Object.hasOwn(types, choice)) return { type: types[choice] ?? choice };
  const name = chosenName(choice);
  return name === undefined ? choice : { type: 'tool', name };
}

export function bedrockToolChoice(choice: Json): Json | undefined {
  if (choice === 'auto') return { auto: {} };
  if (choice === 'required') return { any: {} };
  if (choice === 'none') return undefined;
  const name = chosenName(choice);
  return name === undefined ? choice : { tool: { name } };
}

export function googleToolChoice(choice: Json): Json {
  const modes: Readonly<Record<string, string>> = { auto: 'AUTO', none: 'NONE', required: 'ANY' };
  if (typeof choice === 'string' && Object.hasOwn(modes, choice))
    return { functionCallingConfig: { mode: modes[choice] ?? 'AUTO' } };
  const name = chosenName(choice);
  return name === undefined ? choice : { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } };
}

/** A tool call's arguments as data, for wires that take objects; text that is no object is passed on under `text`. */
export function argumentsAsData(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return asObject(value) ?? { value: value as Json };
  } catch {
    return { text };
  }
}
