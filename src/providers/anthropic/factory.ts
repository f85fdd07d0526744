import { ParlaneError } from '../../domain/errors.ts';
import { accountingProfiles } from '../accounting.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { createSettingsLoader } from '../render-settings.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';
import { anthropicMessages } from './messages.ts';

const rules = {
  baseUrl: 'https://api.anthropic.com',
  baseUrlVariables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE_URL'],
  hostPath: '',
  keyVariables: ['ANTHROPIC_API_KEY'],
};

/** `anthropic:messages:<model>` and `anthropic:<model>`. */
export const anthropicFactory: ProviderFactory = {
  matches: (id) => id.startsWith('anthropic:'),
  create(options, context) {
    const model = modelOf(options.id);
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const rule = { ...rules, id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const url = under(baseUrl, 'v1/messages');
    const key = keyOf(rule, config, env, url);
    const headers = withOwnHeaders(
      {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...(key === undefined ? {} : { 'x-api-key': { prefix: '', secret: key } }),
      },
      config,
      url,
    );
    const family = familyOf(model);
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'anthropic',
      lane: laneOf({
        vendor: 'anthropic',
        model,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(family === undefined ? {} : { family }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.anthropic,
      ceiling: 512,
      keyVariable: keyVariableOf(rule, config),
      price: surroundings.priceOf('anthropic', model),
      format: anthropicMessages({
        model,
        config,
        env,
        url,
        headers,
        loader: createSettingsLoader(surroundings.basePath, surroundings.render),
      }),
    });
  },
};

/** Limits are pooled over all models of a family. */
export const familyOf = (model: string): string | undefined => /(opus|sonnet|haiku|fable|mythos)/.exec(model)?.[1];

function modelOf(id: string): string {
  const [, second = '', ...rest] = id.split(':');
  const model = second === 'messages' ? rest.join(':') : second;
  const known = second === 'messages' || /^claude/.test(second);
  if (known && model !== '') return model;
  throw new ParlaneError(
    'provider/unsupported',
    `${id} is not a model of the messages API.`,
    'Write anthropic:messages:<model>.',
    { provider: id },
  );
}
