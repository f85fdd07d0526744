import { ParlaneError } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import { accountingProfiles } from '../accounting.ts';
import type { HeaderValue } from '../http-client.ts';
import { laneOf } from '../lane-scope.ts';
import { sharedParts } from '../network-parts.ts';
import { createNetworkProvider } from '../network-provider.ts';
import { openaiChat } from '../openai/chat.ts';
import type { ProviderFactory } from '../provider-factory.ts';
import { at, countAt, listAt, textAt } from '../read-json.ts';
import { createSettingsLoader } from '../render-settings.ts';
import { surroundingsOf } from '../surroundings.ts';
import { baseUrlOf, keyOf, keyVariableOf, under, withOwnHeaders } from '../target.ts';
import { type FormatProblem, problem, type ReplyDraft, type WireFormat } from '../wire-format.ts';

const rules = {
  baseUrl: 'https://router.huggingface.co',
  baseUrlVariables: ['HF_BASE_URL', 'HUGGINGFACE_BASE_URL'],
  hostPath: '',
  keyVariables: ['HF_TOKEN', 'HF_API_TOKEN'],
};

const tasks = ['chat', 'text-generation', 'feature-extraction', 'text-classification', 'sentence-similarity'];

/** `huggingface:{chat,text-generation,feature-extraction,text-classification,sentence-similarity}:<model>`, also `hf:`. */
export const huggingfaceFactory: ProviderFactory = {
  matches: (id) => id.startsWith('huggingface:') || id.startsWith('hf:'),
  create(options, context) {
    const [, task = '', ...rest] = options.id.split(':');
    const model = rest.join(':');
    if (!tasks.includes(task) || model === '') {
      throw new ParlaneError(
        'provider/unsupported',
        `${options.id} names no task and model.`,
        `Write huggingface:<task>:<model>, the task being one of ${tasks.join(', ')}.`,
        { provider: options.id },
      );
    }
    const surroundings = surroundingsOf(options, context);
    const { config, env } = surroundings;
    const rule = { ...rules, id: options.id };
    const baseUrl = baseUrlOf(rule, config, env);
    const own = textAt(config, 'apiEndpoint');
    const url =
      own === undefined
        ? under(baseUrl, task === 'chat' ? 'v1/chat/completions' : `hf-inference/models/${model}`)
        : new URL(own);
    const key = keyOf(rule, config, env, url);
    const headers = withOwnHeaders(
      {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: { prefix: 'Bearer ', secret: key } }),
      },
      config,
      url,
    );
    const loader = createSettingsLoader(surroundings.basePath, surroundings.render);
    return createNetworkProvider({
      ...sharedParts(options, context, surroundings),
      model,
      vendor: 'openai',
      lane: laneOf({
        vendor: 'huggingface',
        model,
        baseUrl,
        ...(key === undefined ? {} : { key }),
        ...(surroundings.limits === undefined ? {} : { limits: surroundings.limits }),
      }),
      accounting: accountingProfiles.plain,
      ceiling: 512,
      keyVariable: keyVariableOf(rule, config),
      price: surroundings.priceOf('huggingface', model),
      format:
        task === 'chat'
          ? openaiChat({
              model,
              config,
              env,
              url,
              headers,
              basePath: surroundings.basePath,
              code: surroundings.code,
              loader,
            })
          : inferenceFormat(task, config, url, headers),
    });
  },
};

function inferenceFormat(
  task: string,
  config: JsonObject,
  url: URL,
  headers: Readonly<Record<string, HeaderValue>>,
): WireFormat {
  return {
    build(request) {
      const body = bodyFor(task, config, request);
      if (body === undefined)
        return problem('invalid_request', `a model for ${task} cannot answer a request for ${request.kind}.`);
      return { method: 'POST', url, headers, body: JSON.stringify(body) };
    },
    read: ({ body }) => readers[task]?.(body) ?? problem('bad_response', 'the answer has an unknown shape.'),
  };
}

function bodyFor(task: string, config: JsonObject, request: ModelRequest): JsonObject | undefined {
  if (task === 'sentence-similarity') {
    return request.kind === 'similarity'
      ? { inputs: { source_sentence: request.expected, sentences: [request.input] }, options: {} }
      : undefined;
  }
  const inputs = request.kind === 'chat' ? request.prompt : request.kind === 'similarity' ? undefined : request.input;
  if (inputs === undefined) return undefined;
  const { apiKey: _, apiEndpoint: __, ...parameters } = config;
  return task === 'text-generation'
    ? { inputs, parameters: { return_full_text: false, ...parameters } }
    : { inputs, parameters: {} };
}

const draft = (output: Json, rest: Partial<ReplyDraft> = {}): ReplyDraft => ({
  kind: 'draft',
  text: typeof output === 'string' ? output : JSON.stringify(output),
  output,
  finishReason: 'stop',
  ...rest,
});

const readers: Readonly<Record<string, (body: Json) => ReplyDraft | FormatProblem | undefined>> = {
  'text-generation': (body) => {
    const text = textAt(body, 0, 'generated_text') ?? textAt(body, 'generated_text');
    return text === undefined ? undefined : draft(text);
  },
  'text-classification': (body) => {
    const rows = listAt(body, 0).length > 0 ? listAt(body, 0) : listAt(body);
    if (rows.length === 0) return undefined;
    const scores = Object.fromEntries(rows.map((row) => [textAt(row, 'label') ?? '', countAt(row, 'score') ?? 0]));
    return draft(JSON.stringify(scores), { scores });
  },
  'sentence-similarity': (body) => {
    const score = at(body, 0);
    return typeof score === 'number' ? draft(score, { scores: { similarity: score } }) : undefined;
  },
  'feature-extraction': (body) => {
    const list = Array.isArray(at(body, 0)) ? listAt(body, 0) : listAt(body);
    const embedding = list.filter((value): value is number => typeof value === 'number');
    return embedding.length === 0 ? undefined : draft(embedding, { embedding, text: '' });
  },
};
