import type { Json, JsonObject } from '../../domain/json.ts';
import type { ChatMessage } from '../../domain/message.ts';
import { otherParams } from '../other-params.ts';
import { asObject, textAt } from '../read-json.ts';
import { type ChatRequest, type ChatSettings, mergedConfig } from './chat-body.ts';
import { isGpt5, isReasoningModel } from './reasoning-models.ts';

const plain = ['include', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'];
const full = [
  'instructions',
  'max_tool_calls',
  'previous_response_id',
  'truncation',
  'metadata',
  'background',
  'webhook_url',
  'user',
  'service_tier',
];

const handled = new Set([
  ...plain,
  ...full,
  ...[
    'max_tokens',
    'max_output_tokens',
    'reasoning',
    'reasoning_effort',
    'temperature',
    'top_p',
    'tools',
    'tool_choice',
  ],
  ...['response_format', 'verbosity', 'parallel_tool_calls', 'store', 'seed', 'stream'],
]);

/** The body of a responses call, formed as promptfoo forms it. */
export function responsesBody(settings: ChatSettings, request: ChatRequest): JsonObject {
  const { model, loader, env } = settings;
  const config = mergedConfig(settings.config, request);
  const vars = request.context?.vars;
  const reasons = isReasoningModel(model) || /^codex/.test(model);
  const defaults = request.messages === undefined && config['omitDefaults'] !== true;
  const reasoning = asObject(loader.render(config['reasoning'] ?? null, vars));
  const effort = reasoning?.['effort'] ?? (reasons ? loader.render(config['reasoning_effort'] ?? null, vars) : null);
  const body: Record<string, Json> = { model, input: inputOf(request) };
  const most =
    request.maxTokens ??
    config['max_output_tokens'] ??
    numberFrom(env, reasons) ??
    (reasons || !defaults ? undefined : 1024);
  if (most !== undefined) body['max_output_tokens'] = most;
  if (reasons && effort) body['reasoning'] = { effort };
  const temperature = request.temperature ?? config['temperature'] ?? (defaults ? 0 : undefined);
  if (!reasons && temperature !== undefined) body['temperature'] = temperature;
  if (config['top_p'] !== undefined && (!reasons || !effort || effort === 'none')) body['top_p'] = config['top_p'];
  for (const key of full) if (config[key]) body[key] = config[key];
  const tools =
    request.tools === undefined || request.tools.length === 0 ? config['tools'] : (request.tools as unknown as Json);
  if (tools) body['tools'] = flatTools(loader.load(tools, vars));
  if (config['tool_choice']) body['tool_choice'] = flatChoice(config['tool_choice']);
  body['text'] = textFormat(
    loader.responseFormat(config['response_format'] ?? null, vars),
    isGpt5(model) ? config['verbosity'] : undefined,
  );
  if ('parallel_tool_calls' in config) body['parallel_tool_calls'] = Boolean(config['parallel_tool_calls']);
  if ('store' in config) body['store'] = Boolean(config['store']);
  for (const key of plain) if (config[key] !== undefined) body[key] = config[key];
  Object.assign(body, asObject(config['passthrough']) ?? {});
  if (reasoning !== undefined && reasons) body['reasoning'] = { ...asObject(body['reasoning']), ...reasoning };
  delete body['max_tokens'];
  return { ...otherParams(request, handled), ...body };
}

function numberFrom(env: ChatSettings['env'], reasons: boolean): number | undefined {
  const text = (reasons ? env['OPENAI_MAX_COMPLETION_TOKENS'] : undefined) ?? env['OPENAI_MAX_TOKENS'];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A JSON list is the vendor's own input; everything else is text. */
function inputOf(request: ChatRequest): Json {
  if (request.messages !== undefined) return request.messages.flatMap(inputItems);
  const prompt = request.prompt ?? '';
  if (!prompt.trimStart().startsWith('[')) return prompt;
  try {
    const parsed: unknown = JSON.parse(prompt);
    return Array.isArray(parsed) ? (parsed as Json) : prompt;
  } catch {
    return prompt;
  }
}

/** Messages in OpenAI's chat form, said in the form of the responses API. */
function inputItems(message: ChatMessage): Json[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: message.content }];
  if (message.role !== 'assistant' || message.tool_calls === undefined)
    return [{ role: message.role, content: message.content }];
  const said = message.content === '' ? [] : [{ role: 'assistant', content: message.content }];
  const calls = message.tool_calls.map(({ id, function: call }) => ({
    type: 'function_call',
    call_id: id,
    name: call.name,
    arguments: call.arguments,
  }));
  return [...said, ...calls];
}

/** Tools in chat form carry a `function`; here its fields stand beside the type. */
function flatTools(tools: Json): Json {
  if (!Array.isArray(tools)) return tools;
  return tools.map((tool) => {
    const object = asObject(tool);
    const definition = asObject(object?.['function']);
    if (object === undefined || object['type'] !== 'function' || definition === undefined) return tool;
    const { function: _, ...rest } = object;
    return { ...rest, ...definition };
  });
}

function flatChoice(choice: Json): Json {
  const name = textAt(choice, 'function', 'name');
  return textAt(choice, 'type') === 'function' && name !== undefined ? { type: 'function', name } : choice;
}

function textFormat(format: Json, verbosity: Json | undefined): JsonObject {
  const said = verbosity ? { verbosity } : {};
  const object = asObject(format);
  if (object?.['type'] === 'json_object') return { format: { type: 'json_object' }, ...said };
  if (object?.['type'] !== 'json_schema') return { format: { type: 'text' }, ...said };
  const named = asObject(object['json_schema']);
  const name = named?.['name'] ?? object['name'] ?? 'response_schema';
  return {
    format: { type: 'json_schema', name, schema: object['schema'] ?? named?.['schema'] ?? {}, strict: true },
    ...said,
  };
}
