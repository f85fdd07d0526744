import type { Json, JsonObject } from '../../domain/json.ts';
import { guarded } from '../guarded-headers.ts';
import type { HttpRequest } from '../http-client.ts';
import { asObject, textAt } from '../read-json.ts';
import { type Render, renderDeep } from '../render-settings.ts';
import { jsonSafe, parseRawRequest, renderRaw } from './raw-request.ts';

export interface TemplateOptions {
  readonly url: string;
  readonly config: JsonObject;
  readonly render: Render;
  /** Secrets are bound to it; undefined when the address itself is a template. */
  readonly origin: string | undefined;
}

/** The request of one call: every text of the config is a template, rendered once. */
export function renderRequest(options: TemplateOptions, vars: JsonObject, prompt: Json): HttpRequest {
  const { config, render } = options;
  const raw = textAt(config, 'request');
  const values = { ...vars, prompt };
  if (raw !== undefined) return rawRequest(options, raw, values);
  const url = new URL(render(options.url, values));
  for (const [name, value] of Object.entries(asObject(config['queryParams']) ?? {})) {
    url.searchParams.append(name, render(String(value), values));
  }
  addQueryKey(url, config, values, render);
  const method = (
    textAt(config, 'method') === undefined
      ? config['body'] === undefined
        ? 'GET'
        : 'POST'
      : render(String(config['method']), values)
  ).toUpperCase();
  const headers = ownHeaders(config, method, values, render);
  const isJson = (headers['content-type'] ?? '').includes('json');
  const body =
    method === 'GET' || config['body'] === undefined
      ? undefined
      : bodyOf(config['body'], isJson, values, render, prompt);
  return {
    method,
    url,
    headers: guarded(headers, options.origin ?? url.origin),
    ...(body === undefined ? {} : { body }),
  };
}

function rawRequest(
  { url: address, config, render, origin }: TemplateOptions,
  raw: string,
  values: JsonObject,
): HttpRequest {
  const parsed = parseRawRequest(renderRaw(raw, jsonSafe(values), render));
  const secure = address.startsWith('https') || config['useHttps'] === true;
  const url = new URL(parsed.target, `${secure ? 'https' : 'http'}://${parsed.headers['host'] ?? 'localhost'}`);
  addQueryKey(url, config, values, render);
  const { host: _, ...headers } = { ...parsed.headers, ...authHeaders(config, values, render) };
  return {
    method: parsed.method,
    url,
    headers: guarded(headers, origin ?? url.origin),
    ...(parsed.body === '' ? {} : { body: parsed.body }),
  };
}

function ownHeaders(config: JsonObject, method: string, values: JsonObject, render: Render): Record<string, string> {
  const { body } = config;
  const type =
    method === 'GET' || body === undefined
      ? undefined
      : typeof body === 'string'
        ? 'application/x-www-form-urlencoded'
        : 'application/json';
  const own = Object.entries(asObject(config['headers']) ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    render(String(value), values),
  ]);
  return {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...Object.fromEntries(own),
    ...authHeaders(config, values, render),
  };
}

function authHeaders(config: JsonObject, values: JsonObject, render: Render): Record<string, string> {
  const auth = asObject(config['auth']);
  const text = (name: string): string => render(textAt(auth, name) ?? '', values);
  switch (textAt(auth, 'type')) {
    case 'bearer':
      return { authorization: `Bearer ${text('token')}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${text('username')}:${text('password')}`).toString('base64')}` };
    case 'api_key':
      return textAt(auth, 'placement') === 'query' ? {} : { [text('keyName').toLowerCase()]: text('value') };
    default:
      return {};
  }
}

function addQueryKey(url: URL, config: JsonObject, values: JsonObject, render: Render): void {
  const auth = asObject(config['auth']);
  if (textAt(auth, 'type') !== 'api_key' || textAt(auth, 'placement') !== 'query') return;
  url.searchParams.append(render(textAt(auth, 'keyName') ?? '', values), render(textAt(auth, 'value') ?? '', values));
}

function bodyOf(template: Json, isJson: boolean, values: JsonObject, render: Render, prompt: Json): string {
  if (!isJson)
    return typeof template === 'string'
      ? render(template, values).trim()
      : JSON.stringify(renderDeep(template, values, render));
  const written = typeof template === 'string' ? parsedOr(template) : template;
  const asked = asObject(prompt);
  if (asked !== undefined) return JSON.stringify({ ...asObject(written), ...asked });
  if (typeof written === 'string') return jsonText(written, values, render);
  return JSON.stringify(unpacked(renderDeep(written, values, render)));
}

/** A JSON text with slots: values are put in as they are, or, where that breaks the JSON, escaped. */
function jsonText(template: string, values: JsonObject, render: Render): string {
  const plain = render(template, values);
  if (typeof parsedOr(plain) !== 'string') return plain;
  const escaped = render(template, jsonSafe(values));
  return typeof parsedOr(escaped) === 'string' ? plain : escaped;
}

/** A slot that was filled with a JSON object or list becomes that object or list. */
function unpacked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unpacked);
  const object = asObject(value);
  if (object !== undefined)
    return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, unpacked(item)]));
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  const parsed = parsedOr(value);
  return typeof parsed === 'object' && parsed !== null ? parsed : value;
}

function parsedOr(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
