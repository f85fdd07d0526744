import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Usage } from '../../domain/reply.ts';
import type { HeaderValue } from '../http-client.ts';
import { type ChatRequest, mergedConfig } from '../openai/chat-body.ts';
import { parsedOr } from '../openai/chat-reply.ts';
import { otherParams } from '../other-params.ts';
import { asObject, at, countAt, listAt, textAt } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { anthropicToolChoice, anthropicTools } from '../tool-formats.ts';
import { problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';
import { readAnthropicPrompt, toAnthropicMessages } from './messages-prompt.ts';

export interface AnthropicOptions {
  readonly model: string;
  readonly config: JsonObject;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly url: URL;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly loader: SettingsLoader;
}

/** Models that refuse temperature, top_p and top_k, and think adaptively. */
const pinsSampling = (model: string): boolean =>
  /claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|haiku-[5-9]|fable|mythos)/.test(model);
const structured = 'structured-outputs-2025-11-13';
const serverToolBetas: Readonly<Record<string, string>> = {
  web_fetch_20250910: 'web-fetch-2025-09-10',
  memory_20250818: 'context-management-2025-06-27',
};

const fullSettings = [
  'cache_control',
  'service_tier',
  'stop_sequences',
  'metadata',
  'mcp_servers',
  'container',
  'context_management',
];
const handled = new Set([
  ...fullSettings,
  ...['max_tokens', 'temperature', 'top_p', 'top_k', 'thinking', 'tools', 'tool_choice', 'output_format', 'stream'],
]);

