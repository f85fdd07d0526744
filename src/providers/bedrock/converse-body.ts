import type { Json, JsonObject } from '../../domain/json.ts';
import type { ChatMessage } from '../../domain/message.ts';
import { readAnthropicPrompt } from '../anthropic/messages-prompt.ts';
import { type ChatRequest, mergedConfig } from '../openai/chat-body.ts';
import { asObject, at, textAt } from '../read-json.ts';
import type { SettingsLoader } from '../render-settings.ts';
import { argumentsAsData, bedrockToolChoice, bedrockTools } from '../tool-formats.ts';

interface ConversePrompt {
  readonly system?: Json;
  readonly messages: Json;
}

/** The body of a converse call. */
export function converseBody(
  own: JsonObject,
  loader: SettingsLoader,
  env: Readonly<Record<string, string | undefined>>,
  request: ChatRequest,
): JsonObject {
  const config = mergedConfig(own, request);
  const prompt = request.messages === undefined ? readPrompt(request.prompt ?? '') : toConverse(request.messages);
  const inference = inferenceOf(config, env, request);
  const offered =
    request.tools === undefined || request.tools.length === 0 ? config['tools'] : (request.tools as unknown as Json);
  const tools = offered ? bedrockTools(loader.load(offered, request.context?.vars)) : [];
  const choice = config['toolChoice'] ?? config['tool_choice'];
  const toolChoice = choice === undefined ? undefined : bedrockToolChoice(choice);
  const guardrail = textAt(config, 'guardrailIdentifier');
  return {
    messages: prompt.messages,
    ...(prompt.system === undefined ? {} : { system: prompt.system }),
    ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
    ...(Array.isArray(tools) && tools.length > 0
      ? { toolConfig: { tools: tools.map(ownTool), ...(toolChoice === undefined ? {} : { toolChoice }) } }
      : {}),
    ...(guardrail === undefined
      ? {}
      : {
          guardrailConfig: {
            guardrailIdentifier: guardrail,
            guardrailVersion: String(config['guardrailVersion'] ?? 'DRAFT'),
            ...(config['trace'] ? { trace: config['trace'] } : {}),
          },
        }),
    ...(config['additionalModelRequestFields'] === undefined
      ? thinkingFields(config)
      : { additionalModelRequestFields: config['additionalModelRequestFields'] }),
    ...(config['performanceConfig'] ? { performanceConfig: config['performanceConfig'] } : {}),
    ...(config['serviceTier'] ? { serviceTier: config['serviceTier'] } : {}),
    ...asObject(config['passthrough']),
  };
}

const thinkingFields = (config: JsonObject): JsonObject =>
  config['thinking'] === undefined ? {} : { additionalModelRequestFields: { thinking: config['thinking'] } };

function inferenceOf(
  config: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
  request: ChatRequest,
): JsonObject {
  const numberFrom = (name: string): number | undefined => (env[name] ? Number(env[name]) : undefined);
  const maxTokens =
    request.maxTokens ?? config['maxTokens'] ?? config['max_tokens'] ?? numberFrom('AWS_BEDROCK_MAX_TOKENS');
  const temperature = request.temperature ?? config['temperature'] ?? numberFrom('AWS_BEDROCK_TEMPERATURE');
  const topP = config['topP'] ?? config['top_p'];
  const stopSequences = config['stopSequences'] ?? config['stop'];
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
  };
}

/** Tools in Anthropic's form are taken too. */
function ownTool(tool: Json): Json {
  const schema = asObject(at(tool, 'input_schema'));
  const name = textAt(tool, 'name');
  if (schema === undefined || name === undefined) return tool;
  const description = textAt(tool, 'description');
  return { toolSpec: { name, ...(description === undefined ? {} : { description }), inputSchema: { json: schema } } };
}

function readPrompt(prompt: string): ConversePrompt {
  const read = readAnthropicPrompt(prompt);
  const messages = read.messages.map((message) => ({
    role: textAt(message, 'role') ?? 'user',
    content: ownBlocks(at(message, 'content') ?? []),
  }));
  return { messages, ...(read.system === undefined ? {} : { system: ownBlocks(read.system) }) };
}

const ownBlocks = (blocks: Json): Json => (Array.isArray(blocks) ? blocks.map(ownBlock) : blocks);

/** `{type: "text", text}` and its like become Bedrock's untagged blocks; Bedrock's own pass. */
function ownBlock(block: Json): Json {
  switch (textAt(block, 'type')) {
    case 'text':
      return { text: textAt(block, 'text') ?? '' };
    case 'image': {
      const type = textAt(block, 'source', 'media_type') ?? 'image/png';
      const data = textAt(block, 'source', 'data');
      return data === undefined ? block : { image: { format: type.split('/')[1] ?? 'png', source: { bytes: data } } };
    }
    default:
      return block;
  }
}

/** Messages in OpenAI form, said in Bedrock's. */
function toConverse(messages: readonly ChatMessage[]): ConversePrompt {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => ({ text: content }));
  const turns: { role: string; content: Json[] }[] = [];
  const push = (role: string, block: Json): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(block);
    else turns.push({ role, content: [block] });
  };
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      push('user', { toolResult: { toolUseId: message.tool_call_id, content: [{ text: message.content }] } });
      continue;
    }
    if (message.content !== '' || message.role === 'user') push(message.role, { text: message.content });
    if (message.role !== 'assistant') continue;
    for (const { id, function: call } of message.tool_calls ?? []) {
      push('assistant', { toolUse: { toolUseId: id, name: call.name, input: argumentsAsData(call.arguments) } });
    }
  }
  return { messages: turns, ...(system.length === 0 ? {} : { system }) };
}
