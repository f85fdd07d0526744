/** Providers of a config: ids, maps, and files that hold one or many. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts';
import type { SuiteProvider } from '../domain/suite.ts';
import { renderEnvironment } from '../prompts/env-template.ts';
import { loadReferences } from './external-files.ts';
import { absolute } from './file-reference.ts';
import { type Loading, readSource } from './loading.ts';
import { providerSchema } from './schema.ts';

type Fault = (message: string, hint?: string) => void;
type Draft = Omit<SuiteProvider, 'name'>;

const isProviderFile = (id: string): boolean => /^file:\/\/.*\.(?:ya?ml|json)$/.test(id);

const textMap = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([key, part]) => [key, String(part)]));

/** A provider's settings with the environment put in; templates over vars stay. */
function draft(id: string, options: JsonObject, env: Loading['env']): Draft {
  const own = { ...env, ...textMap(options['env']) };
  const { label, config, prompts, transform, delay, inputs } = options;
  return {
    id: renderEnvironment(id, own),
    ...(typeof label === 'string' && label !== '' ? { label: renderEnvironment(label, own) } : {}),
    ...(isObject(config) ? { config: renderEnvironment(config, own) } : {}),
    ...(Array.isArray(prompts) ? { prompts: prompts.map(String) } : {}),
    ...(typeof transform === 'string' ? { transform } : {}),
    ...(typeof delay === 'number' ? { delay } : {}),
    ...(isObject(options['env']) ? { env: textMap(options['env']) } : {}),
    ...(inputs === undefined ? {} : { inputs }),
  };
}

/** The id and the options of an entry in any of its forms. */
function providerForm(entry: Json): { readonly id: string; readonly options: JsonObject } | undefined {
  if (typeof entry === 'string') return entry === '' ? undefined : { id: entry, options: {} };
  if (!isObject(entry)) return undefined;
  if (typeof entry['id'] === 'string' && entry['id'] !== '') return { id: entry['id'], options: entry };
  const [only, ...others] = Object.keys(entry);
  if (only === undefined || others.length > 0 || Object.hasOwn(providerSchema.shape, only)) return undefined;
  const inner = entry[only];
  if (!isObject(inner)) return undefined;
  return { id: typeof inner['id'] === 'string' && inner['id'] !== '' ? inner['id'] : only, options: inner };
}

async function fromFile(reference: string, folder: string, loading: Loading, fault: Fault): Promise<Json[]> {
  const path = absolute(reference.slice('file://'.length), folder);
  const document = await readSource(path, loading);
  if (document === undefined) fault(`there is no provider file ${loading.shown(path)}`);
  if (document?.value === undefined) return [];
  const loaded = await loadReferences(document.value, folder, loading, fault);
  return Array.isArray(loaded) ? [...loaded] : [loaded];
}

/** All providers that the entries stand for, each with a name of its own. */
export async function readProviders(
  entries: readonly Json[],
  folder: string,
  loading: Loading,
  fault: (at: number) => Fault,
): Promise<SuiteProvider[]> {
  const drafts: Draft[] = [];
  for (const [at, entry] of entries.entries()) {
    const rendered = typeof entry === 'string' ? renderEnvironment(entry, loading.env) : entry;
    const parts =
      typeof rendered === 'string' && isProviderFile(rendered)
        ? await fromFile(rendered, folder, loading, fault(at))
        : [rendered];
    for (const part of parts) {
      const form = providerForm(part);
      if (form === undefined) fault(at)('this provider has no "id"', 'for example id: openai:chat:gpt-4.1');
      else drafts.push(draft(form.id, form.options, loading.env));
    }
  }
  return named(drafts);
}

/** Gives each provider its name; equals are told apart by number. */
export function named(drafts: readonly Draft[]): SuiteProvider[] {
  const seen = new Map<string, number>();
  return drafts.map((provider) => {
    const base = provider.label ?? provider.id;
    const number = (seen.get(base) ?? 0) + 1;
    seen.set(base, number);
    return { name: number === 1 ? base : `${base}#${number}`, ...provider };
  });
}
