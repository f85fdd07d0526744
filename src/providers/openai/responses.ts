import type { Json, JsonObject } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/message.ts';
import type { FinishReason, Usage } from '../../domain/reply.ts';
import { asObject, at, countAt, listAt, textAt } from '../read-json.ts';
import { runCallback } from '../tool-callbacks.ts';
import { type FormatProblem, problem, type ReplyDraft, usageOf, type WireFormat } from '../wire-format.ts';
import type { ChatFormatOptions } from './chat.ts';
import { type ChatRequest, mergedConfig } from './chat-body.ts';
import { parsedOr } from './chat-reply.ts';
import { responsesBody } from './responses-body.ts';

/** `POST <base>/responses`. */
export function openaiResponses(options: ChatFormatOptions): WireFormat {
  return {
    build(request) {
      if (request.kind !== 'chat')
        return problem('invalid_request', `a model of the responses API cannot answer a request for ${request.kind}.`);
      return {
        method: 'POST',
        url: options.url,
        headers: options.headers,
        body: JSON.stringify(responsesBody(options, request)),
      };
    },
    async read(answer, request, { signal }) {
      const config = mergedConfig(options.config, request as ChatRequest);
      const callbacks = asObject(config['functionToolCallbacks']) ?? {};
      const asked = asObject(
        options.loader.responseFormat(config['response_format'] ?? null, (request as ChatRequest).context?.vars),
      );
      return readResponses(answer.body, asked?.['type'] === 'json_schema', (call) =>
        runCallback(call, callbacks, { code: options.code, basePath: options.basePath, signal }),
      );
    },
  };
}

type Callback = (call: ToolCall) => Promise<string | undefined>;

async function readResponses(body: Json, parsesJson: boolean, callback: Callback): Promise<ReplyDraft | FormatProblem> {
  const status = textAt(body, 'status');
  if (status === 'failed')
    return problem('error_answer', `the model failed: ${textAt(body, 'error', 'message') ?? 'no reason given'}`);
  const items = listAt(body, 'output');
  if (items.length === 0) return problem('empty_response', 'the answer holds no output.');
  const read = await readItems(items, callback);
  const incomplete = textAt(body, 'incomplete_details', 'reason');
  const common = {
    kind: 'draft' as const,
    text: read.text,
    toolCalls: read.calls,
    reasoning: read.reasoning === '' ? undefined : read.reasoning,
    usage: responsesUsage(body),
    finishReasonRaw: incomplete ?? status,
    servedModel: textAt(body, 'model'),
    metadata: metadataOf(body, read.annotations),
  };
  if (read.refusal !== undefined)
    return { ...common, text: read.refusal, output: read.refusal, finishReason: 'refusal', flagged: true };
  const output = read.parts.filter((part) => part !== '').join('\n');
  return {
    ...common,
    output: parsesJson ? parsedOr(output) : output,
    finishReason: finishOf(incomplete, read.calls.length > 0),
    ...(output === '' ? { flags: ['empty-content'] } : {}),
  };
}

function finishOf(incomplete: string | undefined, called: boolean): FinishReason {
  if (incomplete === 'max_output_tokens') return 'length';
  if (incomplete === 'content_filter') return 'content_filter';
  if (incomplete !== undefined) return 'other';
  return called ? 'tool_calls' : 'stop';
}

const responsesUsage = (body: Json): Usage | undefined =>
  usageOf({
    inputTokens: countAt(body, 'usage', 'input_tokens'),
    outputTokens: countAt(body, 'usage', 'output_tokens'),
    cachedInputTokens: countAt(body, 'usage', 'input_tokens_details', 'cached_tokens'),
    reasoningTokens: countAt(body, 'usage', 'output_tokens_details', 'reasoning_tokens'),
  });

function metadataOf(body: Json, annotations: readonly Json[]): JsonObject {
  const id = textAt(body, 'id');
  const model = textAt(body, 'model');
  return {
    ...(id === undefined ? {} : { responseId: id }),
    ...(model === undefined ? {} : { model }),
    ...(annotations.length === 0 ? {} : { annotations: [...annotations] }),
  };
}

