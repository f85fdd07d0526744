/** The parts of a network provider that every adapter fills in alike. */
import type { NetworkProviderOptions } from './network-provider.ts';
import type { ProviderContext, ProviderOptions } from './provider-factory.ts';
import type { Surroundings } from './surroundings.ts';

type Shared = Pick<NetworkProviderOptions, 'id' | 'label' | 'delayMs' | 'http' | 'clock' | 'timeoutMs' | 'config'>;

export const sharedParts = (
  options: ProviderOptions,
  context: ProviderContext,
  surroundings: Surroundings,
): Shared => ({
  id: options.id,
  label: options.label,
  delayMs: options.delayMs,
  http: surroundings.http,
  clock: context.clock,
  timeoutMs: surroundings.timeoutMs,
  config: surroundings.config,
});
