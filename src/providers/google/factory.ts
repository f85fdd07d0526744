import { ParlaneError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { accountingProfiles } from '../accounting.ts';
import type { HeaderValue } from '../http-client.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import type { ProviderFactory, ProviderOptions } from '../provider-factory.ts';
import { textAt } from '../read-json.ts';
import { createSettingsLoader } from '../render-settings.ts';
import { type Surroundings, surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, type Environment, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';
import { geminiEmbedding, geminiFormat } from './gemini.ts';

const studio = {
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  baseUrlVariables: ['GOOGLE_API_BASE_URL', 'GEMINI_BASE_URL'],
  hostVariables: ['GOOGLE_API_HOST', 'PALM_API_HOST'],
  hostPath: '/v1beta',
  keyVariables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY', 'PALM_API_KEY'],
};

/** Vertex with an access token or an API key; fetching tokens is left to `gcloud auth print-access-token`. */
const vertex = {
  baseUrl: '',
  baseUrlVariables: ['VERTEX_API_BASE_URL'],
  hostVariables: ['VERTEX_API_HOST'],
  hostPath: '/v1',
  keyVariables: ['VERTEX_ACCESS_TOKEN', 'GOOGLE_ACCESS_TOKEN', 'VERTEX_API_KEY'],
};

/** `google:<model>`, `google:embedding:<model>`, `palm:<model>` and `vertex:<model>`. */
export const googleFactory: ProviderFactory = {
  matches: (id) => /^(?:google|palm|vertex):/.test(id),
  create(options, context) {
    const isVertex = options.id.startsWith('vertex:');
    const { model, embeds } = modelOf(options);
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const place = isVertex ? vertexPlace(config, env) : undefined;
    const rule = { ...(place === undefined ? studio : { ...vertex, baseUrl: place.baseUrl }), id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const path = `${place?.path ?? ''}models/${encodeURIComponent(model)}:${embeds ? 'embedContent' : 'generateContent'}`;
    const url = under(baseUrl, path);
    const key = keyOf(rule, config, env, url);
    const headers: Record<string, HeaderValue> = { 'content-type': 'application/json' };
    if (key !== undefined) {
      const byToken = isVertex && textAt(config, 'apiKey') === undefined && env['VERTEX_ACCESS_TOKEN'] !== undefined;
      headers[byToken ? 'authorization' : 'x-goog-api-key'] = { prefix: byToken ? 'Bearer ' : '', secret: key };
    }
    const format = {
      model,
      config,
      url,
      headers: withOwnHeaders(headers, config, url),
      loader: loaderOf(surroundings),
    };
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'google',
      lane: laneOf({
        vendor: isVertex ? 'vertex' : 'google',
        model,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(place === undefined ? {} : { project: place.project, region: place.region }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.google,
      ceiling: 512,
      keyVariable: keyVariableOf(rule, config),
      price: surroundings.priceOf('google', model),
      format: embeds ? geminiEmbedding(format) : geminiFormat(format),
    });
  },
};

const loaderOf = (surroundings: Surroundings) => createSettingsLoader(surroundings.basePath, surroundings.render);

function modelOf({ id }: ProviderOptions): { model: string; embeds: boolean } {
  const [, second = '', ...rest] = id.split(':');
  const embeds = second === 'embedding' || second === 'embeddings';
  if (['live', 'image', 'video', 'interactions'].includes(second)) {
    throw new ParlaneError(
      'provider/unsupported',
      `${id} is not a model behind one JSON call and is not supported.`,
      'Write google:<model>.',
      { provider: id },
    );
  }
  const model = embeds || second === 'chat' ? rest.join(':') : [second, ...rest].join(':');
  if (model === '')
    throw new ParlaneError('provider/missing-model', `${id} names no model.`, 'Write google:<model>.', {
      provider: id,
    });
  return { model, embeds };
}

interface VertexPlace {
  readonly project: string;
  readonly region: string;
  readonly baseUrl: string;
  readonly path: string;
}

function vertexPlace(config: JsonObject, env: Environment): VertexPlace {
  const project =
    textAt(config, 'projectId') ??
    env['VERTEX_PROJECT_ID'] ??
    env['GOOGLE_PROJECT_ID'] ??
    env['GOOGLE_CLOUD_PROJECT'] ??
    '';
  const region = textAt(config, 'region') ?? env['VERTEX_REGION'] ?? env['GOOGLE_CLOUD_LOCATION'] ?? 'us-central1';
  const host = region === 'global' ? 'aiplatform.googleapis.com' : `${region}-aiplatform.googleapis.com`;
  const publisher = textAt(config, 'publisher') ?? 'google';
  const path =
    project === '' ? `publishers/${publisher}/` : `projects/${project}/locations/${region}/publishers/${publisher}/`;
  return { project, region, baseUrl: `https://${host}/v1`, path };
}
