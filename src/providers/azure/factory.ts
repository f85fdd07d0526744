import { ParlaneError } from '../../domain/errors.ts';
import { accountingProfiles } from '../accounting.ts';
import type { HeaderValue } from '../http-client.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ChatTraits } from '../openai/chat-body.ts';
import { formatOf, type OpenAiKind } from '../openai/factory.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { textAt } from '../read-json.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';

const rules = {
  baseUrl: '',
  baseUrlVariables: ['AZURE_API_BASE_URL', 'AZURE_OPENAI_API_BASE_URL', 'AZURE_OPENAI_BASE_URL'],
  hostVariables: ['AZURE_API_HOST', 'AZURE_OPENAI_API_HOST'],
  hostPath: '',
  keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
};

const kinds: Readonly<Record<string, OpenAiKind>> = {
  chat: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  embeddings: 'embedding',
  responses: 'responses',
};

const paths: Readonly<Record<OpenAiKind, string>> = {
  chat: 'chat/completions',
  completion: 'completions',
  embedding: 'embeddings',
  responses: 'responses',
  moderation: 'moderations',
};

const traits: ChatTraits = { extra: ['data_sources', 'dataSources', 'deployment_id'] };

/** `azure:{chat,completion,embedding,responses}:<deployment>`; `azureopenai:` is its old name. */
export const azureFactory: ProviderFactory = {
  matches: (id) => id.startsWith('azure:') || id.startsWith('azureopenai:'),
  create(options, context) {
    const { kind, deployment } = kindOf(options.id);
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const rule = { ...rules, id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const url = endpoint(baseUrl, kind, deployment, textAt(config, 'apiVersion'));
    const key = keyOf(rule, config, env, url);
    const ours: Record<string, HeaderValue> = { 'content-type': 'application/json' };
    if (key !== undefined) ours['api-key'] = { prefix: '', secret: key };
    const model = textAt(config, 'modelName') ?? deployment;
    const isReasoning = config['isReasoningModel'] === true || config['o1'] === true;
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'azure',
      lane: laneOf({
        vendor: 'azure',
        model: deployment,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.azure,
      ceiling: 512,
      keyVariable: keyVariableOf(rule, config),
      price: surroundings.priceOf('azure', model) ?? surroundings.priceOf('openai', model),
      format: formatOf(
        kind,
        { traits: isReasoning ? { ...traits, reasoning: () => true } : traits },
        deployment,
        url,
        withOwnHeaders(ours, config, url),
        surroundings,
      ),
    });
  },
};

function kindOf(id: string): { kind: OpenAiKind; deployment: string } {
  const [, second = '', ...rest] = id.split(':');
  const kind = Object.hasOwn(kinds, second) ? kinds[second] : undefined;
  const deployment = rest.join(':');
  if (kind === undefined) {
    throw new ParlaneError(
      'provider/unsupported',
      `${id}: Azure has no such kind of deployment here.`,
      `Write azure:chat:<deployment>, or one of ${Object.keys(kinds).join(', ')}.`,
      { provider: id },
    );
  }
  if (deployment === '')
    throw new ParlaneError(
      'provider/missing-model',
      `${id} names no deployment.`,
      `Write azure:${second}:<deployment>.`,
      { provider: id },
    );
  return { kind, deployment };
}

/** Deployments have an address each; the responses API has one for all. */
function endpoint(baseUrl: string, kind: OpenAiKind, deployment: string, version: string | undefined): URL {
  const url =
    kind === 'responses'
      ? under(baseUrl, 'openai/v1/responses')
      : under(baseUrl, `openai/deployments/${encodeURIComponent(deployment)}/${paths[kind]}`);
  if (!url.searchParams.has('api-version'))
    url.searchParams.set('api-version', version ?? (kind === 'responses' ? 'preview' : '2024-12-01-preview'));
  return url;
}
