import { ParlaneError } from '../../domain/errors.ts';
import { accountingProfiles } from '../accounting.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { createSettingsLoader } from '../render-settings.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, under, withOwnHeaders } from '../target.ts';
import { type OllamaKind, ollamaFormat } from './wire.ts';

const rules = {
  baseUrl: 'http://localhost:11434',
  baseUrlVariables: ['OLLAMA_BASE_URL', 'OLLAMA_API_BASE_URL'],
  hostPath: '',
  keyVariables: ['OLLAMA_API_KEY'],
  keyOptional: true,
};

const kinds: Readonly<Record<string, OllamaKind>> = {
  chat: 'chat',
  completion: 'completion',
  embedding: 'embedding',
  embeddings: 'embedding',
};
const paths: Readonly<Record<OllamaKind, string>> = {
  chat: 'api/chat',
  completion: 'api/generate',
  embedding: 'api/embeddings',
};

/** `ollama:{chat,completion,embeddings}:<model>`; a bare model completes. */
export const ollamaFactory: ProviderFactory = {
  matches: (id) => id.startsWith('ollama:'),
  create(options, context) {
    const [, second = '', ...rest] = options.id.split(':');
    const named = Object.hasOwn(kinds, second) ? kinds[second] : undefined;
    const kind = named ?? 'completion';
    const model = named === undefined ? [second, ...rest].join(':') : rest.join(':');
    if (model === '')
      throw new ParlaneError('provider/missing-model', `${options.id} names no model.`, 'Write ollama:chat:<model>.', {
        provider: options.id,
      });
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const rule = { ...rules, id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const url = under(baseUrl, paths[kind]);
    const key = keyOf(rule, config, env, url);
    const headers = withOwnHeaders(
      {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: { prefix: 'Bearer ', secret: key } }),
      },
      config,
      url,
    );
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'ollama',
      lane: laneOf({
        vendor: 'ollama',
        model,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.concurrency,
      ceiling: 4,
      // A model on one's own machine costs nothing per token.
      price: () => 0,
      format: ollamaFormat(kind, {
        model,
        config,
        url,
        headers,
        loader: createSettingsLoader(surroundings.basePath, surroundings.render),
      }),
    });
  },
};
