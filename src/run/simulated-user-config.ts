/** A test whose provider is `promptfoo:simulated-user`: what its config says about who is spoken to. */
import { isObject, type Json, type JsonObject } from '../domain/json.ts';

/** The simulated user's config, when the test has one. */
export function simulatedUserOf(provider: Json | undefined): JsonObject | undefined {
  const id = isObject(provider) ? provider['id'] : provider;
  if (id !== 'promptfoo:simulated-user') return undefined;
  return isObject(provider) && isObject(provider['config']) ? provider['config'] : {};
}

/** The specification of the agents that the simulated user talks to, as written; undefined when it talks to a model. */
export function agentsOf(provider: Json | undefined): JsonObject | undefined {
  const specification = simulatedUserOf(provider)?.['specification'];
  return isObject(specification) ? specification : undefined;
}
