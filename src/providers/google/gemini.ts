import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Usage } from '../../domain/reply.ts';
import type { HeaderValue } from '../http-client.ts';
import { type ChatRequest, mergedConfig } from '../openai/chat-body.ts';
import { asObject, at, countAt, listAt, textAt } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { googleToolChoice, googleTools } from '../tool-formats.ts';
import { type FormatProblem, problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';
import { readGeminiPrompt, toGeminiContents } from './contents.ts';

export interface GeminiOptions {
  readonly model: string;
  readonly config: JsonObject;
  readonly url: URL;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly loader: SettingsLoader;
}

const generationSettings = ['temperature', 'topP', 'topK', 'stopSequences', 'maxOutputTokens'];

/** `POST <base>/models/<model>:generateContent`. */
export function geminiFormat(options: GeminiOptions): WireFormat {
  return {
    build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a chat model cannot answer a request for ${request.kind}.`);
      const prompt =
        request.messages === undefined ? readGeminiPrompt(request.prompt ?? '') : toGeminiContents(request.messages);
      if ('kind' in prompt) return prompt;
      const config = mergedConfig(options.config, request);
      const body = geminiBody(options.loader, config, request, prompt.contents, prompt.systemInstruction);
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read: ({ body }) => readGemini(body),
  };
}

function geminiBody(
  loader: SettingsLoader,
  config: JsonObject,
  request: ChatRequest,
  contents: Json,
  system: Json | undefined,
): JsonObject {
  const vars = request.context?.vars;
  const generationConfig: Record<string, Json> = {};
  for (const key of generationSettings) if (config[key] !== undefined) generationConfig[key] = config[key];
  Object.assign(generationConfig, asObject(config['generationConfig']) ?? {});
  if (request.temperature !== undefined) generationConfig['temperature'] = request.temperature;
  if (request.seed !== undefined) generationConfig['seed'] = request.seed;
  if (request.maxTokens !== undefined) generationConfig['maxOutputTokens'] = request.maxTokens;
  if (config['responseSchema']) {
    generationConfig['response_schema'] = loader.load(config['responseSchema'], vars);
    generationConfig['response_mime_type'] = 'application/json';
  }
  const offered =
    request.tools === undefined || request.tools.length === 0 ? config['tools'] : (request.tools as unknown as Json);
  const tools = offered ? googleTools(loader.load(offered, vars)) : [];
  const toolConfig =
    config['toolConfig'] ?? (config['tool_choice'] ? googleToolChoice(config['tool_choice']) : undefined);
  const instruction = mergedInstruction(config['systemInstruction'], system, loader, vars);
  return {
    contents,
    generationConfig,
    ...(config['safetySettings'] === undefined ? {} : { safetySettings: config['safetySettings'] }),
    ...(toolConfig === undefined ? {} : { toolConfig }),
    ...(Array.isArray(tools) && tools.length > 0 ? { tools } : {}),
    ...(instruction === undefined ? {} : { system_instruction: instruction }),
    ...(config['service_tier'] ? { serviceTier: config['service_tier'] } : {}),
    ...asObject(config['passthrough']),
  };
}

/** The config's instruction stands before the prompt's. */
function mergedInstruction(
  own: Json | undefined,
  said: Json | undefined,
  loader: SettingsLoader,
  vars: JsonObject | undefined,
): Json | undefined {
  if (!own) return said;
  const loaded = loader.load(own, vars);
  const first = typeof loaded === 'string' ? { parts: [{ text: loaded }] } : loaded;
  return said === undefined ? first : { parts: [...listAt(first, 'parts'), ...listAt(said, 'parts')] };
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  BLOCKLIST: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
};

function geminiUsage(body: Json): Usage | undefined {
  const visible = countAt(body, 'usageMetadata', 'candidatesTokenCount');
  const thoughts = countAt(body, 'usageMetadata', 'thoughtsTokenCount');
  const prompt = countAt(body, 'usageMetadata', 'promptTokenCount');
  return usageOf({
    inputTokens:
      prompt === undefined ? undefined : prompt + (countAt(body, 'usageMetadata', 'toolUsePromptTokenCount') ?? 0),
    outputTokens: visible === undefined && thoughts === undefined ? undefined : (visible ?? 0) + (thoughts ?? 0),
    cachedInputTokens: countAt(body, 'usageMetadata', 'cachedContentTokenCount'),
    reasoningTokens: thoughts,
  });
}

function readGemini(answer: Json): ReplyDraft | FormatProblem {
  const body = Array.isArray(answer) ? (answer.at(-1) ?? null) : answer;
  const blocked = textAt(body, 'promptFeedback', 'blockReason');
  const common = { kind: 'draft' as const, usage: geminiUsage(body), servedModel: textAt(body, 'modelVersion') };
  if (blocked !== undefined) {
    const text = `Content was blocked due to safety settings: ${blocked}`;
    return { ...common, text, output: text, finishReason: 'content_filter', finishReasonRaw: blocked, flagged: true };
  }
  const candidate = at(body, 'candidates', 0);
  const raw = textAt(candidate, 'finishReason');
  const parts = listAt(candidate, 'content', 'parts');
  const finishReason = finishReasons[raw ?? 'STOP'] ?? 'other';
  if (parts.length === 0 && finishReason !== 'content_filter' && finishReason !== 'length') {
    return problem('empty_response', 'the answer holds no candidates.');
  }
  const spoken = parts.filter((part) => at(part, 'thought') !== true);
  const text = spoken.map((part) => textAt(part, 'text') ?? '').join('');
  const toolCalls = parts.filter((part) => asObject(at(part, 'functionCall')) !== undefined).map(toolCall);
  const onlyText = parts.every((part) => textAt(part, 'text') !== undefined);
  const thoughts = parts
    .filter((part) => at(part, 'thought') === true)
    .map((part) => textAt(part, 'text') ?? '')
    .join('');
  return {
    ...common,
    text,
    output: onlyText ? text : (parts as Json),
    toolCalls,
    reasoning: thoughts === '' ? undefined : thoughts,
    finishReason: toolCalls.length > 0 && finishReason === 'stop' ? 'tool_calls' : finishReason,
    finishReasonRaw: raw,
    ...(finishReason === 'content_filter' ? { flagged: true } : {}),
  };
}

/** Gemini gives no ids: the position names the call. */
const toolCall = (part: Json, position: number): ToolCall => ({
  id: textAt(part, 'functionCall', 'id') ?? `call_${position}`,
  type: 'function',
  function: {
    name: textAt(part, 'functionCall', 'name') ?? '',
    arguments: JSON.stringify(at(part, 'functionCall', 'args') ?? {}),
  },
});

/** `POST <base>/models/<model>:embedContent`. */
export function geminiEmbedding(options: GeminiOptions): WireFormat {
  return {
    build(request) {
      const text = request.kind === 'embedding' ? request.input : request.kind === 'chat' ? request.prompt : undefined;
      if (text === undefined)
        return problem('invalid_request', `an embedding model cannot answer a request for ${request.kind}.`);
      const own = ['taskType', 'outputDimensionality', 'title'].filter((key) => options.config[key] !== undefined);
      const body = {
        content: { parts: [{ text }] },
        ...Object.fromEntries(own.map((key) => [key, options.config[key]])),
      };
      return { method: 'POST', url: options.url, headers: options.headers, body: JSON.stringify(body) };
    },
    read({ body }) {
      const embedding = listAt(body, 'embedding', 'values').filter(
        (value): value is number => typeof value === 'number',
      );
      if (embedding.length === 0) return problem('empty_response', 'the answer holds no embedding.');
      return { kind: 'draft', text: '', output: embedding, embedding, finishReason: 'stop' };
    },
  };
}
