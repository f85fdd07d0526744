import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ParlaneError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Clock } from '../../platform/clock.ts';
import { bedrockAccounting } from '../accounting.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { textAt } from '../read-json.ts';
import { createSettingsLoader } from '../render-settings.ts';
import { Secret } from '../secret.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, type Environment, under } from '../target.ts';
import { bedrockConverse } from './converse.ts';
import { type AwsKeys, awsSigner, bearerSigner, type Signer } from './sign.ts';

/** `bedrock:<model>` and `bedrock:converse:<model>`; both speak converse. */
export const bedrockFactory: ProviderFactory = {
  matches: (id) => id.startsWith('bedrock:'),
  create(options, context) {
    const model = modelOf(options.id);
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const region =
      textAt(config, 'region') ??
      env['AWS_BEDROCK_REGION'] ??
      env['AWS_REGION'] ??
      env['AWS_DEFAULT_REGION'] ??
      'us-east-1';
    const baseUrl = baseUrlOf(
      {
        id: options.id,
        baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
        baseUrlVariables: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'BEDROCK_BASE_URL'],
        hostPath: '',
      },
      {
        ...(textAt(config, 'endpoint') === undefined ? {} : { apiBaseUrl: textAt(config, 'endpoint') ?? '' }),
        ...config,
      },
      env,
    );
    const url = under(baseUrl, `model/${encodeURIComponent(model)}/converse`);
    const { signer, scope } = signerOf(options.id, config, env, region, url, context.clock);
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'bedrock',
      lane: laneOf({
        vendor: 'bedrock',
        model,
        baseUrl,
        region,
        ...(scope === undefined ? {} : { key: scope }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: bedrockAccounting(model),
      ceiling: 512,
      keyVariable: 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      price: surroundings.priceOf('aws', model),
      format: bedrockConverse({
        config,
        env,
        url,
        loader: createSettingsLoader(surroundings.basePath, surroundings.render),
        signer,
      }),
    });
  },
};

function modelOf(id: string): string {
  const [, second = '', ...rest] = id.split(':');
  if (['agents', 'kb', 'video', 'nova-sonic', 'embeddings', 'embedding', 'mantle'].includes(second)) {
    throw new ParlaneError(
      'provider/unsupported',
      `${id} is not served by converse and is not supported.`,
      'Write bedrock:<model>.',
      { provider: id },
    );
  }
  const model = second === 'converse' || second === 'completion' ? rest.join(':') : [second, ...rest].join(':');
  if (model === '')
    throw new ParlaneError('provider/missing-model', `${id} names no model.`, 'Write bedrock:<model>.', {
      provider: id,
    });
  return model;
}

function signerOf(
  id: string,
  config: JsonObject,
  env: Environment,
  region: string,
  url: URL,
  clock: Clock,
): { signer: Signer; scope?: Secret } {
  const bearer = textAt(config, 'apiKey') ?? env['AWS_BEARER_TOKEN_BEDROCK'];
  if (bearer !== undefined && bearer !== '') {
    const scope = new Secret(bearer, url.origin);
    return { signer: bearerSigner(scope), scope };
  }
  const keys = keysIn(config, env, url.origin);
  const profile = textAt(config, 'profile') ?? env['AWS_PROFILE'];
  if (keys === undefined && profile === undefined && config['apiKeyRequired'] !== false && !hasOtherCredentials(env)) {
    throw new ParlaneError(
      'provider/missing-key',
      `${id} needs AWS credentials and there are none.`,
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK, or `profile` in the provider's config; `apiKeyRequired: false` asks the machine's own role.",
      { provider: id, variable: 'AWS_ACCESS_KEY_ID' },
    );
  }
  const scope = new Secret(keys?.accessKeyId ?? profile ?? 'default', url.origin);
  return { signer: awsSigner(region, keys, profile, clock), scope };
}

function keysIn(config: JsonObject, env: Environment, origin: string): AwsKeys | undefined {
  const accessKeyId = textAt(config, 'accessKeyId') ?? env['AWS_ACCESS_KEY_ID'];
  const secret = textAt(config, 'secretAccessKey') ?? env['AWS_SECRET_ACCESS_KEY'];
  const token = textAt(config, 'sessionToken') ?? env['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secret) return undefined;
  return {
    accessKeyId,
    secretAccessKey: new Secret(secret, origin),
    ...(token ? { sessionToken: new Secret(token, origin) } : {}),
  };
}

/** Signs that AWS's own chain will find something: web identity, a container, or files in the home folder. */
const hasOtherCredentials = (env: Environment): boolean =>
  [
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_SHARED_CREDENTIALS_FILE',
  ].some((name) => env[name]) ||
  (env['HOME'] !== undefined && existsSync(join(env['HOME'], '.aws')));
