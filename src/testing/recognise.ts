import type { IncomingHttpHeaders } from 'node:http';
import { anthropicMessages } from './wires/anthropic-messages.ts';
import { bedrockConverse } from './wires/bedrock-converse.ts';
import { gemini, geminiEmbeddings } from './wires/gemini.ts';
import { ollamaChat, ollamaEmbeddings, ollamaGenerate } from './wires/ollama.ts';
import { azureChat, openaiChat, openaiCompletions } from './wires/openai-chat.ts';
import { openaiResponses } from './wires/openai-responses.ts';
import { openaiEmbeddings, openaiModerations } from './wires/openai-vectors.ts';
import type { Wire } from './wires/wire.ts';

/** What a path says: the vendor format, and the model where the path names it. */
export interface Recognised {
  readonly wire: Wire;
  readonly model: string | undefined;
}

const segment = (text: string | undefined): string | undefined => (text ? decodeURIComponent(text) : undefined);

/** By how the path ends, so that any prefix can stand in for any vendor's base address. */
const endings: readonly (readonly [RegExp, Wire])[] = [
  [/\/deployments\/([^/]+)\/chat\/completions$/, azureChat],
  [/\/chat\/completions$/, openaiChat],
  [/\/(?:deployments\/([^/]+)\/)?completions$/, openaiCompletions],
  [/\/responses$/, openaiResponses],
  [/\/api\/(?:embed|embeddings)$/, ollamaEmbeddings],
  [/\/(?:deployments\/([^/]+)\/)?embeddings$/, openaiEmbeddings],
  [/\/moderations$/, openaiModerations],
  [/\/messages$/, anthropicMessages],
  [/\/models\/([^/]+):(?:generateContent|streamGenerateContent)$/, gemini],
  [/\/models\/([^/]+):(?:embedContent|batchEmbedContents)$/, geminiEmbeddings],
  [/\/model\/([^/]+)\/converse$/, bedrockConverse],
  [/\/api\/chat$/, ollamaChat],
  [/\/api\/generate$/, ollamaGenerate],
];

/** The format of a path without its query; undefined when it is none of ours. */
export function recognise(path: string): Recognised | undefined {
  for (const [ending, wire] of endings) {
    const match = ending.exec(path);
    if (match) return { wire, model: segment(match[1]) };
  }
  return undefined;
}

const one = (value: string | string[] | undefined): string => (Array.isArray(value) ? (value[0] ?? '') : (value ?? ''));

/** The credential of a request: a bearer token, a vendor's key header, a `key` in the query, or an AWS access key id. */
export function keyOf(headers: IncomingHttpHeaders, query: string): string {
  const authorization = one(headers.authorization);
  if (authorization.startsWith('Bearer ')) return authorization.slice(7);
  const named = one(headers['x-api-key']) || one(headers['api-key']) || one(headers['x-goog-api-key']);
  if (named !== '') return named;
  const signed = /Credential=([^/,\s]+)/.exec(authorization);
  if (signed?.[1]) return signed[1];
  return (query === '' ? null : new URLSearchParams(query).get('key')) ?? authorization;
}
