import { ParlaneError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { guarded } from './guarded-headers.ts';
import type { HeaderValue } from './http-client.ts';
import { asObject, textAt } from './read-json.ts';
import { Secret } from './secret.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const first = (env: Environment, names: readonly string[]): string | undefined =>
  names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');

export interface BaseUrlRule {
  readonly id: string;
  readonly baseUrl: string;
  readonly baseUrlVariables: readonly string[];
  readonly hostVariables?: readonly string[] | undefined;
  /** Put after a base URL that came from a variable. */
  readonly basePath?: string | undefined;
  /** What follows a host: `/v1` unless told. */
  readonly hostPath?: string;
}

/** Where calls go: `apiHost`, `apiBaseUrl`, then the variables, then the vendor's own address. */
export function baseUrlOf(rule: BaseUrlRule, config: JsonObject, env: Environment): string {
  const host =
    textAt(config, 'apiHost') ??
    (textAt(config, 'apiBaseUrl') === undefined ? first(env, rule.hostVariables ?? []) : undefined);
  if (host !== undefined)
    return checkedUrl(`${/^https?:\/\//.test(host) ? host : `https://${host}`}${rule.hostPath ?? '/v1'}`, rule.id);
  const own = textAt(config, 'apiBaseUrl');
  if (own !== undefined) return checkedUrl(own, rule.id);
  const workspace = textAt(config, 'workspaceUrl') ?? first(env, rule.baseUrlVariables);
  if (workspace !== undefined) return checkedUrl(workspace.replace(/\/+$/, '') + (rule.basePath ?? ''), rule.id);
  if (rule.baseUrl !== '') return rule.baseUrl;
  throw new ParlaneError(
    'provider/missing-base-url',
    `${rule.id} has no address.`,
    `Set ${rule.baseUrlVariables[0] ?? 'apiBaseUrl'}, or \`apiBaseUrl\` in the provider's config.`,
    { provider: rule.id },
  );
}

function checkedUrl(text: string, id: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return text;
  throw new ParlaneError(
    'provider/wrong-base-url',
    `The base URL of ${id} is not usable: ${JSON.stringify(text.replace(/\/\/[^/@]*@/, '//***@'))}.`,
    'It must be an http or https address without a user name, such as https://api.openai.com/v1.',
    { provider: id },
  );
}

/** `<base>/<path>`, keeping a query that the base has. */
export function under(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
  return url;
}

export interface KeyRule {
  readonly id: string;
  readonly keyVariables: readonly string[];
  readonly keyOptional?: boolean | undefined;
}

/** The key, bound to the origin it was given for; a missing one is an error that names the variable to set. */
export function keyOf(rule: KeyRule, config: JsonObject, env: Environment, url: URL): Secret | undefined {
  const variable = textAt(config, 'apiKeyEnvar');
  const names = variable === undefined ? rule.keyVariables : [variable];
  const value = textAt(config, 'apiKey') ?? first(env, names);
  if (value !== undefined && value !== '') return new Secret(value, url.origin);
  if (rule.keyOptional === true || config['apiKeyRequired'] === false) return undefined;
  throw new ParlaneError(
    'provider/missing-key',
    `${rule.id} needs a key and there is none.`,
    `Set ${names[0] ?? 'its key variable'}, or \`apiKey\` in the provider's config.`,
    { provider: rule.id, variable: names[0] ?? null },
  );
}

/** Which variable a person would have to look at. */
export const keyVariableOf = (rule: KeyRule, config: JsonObject): string | undefined =>
  textAt(config, 'apiKeyEnvar') ?? rule.keyVariables[0];

/** Headers of the config's author, put over ours whatever their case. */
export function withOwnHeaders(
  ours: Readonly<Record<string, HeaderValue>>,
  config: JsonObject,
  url: URL,
): Readonly<Record<string, HeaderValue>> {
  const given = Object.entries(asObject(config['headers']) ?? {});
  if (given.length === 0) return ours;
  const own = Object.entries(
    guarded(Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)])), url.origin),
  );
  const taken = new Set(own.map(([name]) => name));
  const kept = Object.entries(ours).filter(([name]) => !taken.has(name.toLowerCase()));
  return Object.fromEntries([...kept, ...own]);
}
