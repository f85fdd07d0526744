import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { accountingProfiles } from '../accounting.ts';
import { readChatPrompt } from '../chat-prompt.ts';
import type { HeaderValue } from '../http-client.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { asObject, at, textAt } from '../read-json.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';
import { type FormatProblem, problem, type ReplyDraft, type WireFormat } from '../wire-format.ts';

const rules = {
  baseUrl: 'https://api.replicate.com',
  baseUrlVariables: ['REPLICATE_BASE_URL', 'REPLICATE_API_BASE_URL'],
  hostPath: '',
  keyVariables: ['REPLICATE_API_TOKEN', 'REPLICATE_API_KEY'],
};

/** `replicate:<model>` and `replicate:moderation:<model>`. One call waits for its prediction up to a minute. */
export const replicateFactory: ProviderFactory = {
  matches: (id) => id.startsWith('replicate:'),
  create(options, context) {
    const [, second = '', ...rest] = options.id.split(':');
    if (second === 'image')
      throw new ParlaneError('provider/unsupported', `${options.id} makes images and is not supported.`, '', {
        provider: options.id,
      });
    const moderates = second === 'moderation';
    const model = moderates ? rest.join(':') : [second, ...rest].join(':');
    if (model === '')
      throw new ParlaneError(
        'provider/missing-model',
        `${options.id} names no model.`,
        'Write replicate:<owner>/<model>.',
        { provider: options.id },
      );
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const rule = { ...rules, id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const [name = model, version] = model.split(':');
    const url = under(baseUrl, version === undefined ? `v1/models/${name}/predictions` : 'v1/predictions');
    const key = keyOf(rule, config, env, url);
    const headers = withOwnHeaders(
      {
        'content-type': 'application/json',
        prefer: 'wait=60',
        ...(key === undefined ? {} : { authorization: { prefix: 'Bearer ', secret: key } }),
      },
      config,
      url,
    );
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'openai',
      lane: laneOf({
        vendor: 'replicate',
        model,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.plain,
      ceiling: 512,
      keyVariable: keyVariableOf(rule, config),
      price: surroundings.priceOf('replicate', name),
      format: predictions(moderates, version, config, url, headers),
    });
  },
};

function predictions(
  moderates: boolean,
  version: string | undefined,
  config: JsonObject,
  url: URL,
  headers: Readonly<Record<string, HeaderValue>>,
): WireFormat {
  return {
    build(request) {
      const prompt = promptOf(request, moderates);
      if (prompt === undefined)
        return problem('invalid_request', `this model cannot answer a request for ${request.kind}.`);
      const { apiKey: _, prompt: around, lane: __, ...settings } = config;
      const input = {
        ...settings,
        ...inputOf(`${textAt(around, 'prefix') ?? ''}${prompt}${textAt(around, 'suffix') ?? ''}`, config),
      };
      return {
        method: 'POST',
        url,
        headers,
        body: JSON.stringify({ ...(version === undefined ? {} : { version }), input }),
      };
    },
    read: ({ body }) => readPrediction(body, moderates),
  };
}

function promptOf(request: ModelRequest, moderates: boolean): string | undefined {
  if (request.kind === 'chat') return request.prompt ?? JSON.stringify(request.messages ?? []);
  if (request.kind !== 'moderation' || !moderates) return undefined;
  return `Human: ${request.prompt ?? ''}\n\nAssistant: ${request.input}`;
}

/** The first user message and the first system message, or the text. */
function inputOf(prompt: string, config: JsonObject): JsonObject {
  const read = readChatPrompt(prompt);
  const messages = read.ok && Array.isArray(read.messages) ? read.messages : [];
  const said = (role: string): Json | undefined =>
    asObject(messages.find((message) => textAt(message, 'role') === role))?.['content'];
  const system = said('system') ?? config['system_prompt'];
  return { ...(system === undefined ? {} : { system_prompt: system }), prompt: said('user') ?? prompt };
}

function readPrediction(body: Json, moderates: boolean): ReplyDraft | FormatProblem {
  const status = textAt(body, 'status');
  if (status === 'failed' || status === 'canceled')
    return problem('error_answer', `the prediction failed: ${textAt(body, 'error') ?? 'no reason given'}`);
  const output = at(body, 'output');
  const text = Array.isArray(output) ? output.join('') : output;
  if (typeof text !== 'string')
    return problem(
      'empty_response',
      status === 'succeeded' ? 'the prediction has no text.' : 'the prediction was not ready within a minute.',
    );
  const draft: ReplyDraft = { kind: 'draft', text, output: text, finishReason: 'stop' };
  return moderates ? { ...draft, ...verdictOf(text) } : draft;
}

/** `safe`, or `unsafe` and a line of categories. */
function verdictOf(text: string): Pick<ReplyDraft, 'flagged' | 'scores'> {
  const [verdict = '', categories = ''] = text.trim().split('\n');
  if (verdict === 'safe') return { flagged: false, scores: {} };
  const known = categories
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^S(?:[1-9]|1[0-4])$/.test(name));
  return { flagged: known.length > 0, scores: Object.fromEntries(known.map((name) => [name, 1])) };
}
