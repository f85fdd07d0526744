import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { readChatPrompt } from '../chat-prompt.ts';
import { otherParams } from '../other-params.ts';
import { asObject } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { type FormatProblem, problem } from '../wire-format.ts';
import { isGpt5, isOSeries, isReasoningModel } from './reasoning-models.ts';

export type ChatRequest = Extract<ModelRequest, { kind: 'chat' }>;

/** How a vendor's chat differs from OpenAI's, as data. */
export interface ChatTraits {
  /** Taken as a reasoning model whatever its name. */
  readonly reasoning?: (model: string) => boolean;
  /** A reasoning model that nevertheless takes a temperature. */
  readonly temperature?: (model: string) => boolean;
  /** Sends neither a default temperature nor a default maximum. */
  readonly noDefaults?: boolean;
  /** Settings that this vendor takes beyond OpenAI's, sent as they are. */
  readonly extra?: readonly string[];
  /** Keeps `max_tokens` for every model. */
  readonly keepsMaxTokens?: boolean;
  /** Forms an eval's output as OpenRouter's users know it: tool calls before words. */
  readonly callsFirst?: boolean;
  /** Settings under every other setting. */
  readonly defaults?: JsonObject;
}

export interface ChatSettings {
  readonly model: string;
  readonly config: JsonObject;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly loader: SettingsLoader;
  readonly traits?: ChatTraits;
}

/** Settings that reach the wire under their own name whenever they are given. */
const plainSettings = [
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'store',
];
/** Settings that reach the wire when they are not empty. */
const fullSettings = ['function_call', 'tool_resources', 'stop', 'service_tier', 'user', 'metadata'];
/** Settings that are put on the wire by a rule of their own. */
const handled = new Set([
  ...plainSettings,
  ...fullSettings,
  ...['temperature', 'seed', 'max_tokens', 'max_completion_tokens', 'reasoning_effort', 'reasoning', 'verbosity'],
  ...['tools', 'tool_choice', 'functions', 'response_format', 'modalities', 'audio'],
]);

/** The settings of one call: the provider's own, under what this call brings. */
export const mergedConfig = (config: JsonObject, request: ChatRequest): JsonObject =>
  request.params === undefined ? config : { ...config, ...request.params };

/** What the request itself says wins over every setting. */
export function ownSettings(request: ChatRequest, maxName: string): JsonObject {
  return {
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.maxTokens === undefined ? {} : { [maxName]: request.maxTokens }),
    ...(request.tools === undefined || request.tools.length === 0 ? {} : { tools: request.tools as unknown as Json }),
  };
}

/** The messages of a request in OpenAI form: the author's own, or the text as one user message. */
export function chatMessages(request: ChatRequest): Json | FormatProblem {
  if (request.messages !== undefined) return request.messages as unknown as Json;
  const prompt = readChatPrompt(request.prompt ?? '');
  if (!prompt.ok) return problem('invalid_request', prompt.reason);
  return prompt.messages ?? [{ role: 'user', content: prompt.text }];
}

export const isProblem = (value: Json | FormatProblem): value is FormatProblem =>
  asObject(value)?.['kind'] === 'problem' && asObject(value)?.['code'] !== undefined;

/** The body of a chat call. Vendor parameters and messages reach the wire as they were written. */
export function chatBody(settings: ChatSettings, request: ChatRequest): JsonObject | FormatProblem {
  const messages = chatMessages(request);
  if (isProblem(messages)) return messages;
  const { traits = {}, loader } = settings;
  const config = { ...traits.defaults, ...mergedConfig(settings.config, request) };
  const vars = request.context?.vars;
  const passthrough = asObject(config['passthrough']) ?? {};
  const name = typeof passthrough['model'] === 'string' ? passthrough['model'] : settings.model;
  const reasoning = isReasoningModel(name) || traits.reasoning?.(name) === true;
  const body: Record<string, Json> = { model: settings.model, messages };
  if (config['seed'] !== undefined) body['seed'] = config['seed'];
  Object.assign(body, sizeSettings(settings, config, request, reasoning, name));
  const effort = loader.render(config['reasoning_effort'] ?? null, vars);
  if (effort !== null && effort !== '' && (reasoning || name.includes('gpt-oss'))) body['reasoning_effort'] = effort;
  for (const key of plainSettings) if (config[key] !== undefined) body[key] = config[key];
  for (const key of fullSettings) if (config[key]) body[key] = config[key];
  if (config['functions']) body['functions'] = loader.load(config['functions'], vars);
  const tools = config['tools'] ? loader.load(config['tools'], vars) : [];
  if (Array.isArray(tools) ? tools.length > 0 : tools !== null) body['tools'] = tools;
  if (config['tool_choice']) body['tool_choice'] = config['tool_choice'];
  if (config['response_format']) body['response_format'] = loader.responseFormat(config['response_format'], vars);
  Object.assign(body, passthrough);
  if (name.includes('audio')) {
    body['modalities'] = config['modalities'] ?? ['text', 'audio'];
    body['audio'] = config['audio'] ?? { voice: 'alloy', format: 'wav' };
  }
  if (isGpt5(name) && config['verbosity']) body['verbosity'] = config['verbosity'];
  if (config['reasoning'] && isOSeries(name)) body['reasoning'] = config['reasoning'];
  for (const key of traits.extra ?? []) if (config[key] !== undefined) body[key] = config[key];
  Object.assign(body, otherParams(request, handled));
  Object.assign(
    body,
    ownSettings(request, reasoning && !traits.keepsMaxTokens ? 'max_completion_tokens' : 'max_tokens'),
  );
  if (reasoning && !traits.keepsMaxTokens) delete body['max_tokens'];
  return body;
}

const numberFrom = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** Temperature and the maximum: by model, with promptfoo's defaults where the author wrote a prompt. */
function sizeSettings(
  { env, traits = {} }: ChatSettings,
  config: JsonObject,
  request: ChatRequest,
  reasoning: boolean,
  name: string,
): JsonObject {
  const defaults = request.messages === undefined && config['omitDefaults'] !== true && traits.noDefaults !== true;
  const size: Record<string, Json> = {};
  const put = (key: string, value: Json | undefined): void => {
    if (value !== undefined) size[key] = value;
  };
  if (reasoning)
    put('max_completion_tokens', config['max_completion_tokens'] ?? numberFrom(env['OPENAI_MAX_COMPLETION_TOKENS']));
  if (!reasoning || traits.keepsMaxTokens) {
    put('max_tokens', config['max_tokens'] ?? numberFrom(env['OPENAI_MAX_TOKENS']) ?? (defaults ? 1024 : undefined));
  }
  if (!reasoning || traits.temperature?.(name) === true) {
    put('temperature', config['temperature'] ?? numberFrom(env['OPENAI_TEMPERATURE']) ?? (defaults ? 0 : undefined));
  }
  if (config['top_p'] === undefined) put('top_p', numberFrom(env['OPENAI_TOP_P']));
  if (config['presence_penalty'] === undefined) put('presence_penalty', numberFrom(env['OPENAI_PRESENCE_PENALTY']));
  if (config['frequency_penalty'] === undefined) put('frequency_penalty', numberFrom(env['OPENAI_FREQUENCY_PENALTY']));
  return size;
}
