import type { HeaderStyle, RetryStyle } from './limit-headers.ts';
import type { Refusal } from './limit-scope.ts';
import type { ErrorClass, WireName } from './wires/wire.ts';

/** Whose headers a format's vendor sends. */
export function styleOf(wire: WireName): HeaderStyle {
  if (wire === 'azure-chat') return 'azure';
  if (wire === 'anthropic-messages') return 'anthropic';
  return wire.startsWith('openai-') ? 'openai' : 'none';
}

const retries: Readonly<Record<HeaderStyle, RetryStyle>> = {
  none: 'none',
  openai: 'both',
  azure: 'both',
  anthropic: 'seconds',
  groq: 'seconds',
  together: 'none',
  mistral: 'none',
  cerebras: 'seconds',
  openrouter: 'none',
};

/** How a vendor tells the wait on a 429. */
export const retryStyleOf = (style: HeaderStyle): RetryStyle => retries[style];

/** What a refusal is called. */
export function errorClassOf(refusal: Refusal): ErrorClass {
  if (!Number.isFinite(refusal.waitMs)) return 'too_large';
  if (refusal.resource === 'requestsDay') return 'daily';
  return refusal.resource === 'tokens' || refusal.resource === 'inputTokens' || refusal.resource === 'outputTokens'
    ? 'tokens_limited'
    : 'rate_limited';
}

/** The sentence that some vendors' clients read the wait from. */
export function refusalText(refusal: Refusal, model: string): string {
  if (!Number.isFinite(refusal.waitMs))
    return `Request too large for ${model}: it exceeds the limit on ${refusal.resource}.`;
  const wait = (refusal.waitMs / 1000).toFixed(3);
  return `Rate limit reached for ${model} on ${refusal.resource}. Please try again in ${wait}s.`;
}