/** `POST <base>/v1/messages`. */
export function anthropicMessages(options: AnthropicOptions): WireFormat {
  return {
    build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a chat model cannot answer a request for ${request.kind}.`);
      const config = mergedConfig(options.config, request);
      const { body, betas } = messagesBody(options, config, request);
      const headers = betas.length === 0 ? options.headers : { ...options.headers, 'anthropic-beta': betas.join(',') };
      return { method: 'POST', url: options.url, headers, body: JSON.stringify(body) };
    },
    read({ body }, request) {
      const config = mergedConfig(options.config, request as ChatRequest);
      const format = asObject(
        options.loader.responseFormat(config['output_format'] ?? null, (request as ChatRequest).context?.vars),
      );
      const draft = readMessage(body, config['showThinking'] !== false);
      if (draft === undefined) return problem('empty_response', 'the answer holds no content.');
      return format?.['type'] === 'json_schema' && typeof draft.output === 'string'
        ? { ...draft, output: parsedOr(draft.output) }
        : draft;
    },
  };
}

function messagesBody(
  { model, env, loader }: AnthropicOptions,
  config: JsonObject,
  request: ChatRequest,
): { body: JsonObject; betas: string[] } {
  const prompt =
    request.messages === undefined ? readAnthropicPrompt(request.prompt ?? '') : toAnthropicMessages(request.messages);
  const vars = request.context?.vars;
  const pinned = pinsSampling(model);
  const thinking = thinkingOf(config['thinking'] ?? prompt.thinking, pinned);
  const thinks = thinking !== undefined && textAt(thinking, 'type') !== 'disabled';
  const body: Record<string, Json> = { model };
  if (prompt.system !== undefined) body['system'] = prompt.system;
  const most = Number(env['ANTHROPIC_MAX_TOKENS'] || Number.NaN);
  body['max_tokens'] =
    request.maxTokens ?? config['max_tokens'] ?? (Number.isFinite(most) ? most : thinks ? 2048 : 1024);
  body['messages'] = prompt.messages as Json;
  body['stream'] = false;
  if (!pinned && !thinks) {
    if (config['top_p'] !== undefined) body['top_p'] = config['top_p'];
    else if (request.temperature !== undefined || config['temperature'] !== undefined || request.messages === undefined)
      body['temperature'] = request.temperature ?? config['temperature'] ?? Number(env['ANTHROPIC_TEMPERATURE'] || 0);
    if (config['top_k'] !== undefined) body['top_k'] = config['top_k'];
  }
  for (const key of fullSettings) if (config[key]) body[key] = config[key];
  const betas = new Set(listAt(config, 'beta').map(String));
  const offered =
    request.tools === undefined || request.tools.length === 0 ? config['tools'] : (request.tools as unknown as Json);
  const tools = offered ? anthropicTools(loader.load(offered, vars)) : [];
  if (Array.isArray(tools) && tools.length > 0) body['tools'] = tools;
  for (const tool of Array.isArray(tools) ? tools : []) {
    const beta = serverToolBetas[textAt(tool, 'type') ?? ''];
    if (beta !== undefined) betas.add(beta);
    if (at(tool, 'strict') === true) betas.add(structured);
  }
  if (config['tool_choice']) body['tool_choice'] = anthropicToolChoice(config['tool_choice']);
  if (thinking !== undefined) body['thinking'] = thinking;
  const format = config['output_format'] ? loader.responseFormat(config['output_format'], vars) : undefined;
  if (format !== undefined) betas.add(structured);
  if (format !== undefined || config['effort']) {
    body['output_config'] = {
      ...(format === undefined ? {} : { format }),
      ...(config['effort'] ? { effort: config['effort'] } : {}),
    };
  }
  Object.assign(body, otherParams(request, handled), asObject(config['extra_body']) ?? {});
  return { body, betas: [...betas] };
}

/** Newer models take no budget: asked for one, they think adaptively. */
function thinkingOf(asked: Json | undefined, pinned: boolean): Json | undefined {
  if (asked === undefined || asked === null) return undefined;
  if (!pinned || textAt(asked, 'type') !== 'enabled') return asked;
  const display = textAt(asked, 'display');
  return { type: 'adaptive', ...(display === undefined ? {} : { display }) };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** `input_tokens` is only what was not cached; ours is all of it. */
function anthropicUsage(body: Json): Usage | undefined {
  const fresh = countAt(body, 'usage', 'input_tokens');
  const read = countAt(body, 'usage', 'cache_read_input_tokens');
  const written = countAt(body, 'usage', 'cache_creation_input_tokens');
  return usageOf({
    inputTokens: fresh === undefined ? undefined : fresh + (read ?? 0) + (written ?? 0),
    outputTokens: countAt(body, 'usage', 'output_tokens'),
    cachedInputTokens: read,
    cacheWriteTokens: written,
  });
}

function readMessage(body: Json, showThinking: boolean): ReplyDraft | undefined {
  const content = listAt(body, 'content');
  const raw = textAt(body, 'stop_reason');
  if (content.length === 0 && raw !== 'refusal' && raw !== 'max_tokens') return undefined;
  const toolCalls = content.filter((block) => textAt(block, 'type') === 'tool_use').map(toolCall);
  const text = content
    .filter((block) => textAt(block, 'type') === 'text')
    .map((block) => textAt(block, 'text') ?? '')
    .join('\n\n');
  const thoughts = content
    .map((block) => textAt(block, 'thinking') ?? '')
    .filter((thought) => thought !== '')
    .join('\n');
  return {
    kind: 'draft',
    text,
    output: outputOf(content, showThinking),
    toolCalls,
    reasoning: thoughts === '' ? undefined : thoughts,
    usage: anthropicUsage(body),
    finishReason: finishReasons[raw ?? ''] ?? (raw === undefined ? 'stop' : 'other'),
    finishReasonRaw: raw,
    servedModel: textAt(body, 'model'),
    ...(raw === 'refusal' ? { flagged: true } : {}),
    ...(content.length === 0 ? { flags: ['empty-content'] } : {}),
  };
}

const toolCall = (block: Json): ToolCall => ({
  id: textAt(block, 'id') ?? '',
  type: 'function',
  function: { name: textAt(block, 'name') ?? '', arguments: JSON.stringify(at(block, 'input') ?? {}) },
});

/** With tools or thoughts every block is shown; otherwise the texts. */
function outputOf(content: readonly Json[], showThinking: boolean): string {
  const types = new Set(content.map((block) => textAt(block, 'type')));
  const special = types.has('tool_use') || types.has('thinking') || types.has('redacted_thinking');
  if (!special) return content.map((block) => textAt(block, 'text') ?? '').join('\n\n');
  return content
    .map((block) => shownBlock(block, showThinking))
    .filter((text) => text !== '')
    .join('\n\n');
}

function shownBlock(block: Json, showThinking: boolean): string {
  switch (textAt(block, 'type')) {
    case 'text':
      return textAt(block, 'text') ?? '';
    case 'thinking': {
      const thought = textAt(block, 'thinking') ?? '';
      return showThinking && thought.trim() !== ''
        ? `Thinking: ${thought}\nSignature: ${textAt(block, 'signature') ?? ''}`
        : '';
    }
    case 'redacted_thinking':
      return showThinking ? `Redacted Thinking: ${textAt(block, 'data') ?? ''}` : '';
    default:
      return JSON.stringify(block);
  }
}
