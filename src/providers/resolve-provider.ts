import { distance } from 'fastest-levenshtein';
import { ParlaneError } from '../domain/errors.ts';
import type { Provider } from '../domain/provider.ts';
import { anthropicFactory } from './anthropic/factory.ts';
import { azureFactory } from './azure/factory.ts';
import { bedrockFactory } from './bedrock/factory.ts';
import { googleFactory } from './google/factory.ts';
import { httpFactory } from './http/factory.ts';
import { huggingfaceFactory } from './huggingface/factory.ts';
import { ollamaFactory } from './ollama/factory.ts';
import { openaiFactory } from './openai/factory.ts';
import { openaiVendors } from './openai/vendors.ts';
import { programFactories } from './program-factories.ts';
import type { ProviderContext, ProviderFactory, ProviderOptions } from './provider-factory.ts';
import { replicateFactory } from './replicate/factory.ts';

/** The network families; program providers and `sim:` are in `program-factories.ts`. */
const networkFactories: readonly ProviderFactory[] = [
  openaiFactory,
  anthropicFactory,
  azureFactory,
  bedrockFactory,
  googleFactory,
  ollamaFactory,
  httpFactory,
  huggingfaceFactory,
  replicateFactory,
];

/** Prefixes for the advice on an unknown id. */
const knownPrefixes: readonly string[] = [
  ...openaiVendors.map(({ prefix }) => prefix),
  ...['azure', 'anthropic', 'bedrock', 'google', 'vertex', 'ollama', 'huggingface', 'replicate', 'http', 'https'],
  ...['file', 'exec', 'python', 'echo', 'sequence', 'sim'],
];

/**
 * Makes the provider that an id names. Sends nothing; throws a `ParlaneError` for an unknown id (with the nearest
 * name), a missing key (with the variable to set) or a wrong base URL.
 */
export function resolveProvider(
  idOrOptions: string | ProviderOptions,
  context: ProviderContext,
  programs: readonly ProviderFactory[] = programFactories,
): Provider {
  const options = typeof idOrOptions === 'string' ? { id: idOrOptions } : idOrOptions;
  const full: ProviderContext = { resolve: (other) => resolveProvider(other, context, programs), ...context };
  const factory = [...programs, ...networkFactories].find(({ matches }) => matches(options.id));
  if (factory === undefined) throw unknownProvider(options.id);
  try {
    return factory.create(options, full);
  } catch (error) {
    throw naming(options.id, error);
  }
}

/** Whatever is wrong with a provider says which one it is, so that its place can be found. */
function naming(id: string, error: unknown): unknown {
  if (!(error instanceof ParlaneError) || error.fields['provider'] !== undefined) return error;
  return new ParlaneError(error.code, error.what, error.cure, { ...error.fields, provider: id });
}

function unknownProvider(id: string): ParlaneError {
  const prefix = id.split(':')[0] ?? id;
  const near = nearest(prefix);
  const hint = near === undefined ? '' : `Did you mean ${id.includes(':') ? near + id.slice(prefix.length) : near}?`;
  return new ParlaneError('provider/unknown', `Unknown provider "${id}".`, hint, {
    provider: id,
    nearest: near ?? null,
  });
}

function nearest(prefix: string): string | undefined {
  const ranked = knownPrefixes
    .map((name) => ({ name, far: distance(prefix.toLowerCase(), name) }))
    .sort((a, b) => a.far - b.far);
  const best = ranked[0];
  return best !== undefined && best.far <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}
