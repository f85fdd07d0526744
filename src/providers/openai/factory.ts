import { ParlaneError } from '../../domain/errors.ts';
import type { Provider } from '../../domain/provider.ts';
import { accountingProfiles } from '../accounting.ts';
import type { HeaderValue } from '../http-client.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderContext, ProviderFactory, ProviderOptions } from '../provider-factory.ts';
import { textAt } from '../read-json.ts';
import { createRender, createSettingsLoader } from '../render-settings.ts';
import { type Surroundings, surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';
import type { WireFormat } from '../wire-format.ts';
import { openaiChat } from './chat.ts';
import { openaiCompletion } from './completion.ts';
import { openaiEmbedding } from './embedding.ts';
import { openaiModeration } from './moderation.ts';
import { isCompletionModel, isResponsesOnly } from './reasoning-models.ts';
import { openaiResponses } from './responses.ts';
import { type OpenAiVendor, openaiVendors } from './vendors.ts';

export type OpenAiKind = 'chat' | 'responses' | 'completion' | 'embedding' | 'moderation';

const kinds: Readonly<Record<string, OpenAiKind>> = {
  chat: 'chat',
  responses: 'responses',
  completion: 'completion',
  embedding: 'embedding',
  embeddings: 'embedding',
  moderation: 'moderation',
};

const defaultModels: Readonly<Record<OpenAiKind, string>> = {
  chat: 'gpt-4.1-2025-04-14',
  responses: 'gpt-4.1-2025-04-14',
  completion: 'gpt-3.5-turbo-instruct',
  embedding: 'text-embedding-3-large',
  moderation: 'omni-moderation-latest',
};

const paths: Readonly<Record<OpenAiKind, string>> = {
  chat: 'chat/completions',
  responses: 'responses',
  completion: 'completions',
  embedding: 'embeddings',
  moderation: 'moderations',
};

/** Ids of OpenAI that promptfoo knows and that are no model behind one JSON call. */
const unsupported = new Set([
  'realtime',
  'assistant',
  'agents',
  'chatkit',
  'codex-sdk',
  'codex',
  'codex-app-server',
  'image',
  'video',
  'tts',
  'speech',
  'transcription',
]);

/** OpenAI and every vendor of its format. */
export const openaiFactory: ProviderFactory = {
  matches: (id) => vendorOf(id) !== undefined,
  create(options, context) {
    const vendor = vendorOf(options.id);
    if (vendor === undefined) throw new ParlaneError('provider/unknown', `Unknown provider "${options.id}".`, '');
    return createOpenAiProvider(vendor, options, context);
  },
};

const vendorOf = (id: string): OpenAiVendor | undefined => {
  const prefix = id.split(':')[0];
  return id.includes(':') ? openaiVendors.find((vendor) => vendor.prefix === prefix) : undefined;
};

/** `openai:chat:gpt-4.1` and `openai:gpt-4.1` alike; a bare model goes where its name belongs. */
function kindAndModel(
  id: string,
  vendor: OpenAiVendor,
  configured: string | undefined,
): { kind: OpenAiKind; model: string } {
  const [, second = '', ...rest] = id.split(':');
  const kind = Object.hasOwn(kinds, second) ? kinds[second] : undefined;
  if (kind !== undefined)
    return { kind, model: rest.join(':') || configured || vendor.defaultModel || defaultModels[kind] };
  if (vendor.prefix === 'openai' && unsupported.has(second)) {
    throw new ParlaneError(
      'provider/unsupported',
      `${id} is not a model behind one JSON call and is not supported.`,
      'Use openai:chat:, openai:responses:, openai:embedding: or openai:moderation:.',
      { provider: id },
    );
  }
  const model = [second, ...rest].join(':') || configured || vendor.defaultModel || '';
  if (model === '')
    throw new ParlaneError('provider/missing-model', `${id} names no model.`, `Write ${vendor.prefix}:<model>.`, {
      provider: id,
    });
  if (vendor.prefix !== 'openai') return { kind: 'chat', model };
  if (isCompletionModel(model)) return { kind: 'completion', model };
  return { kind: isResponsesOnly(model) ? 'responses' : 'chat', model };
}

function createOpenAiProvider(vendor: OpenAiVendor, options: ProviderOptions, context: ProviderContext): Provider {
  const surroundings = surroundingsOf(options, context);
  const { config, env } = surroundings;
  const { kind, model } = kindAndModel(options.id, vendor, textAt(config, 'model'));
  const baseUrl = baseUrlOf({ ...vendor, id: options.id }, config, env);
  const url = endpoint(vendor, baseUrl, kind, model, config['isPayPerToken'] === true);
  const rule = { ...vendor, id: options.id };
  const key = keyOf(rule, config, env, url);
  const organization =
    vendor.prefix === 'openai' ? (textAt(config, 'organization') ?? env['OPENAI_ORGANIZATION']) : undefined;
  const project = vendor.prefix === 'openai' ? (textAt(config, 'project') ?? env['OPENAI_PROJECT_ID']) : undefined;
  const headers = withOwnHeaders(
    {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: { prefix: 'Bearer ', secret: key } }),
      ...(organization === undefined ? {} : { 'openai-organization': organization }),
      ...(project === undefined ? {} : { 'openai-project': project }),
    },
    config,
    url,
  );
  return createNetworkProvider({
    ...sharedParts(options, context, surroundings),
    model,
    vendor: vendor.failures ?? 'openai',
    ...(vendor.dialect === undefined ? {} : { dialect: vendor.dialect }),
    lane: laneOf({
      vendor: vendor.prefix,
      model,
      baseUrl,
      ...(key === undefined ? {} : { key }),
      ...(organization === undefined ? {} : { organization }),
      ...(project === undefined ? {} : { project }),
      ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
    }),
    accounting: accountingProfiles[vendor.accounting],
    ceiling: vendor.ceiling ?? 512,
    keyVariable: keyVariableOf(rule, config),
    price: surroundings.priceOf(vendor.prices ?? vendor.prefix, model),
    format: formatOf(kind, vendor, model, url, headers, surroundings),
  });
}

/** Databricks' pay-per-token models have an address each. */
function endpoint(vendor: OpenAiVendor, baseUrl: string, kind: OpenAiKind, model: string, payPerToken: boolean): URL {
  if (vendor.prefix !== 'databricks' || !payPerToken) return under(baseUrl, paths[kind]);
  return under(baseUrl, `${model}/invocations/chat/completions`);
}

/** The wire format of a kind of id, for OpenAI, its vendors and Azure alike. */
export function formatOf(
  kind: OpenAiKind,
  vendor: Pick<OpenAiVendor, 'traits'>,
  model: string,
  url: URL,
  headers: Readonly<Record<string, HeaderValue>>,
  { config, env, basePath, code, render }: Surroundings,
): WireFormat {
  const loader = createSettingsLoader(basePath, render ?? createRender(env));
  const common = { model, config, env, url, headers, basePath, code, loader };
  switch (kind) {
    case 'chat':
      return openaiChat({ ...common, ...(vendor.traits === undefined ? {} : { traits: vendor.traits }) });
    case 'responses':
      return openaiResponses(common);
    case 'completion':
      return openaiCompletion(common);
    case 'embedding':
      return openaiEmbedding(common);
    case 'moderation':
      return openaiModeration(common);
  }
}