interface Read {
  text: string;
  reasoning: string;
  refusal: string | undefined;
  readonly parts: string[];
  readonly calls: ToolCall[];
  readonly annotations: Json[];
}

async function readItems(items: readonly Json[], callback: Callback): Promise<Read> {
  const read: Read = { text: '', reasoning: '', refusal: undefined, parts: [], calls: [], annotations: [] };
  for (const item of items) {
    switch (textAt(item, 'type')) {
      case 'message':
        readMessage(item, read);
        break;
      case 'function_call':
        read.parts.push(await callPart(item, read, callback));
        break;
      case 'reasoning': {
        const summary = listAt(item, 'summary')
          .map((part) => textAt(part, 'text') ?? '')
          .join('\n');
        if (listAt(item, 'summary').length > 0) read.parts.push(`Reasoning: ${summary}`);
        read.reasoning += summary;
        break;
      }
      default:
        read.parts.push(otherPart(item));
    }
  }
  return read;
}

function readMessage(item: Json, read: Read): void {
  if (textAt(item, 'role') !== 'assistant') return;
  let text = '';
  for (const part of listAt(item, 'content')) {
    const type = textAt(part, 'type');
    if (type === 'output_text') {
      text += textAt(part, 'text') ?? '';
      read.annotations.push(...listAt(part, 'annotations'));
    }
    if (type === 'refusal') read.refusal = textAt(part, 'refusal') ?? '';
  }
  read.refusal ??= textAt(item, 'refusal');
  read.text += read.text === '' ? text : `\n${text}`;
  read.parts.push(text);
}

async function callPart(item: Json, read: Read, callback: Callback): Promise<string> {
  const name = textAt(item, 'name') ?? '';
  const args = textAt(item, 'arguments') ?? '';
  const call: ToolCall = {
    id: textAt(item, 'call_id') ?? textAt(item, 'id') ?? '',
    type: 'function',
    function: { name, arguments: args },
  };
  read.calls.push(call);
  if (args === '{}' && textAt(item, 'status') === 'completed') {
    const note =
      'Function called but no arguments were extracted. Consider using the correct Responses API tool format.';
    return JSON.stringify({ type: 'function_call', name, status: 'no_arguments_provided', note });
  }
  return (await callback(call)) ?? JSON.stringify(item);
}

/** Tools that the vendor runs itself, in promptfoo's words. */
function otherPart(item: Json): string {
  const failed =
    textAt(item, 'status') === 'failed' && at(item, 'error') ? ` (Error: ${String(at(item, 'error'))})` : '';
  const name = textAt(item, 'name') ?? '';
  const label = textAt(item, 'server_label') ?? '';
  switch (textAt(item, 'type')) {
    case 'tool_result':
      return JSON.stringify(item);
    case 'web_search_call':
      return searchPart(item) + failed;
    case 'code_interpreter_call':
      return `Code Interpreter: ${textAt(item, 'code') ?? 'Running code...'}${failed}`;
    case 'mcp_list_tools':
      return `MCP Tools from ${label}: ${JSON.stringify(at(item, 'tools'), null, 2)}`;
    case 'mcp_call':
      return at(item, 'error')
        ? `MCP Tool Error (${name}): ${String(at(item, 'error'))}`
        : `MCP Tool Result (${name}): ${textAt(item, 'output') ?? ''}`;
    case 'mcp_approval_request':
      return `MCP Approval Required for ${label}.${name}: ${textAt(item, 'arguments') ?? ''}`;
    default:
      return '';
  }
}

function searchPart(item: Json): string {
  const type = textAt(item, 'action', 'type');
  if (type === undefined) return `Web Search Call (status: ${textAt(item, 'status') ?? 'unknown'})`;
  const query = textAt(item, 'action', 'query') ?? '';
  if (type === 'search') return `Web Search: "${query}"`;
  if (type === 'open_page') return `Opening page: ${textAt(item, 'action', 'url') ?? ''}`;
  return type === 'find_in_page' ? `Finding in page: "${query}"` : `Web action: ${type}`;
}
