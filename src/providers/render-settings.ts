import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import nunjucks from 'nunjucks';
import { parse as parseYaml } from 'yaml';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ProviderContext } from './provider-factory.ts';
import { asObject } from './read-json.ts';

/** Puts variables into the author's text; unknown names become nothing, as in promptfoo. */
export type Render = (template: string, vars: JsonObject) => string;

/** The template engine of provider settings, unless the run brings its own. */
export function createRender(env: ProviderContext['env']): Render {
  const engine = new nunjucks.Environment(null, { autoescape: false });
  return (template, vars) => (/\{[{%#]/.test(template) ? engine.renderString(template, { env, ...vars }) : template);
}

/** Every string within a setting, rendered. Values are put in once and never rendered again. */
export function renderDeep(setting: Json, vars: JsonObject, render: Render): Json {
  if (typeof setting === 'string') return render(setting, vars);
  if (Array.isArray(setting)) return setting.map((item) => renderDeep(item, vars, render));
  const object = asObject(setting);
  if (object === undefined) return setting;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, renderDeep(value, vars, render)]));
}

/** Loads `file://` settings and puts variables in; settings that need neither are passed through untouched. */
export interface SettingsLoader {
  /** Tools, functions and the like: rendered, files loaded, lists of lists made flat. */
  load(setting: Json, vars: JsonObject | undefined): Json;
  /** A response format: its schema may stand in a file of its own. */
  responseFormat(setting: Json, vars: JsonObject | undefined): Json;
  render(setting: Json, vars: JsonObject | undefined): Json;
}

const isDynamic = (setting: Json): boolean => /\{[{%#]|file:\/\//.test(JSON.stringify(setting) ?? '');

export function createSettingsLoader(basePath: string, render: Render): SettingsLoader {
  const dynamic = new WeakMap<object, boolean>();
  const needsWork = (setting: Json): boolean => {
    if (typeof setting !== 'object' || setting === null) return isDynamic(setting);
    const known = dynamic.get(setting) ?? isDynamic(setting);
    dynamic.set(setting, known);
    return known;
  };
  const load = (setting: Json, vars: JsonObject = {}): Json => {
    if (!needsWork(setting)) return setting;
    const rendered = renderDeep(setting, vars, render);
    if (Array.isArray(rendered)) {
      const loaded = rendered.map((item) => loadFile(item, basePath));
      return loaded.every((item) => Array.isArray(item)) ? loaded.flat() : loaded;
    }
    return loadFile(rendered, basePath);
  };
  const responseFormat = (setting: Json, vars: JsonObject = {}): Json => {
    const format = asObject(load(setting, vars));
    if (format === undefined) return load(setting, vars);
    if (format['schema'] !== undefined) return { ...format, schema: load(format['schema'], vars) };
    const named = asObject(format['json_schema']);
    if (named?.['schema'] === undefined) return format;
    return { ...format, json_schema: { ...named, schema: load(named['schema'], vars) } };
  };
  return {
    load,
    responseFormat,
    render: (setting, vars = {}) => (needsWork(setting) ? renderDeep(setting, vars, render) : setting),
  };
}

function loadFile(setting: Json, basePath: string): Json {
  if (typeof setting !== 'string' || !setting.startsWith('file://')) return setting;
  const named = setting.slice('file://'.length);
  const path = isAbsolute(named) ? named : resolve(basePath, named);
  try {
    const text = readFileSync(path, 'utf8');
    return path.endsWith('.json') ? JSON.parse(text) : /\.ya?ml$/.test(path) ? parseYaml(text) : text;
  } catch (error) {
    throw new ParlaneError(
      'provider/unreadable-file',
      `${setting} in a provider's config cannot be read: ${error instanceof Error ? error.message : 'unknown'}.`,
      'Paths start from the folder of the config file.',
      { path },
    );
  }
}
