import { describe, expect, test } from 'vitest';
import { ParlaneError } from '../domain/errors.ts';
import { realClock } from '../platform/clock.ts';
import type { HttpClient } from './http-client.ts';
import { openaiVendors } from './openai/vendors.ts';
import type { ProviderContext, ProviderOptions } from './provider-factory.ts';
import { resolveProvider } from './resolve-provider.ts';

/** Nothing may be sent while a provider is made. */
const http: HttpClient = {
  send: () => Promise.reject(new Error('sent something')),
  close: () => Promise.resolve(),
};

const keys = { OPENAI_API_KEY: 'k1', ANTHROPIC_API_KEY: 'k2', GOOGLE_API_KEY: 'k3', AZURE_API_KEY: 'k4' };
const context = (env: ProviderContext['env'] = keys): ProviderContext => ({
  clock: realClock,
  env,
  basePath: '/',
  http,
});

function errorOf(options: string | ProviderOptions, env: ProviderContext['env'] = {}): ParlaneError {
  try {
    resolveProvider(options, context(env));
  } catch (error) {
    if (error instanceof ParlaneError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('resolveProvider', () => {
  test.each([
    ['openai:chat:gpt-4.1', 'gpt-4.1'],
    ['openai:gpt-4.1-mini', 'gpt-4.1-mini'],
    ['openai:responses:gpt-5.4', 'gpt-5.4'],
    ['openai:embedding:text-embedding-3-small', 'text-embedding-3-small'],
    ['openai:chat:ft:gpt-4o:org::id', 'ft:gpt-4o:org::id'],
    ['anthropic:messages:claude-sonnet-4-6', 'claude-sonnet-4-6'],
    ['anthropic:claude-opus-5', 'claude-opus-5'],
    ['google:gemini-2.5-pro', 'gemini-2.5-pro'],
    ['ollama:chat:llama3:8b', 'llama3:8b'],
    ['ollama:llama3', 'llama3'],
    ['vllm:meta/llama', 'meta/llama'],
    ['litellm:chat:my-model', 'my-model'],
  ])('knows %s as promptfoo writes it', (id, model) => {
    expect(resolveProvider(id, context())).toMatchObject({ id, model });
  });

  test.each(openaiVendors.map((vendor) => [vendor.prefix, vendor] as const))(
    'knows the vendor %s, and the variable of its key',
    (prefix, vendor) => {
      const options = {
        id: `${prefix}:some/model`,
        ...(prefix === 'databricks' ? { config: { workspaceUrl: 'https://x.databricks.com' } } : {}),
      };
      const variable = vendor.keyVariables[0] ?? '';
      expect(resolveProvider(options, context({ [variable]: 'k' })).laneKey).toMatch(new RegExp(`^${prefix}#`));
      if (vendor.keyOptional) return;
      expect(errorOf(options)).toMatchObject({ code: 'provider/missing-key', fields: { variable } });
      expect(errorOf(options).message).toContain(`Set ${variable}`);
    },
  );

  test('says the nearest name of an unknown provider', () => {
    expect(errorOf('opnai:gpt-4.1').message).toBe('Unknown provider "opnai:gpt-4.1". Did you mean openai:gpt-4.1?');
    expect(errorOf('antropic:messages:x').message).toContain('anthropic:messages:x');
    expect(errorOf('zzzzzzzz').message).toBe('Unknown provider "zzzzzzzz".');
  });

  test('finds missing keys before anything is sent, for every family', () => {
    expect(errorOf('anthropic:messages:claude-opus-5').fields['variable']).toBe('ANTHROPIC_API_KEY');
    expect(errorOf('google:gemini-2.5-pro').fields['variable']).toBe('GOOGLE_API_KEY');
    expect(errorOf('bedrock:amazon.nova-lite-v1:0').fields['variable']).toBe('AWS_ACCESS_KEY_ID');
    expect(errorOf({ id: 'azure:chat:d', config: { apiHost: 'x.openai.azure.com' } }).fields['variable']).toBe(
      'AZURE_API_KEY',
    );
    expect(errorOf({ id: 'openai:gpt-4.1', config: { apiKeyEnvar: 'MY_KEY' } }).fields['variable']).toBe('MY_KEY');
    expect(resolveProvider({ id: 'openai:gpt-4.1', config: { apiKeyRequired: false } }, context({})).model).toBe(
      'gpt-4.1',
    );
  });

  test.each(['not a url', 'ftp://x.com', 'https://user:secretsecret@x.com/v1'])(
    'refuses the base URL %j without showing what is secret in it',
    (apiBaseUrl) => {
      const error = errorOf({ id: 'openai:gpt-4.1', config: { apiBaseUrl } }, keys);
      expect(error.code).toBe('provider/wrong-base-url');
      expect(error.message).not.toContain('secretsecret');
    },
  );

  test('names what is missing in an id or a config', () => {
    expect(errorOf('openai:realtime:gpt-realtime', keys).code).toBe('provider/unsupported');
    expect(errorOf('azure:chat:', keys).code).toBe('provider/missing-model');
    expect(errorOf('azure:chat:d', keys).message).toContain('AZURE_API_BASE_URL');
    expect(errorOf('databricks:m', keys).message).toContain('DATABRICKS_WORKSPACE_URL');
    expect(errorOf({ id: 'http', config: { body: {} } }).code).toBe('provider/wrong-base-url');
    expect(errorOf('https://example.com').code).toBe('provider/missing-body');
  });

  test('tells scopes apart by key, address, organization and model, and shows none of the keys', () => {
    const key = (id: string, config: ProviderOptions['config'] = {}) =>
      resolveProvider({ id, config }, context({ ...keys, OPENAI_API_KEY: 'sk-very-secret' })).laneKey;
    const lanes = [
      key('openai:gpt-4.1'),
      key('openai:gpt-4.1-mini'),
      key('openai:gpt-4.1', { apiKey: 'other' }),
      key('openai:gpt-4.1', { organization: 'o' }),
      key('openai:gpt-4.1', { apiBaseUrl: 'http://localhost:1/v1' }),
    ];
    expect(new Set(lanes).size).toBe(lanes.length);
    expect(key('openai:chat:gpt-4.1')).toBe(lanes[0]);
    expect(lanes.join()).not.toContain('sk-very-secret');
  });

  test('two models of one Claude family share a node, two families do not', () => {
    const shared = (model: string) => resolveProvider(`anthropic:messages:${model}`, context()).nodes[0]?.key;
    expect(shared('claude-sonnet-4-6')).toBe(shared('claude-sonnet-5'));
    expect(shared('claude-sonnet-4-6')).not.toBe(shared('claude-opus-5'));
  });

  test('a lane has the limits of its config, and local models few calls at once', () => {
    const provider = resolveProvider({ id: 'ollama:chat:x', config: { lane: { rpm: 10 } } }, context());
    expect(provider).toMatchObject({ ceiling: 4 });
    expect(provider.nodes.at(-1)).toEqual({ key: provider.laneKey, limits: { rpm: 10 } });
    expect(resolveProvider('openai:gpt-4.1', context()).ceiling).toBe(512);
  });

  test('prices come from the table, from the config, or are unknown', () => {
    const price = (options: string | ProviderOptions) =>
      resolveProvider(options, context()).price({ inputTokens: 1_000_000, outputTokens: 1_000_000 });
    expect(price('openai:gpt-4.1-mini')).toBeCloseTo(2_000_000);
    expect(price({ id: 'openai:gpt-4.1-mini', config: { cost: 0.000001 } })).toBeCloseTo(2_000_000);
    expect(price('openai:no-such-model')).toBeUndefined();
    expect(resolveProvider('openai:gpt-4.1', context()).price({ inputTokens: 5 })).toBeUndefined();
  });
});
