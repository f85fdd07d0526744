import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { EpochMillis } from '../domain/ids.ts';
import { keyOf, type Recognised } from './recognise.ts';
import type { SeenRequest } from './seen-request.ts';

type Body = Record<string, unknown>;

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null;

export function parseBody(text: string): Body {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && !Array.isArray(body) ? body : {};
  } catch {
    return {};
  }
}

/** All texts below a value of a message list or a prompt, in order. */
function collectTexts(value: unknown, into: string[]): void {
  if (typeof value === 'string') {
    into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, into);
  } else if (isObject(value)) {
    for (const name of ['text', 'content', 'parts', 'output']) if (name in value) collectTexts(value[name], into);
  }
}

const promptFields = [
  'system',
  'instructions',
  'systemInstruction',
  'messages',
  'contents',
  'content',
  'prompt',
  'input',
];

function textsOf(body: Body): string[] {
  const texts: string[] = [];
  for (const name of promptFields) if (name in body) collectTexts(body[name], texts);
  return texts;
}

function lastTextOf(body: Body, texts: readonly string[]): string {
  const list = body['messages'] ?? body['contents'] ?? body['input'];
  if (!Array.isArray(list)) return texts.at(-1) ?? '';
  const user = list.findLast((message) => isObject(message) && message['role'] === 'user') ?? list.at(-1);
  const own: string[] = [];
  collectTexts(user, own);
  return own.join('\n');
}

function toolNamesOf(body: Body): string[] {
  const tools = isObject(body['toolConfig']) ? body['toolConfig']['tools'] : body['tools'];
  const names: string[] = [];
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (!isObject(tool)) continue;
    const declared = Array.isArray(tool['functionDeclarations']) ? tool['functionDeclarations'] : [];
    for (const item of [tool['function'], tool['toolSpec'], tool, ...declared]) {
      if (isObject(item) && typeof item['name'] === 'string') names.push(item['name']);
    }
  }
  return names;
}

const configs = ['generationConfig', 'inferenceConfig', 'options'];
const maxNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'maxTokens',
  'num_predict',
];

function maxTokensOf(body: Body): number | undefined {
  for (const place of [body, ...configs.map((name) => body[name])]) {
    if (!isObject(place)) continue;
    for (const name of maxNames) if (typeof place[name] === 'number') return place[name];
  }
  return undefined;
}

/** Four characters to a token: near enough to weigh requests, and anybody can count it by hand. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4);

interface Arrival {
  readonly number: number;
  readonly keyNumber: (key: string) => number;
  readonly at: EpochMillis;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
}

/** Reads what limits, faults and replies need to know of a request, in any vendor's format. */
export function readRequest(arrival: Arrival, recognised: Recognised, text: string): SeenRequest {
  const body = parseBody(text);
  const texts = textsOf(body);
  const prompt = texts.join('\n');
  const key = keyOf(arrival.headers, arrival.query);
  const idempotency = arrival.headers['idempotency-key'];
  return {
    number: arrival.number,
    keyNumber: arrival.keyNumber(key),
    at: arrival.at,
    wire: recognised.wire.name,
    key,
    model: recognised.model ?? String(body['model'] ?? ''),
    path: arrival.path,
    headers: arrival.headers,
    body,
    prompt,
    lastText: lastTextOf(body, texts),
    tools: toolNamesOf(body),
    stream: body['stream'] === true,
    inputTokens: tokensOf(prompt),
    maxTokens: maxTokensOf(body),
    idempotencyKey: Array.isArray(idempotency) ? idempotency[0] : idempotency,
    promptHash: hash('sha1', text),
  };
}
