import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason } from '../../domain/reply.ts';
import type { HeaderValue } from '../http-client.ts';
import { type ChatRequest, chatMessages, isProblem, mergedConfig } from '../openai/chat-body.ts';
import { asObject, at, countAt, listAt, textAt } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { argumentsAsData } from '../tool-formats.ts';
import { type FormatProblem, problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';

export type OllamaKind = 'chat' | 'completion' | 'embedding';

export interface OllamaOptions {
  readonly model: string;
  readonly config: JsonObject;
  readonly url: URL;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly loader: SettingsLoader;
}

/** Settings of Ollama's own `options`. */
const optionNames = new Set([
  ...[
    'mirostat',
    'mirostat_eta',
    'mirostat_tau',
    'num_ctx',
    'num_gqa',
    'num_gpu',
    'num_thread',
    'num_predict',
    'num_keep',
    'num_batch',
  ],
  ...[
    'repeat_last_n',
    'repeat_penalty',
    'temperature',
    'seed',
    'stop',
    'tfs_z',
    'top_k',
    'top_p',
    'min_p',
    'typical_p',
    'main_gpu',
    'low_vram',
  ],
  ...[
    'f16_kv',
    'vocab_only',
    'use_mmap',
    'use_mlock',
    'numa',
    'presence_penalty',
    'frequency_penalty',
    'penalize_newline',
  ],
]);

export function ollamaFormat(kind: OllamaKind, options: OllamaOptions): WireFormat {
  return {
    build(request) {
      const body =
        kind === 'embedding'
          ? embeddingBody(options, request)
          : request.kind === 'chat'
            ? chatBody(kind, options, request)
            : undefined;
      if (body === undefined)
        return problem('invalid_request', `a model for ${kind} cannot answer a request for ${request.kind}.`);
      if (isProblem(body)) return body;
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read: ({ body }) => (kind === 'embedding' ? readEmbedding(body) : readAnswer(body)),
  };
}

function embeddingBody({ model }: OllamaOptions, request: Parameters<WireFormat['build']>[0]): JsonObject | undefined {
  const prompt = request.kind === 'embedding' ? request.input : request.kind === 'chat' ? request.prompt : undefined;
  return prompt === undefined ? undefined : { model, prompt };
}

function chatBody(
  kind: OllamaKind,
  { model, config: own, loader }: OllamaOptions,
  request: ChatRequest,
): JsonObject | FormatProblem {
  const config = mergedConfig(own, request);
  const messages = chatMessages(request);
  if (isProblem(messages)) return messages;
  const options = {
    ...Object.fromEntries(Object.entries(config).filter(([key]) => optionNames.has(key))),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.seed === undefined ? {} : { seed: request.seed }),
    ...(request.maxTokens === undefined ? {} : { num_predict: request.maxTokens }),
  };
  const text = request.prompt ?? (request.messages ?? []).map(({ role, content }) => `${role}: ${content}`).join('\n');
  const tools =
    request.tools === undefined || request.tools.length === 0 ? config['tools'] : (request.tools as unknown as Json);
  return {
    model,
    ...(kind === 'chat'
      ? { messages: request.messages === undefined ? messages : (request.messages.map(ownMessage) as Json) }
      : { prompt: text }),
    stream: false,
    options,
    ...(config['think'] === undefined ? {} : { think: config['think'] }),
    ...(config['format'] === undefined ? {} : { format: config['format'] }),
    ...(config['keep_alive'] === undefined ? {} : { keep_alive: config['keep_alive'] }),
    ...(kind === 'chat' && tools ? { tools: loader.load(tools, request.context?.vars) } : {}),
    ...asObject(config['passthrough']),
  };
}

/** Ollama takes tool arguments as an object. */
function ownMessage(message: NonNullable<ChatRequest['messages']>[number]): Json {
  if (message.role !== 'assistant' || message.tool_calls === undefined) return message as unknown as Json;
  const tool_calls = message.tool_calls.map(({ function: call }) => ({
    function: { name: call.name, arguments: argumentsAsData(call.arguments) },
  }));
  return { role: 'assistant', content: message.content, tool_calls };
}

function readEmbedding(body: Json): ReplyDraft | FormatProblem {
  const first = listAt(body, 'embedding');
  const embedding = (first.length > 0 ? first : listAt(body, 'embeddings', 0)).filter(
    (value): value is number => typeof value === 'number',
  );
  if (embedding.length === 0) return problem('empty_response', 'the answer holds no embedding.');
  return {
    kind: 'draft',
    text: '',
    output: embedding,
    embedding,
    usage: { inputTokens: countAt(body, 'prompt_eval_count') ?? 0, outputTokens: 0 },
    finishReason: 'stop',
  };
}

const finishReasons: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length' };

function readAnswer(body: Json): ReplyDraft | FormatProblem {
  const content = textAt(body, 'message', 'content') ?? textAt(body, 'response');
  const calls = listAt(body, 'message', 'tool_calls');
  if (content === undefined && calls.length === 0) return problem('empty_response', 'the answer holds no message.');
  const text = content ?? '';
  const toolCalls = calls.map(toolCall);
  const tool_calls = toolCalls.map(({ function: call }) => ({ function: call }));
  const raw = textAt(body, 'done_reason');
  return {
    kind: 'draft',
    text,
    output: toolCalls.length === 0 ? text : text.trim() === '' ? tool_calls : { content: text, tool_calls },
    toolCalls,
    reasoning: textAt(body, 'message', 'thinking') ?? textAt(body, 'thinking'),
    usage: usageOf({ inputTokens: countAt(body, 'prompt_eval_count'), outputTokens: countAt(body, 'eval_count') }),
    finishReason: toolCalls.length > 0 ? 'tool_calls' : (finishReasons[raw ?? 'stop'] ?? 'other'),
    finishReasonRaw: raw,
    servedModel: textAt(body, 'model'),
  };
}

/** Ollama gives no ids: the position names the call. */
function toolCall(call: Json, position: number): ToolCall {
  const args = at(call, 'function', 'arguments');
  return {
    id: textAt(call, 'id') ?? `call_${position}`,
    type: 'function',
    function: {
      name: textAt(call, 'function', 'name') ?? '',
      arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    },
  };
}
