import type { Millis } from '../domain/ids.ts';
import type { Resource } from '../domain/reply.ts';

/** One triple of headers that belong together, and what it speaks of. */
export interface HeaderTriple {
  readonly resource: Resource;
  readonly limit?: string;
  readonly remaining?: string;
  readonly reset?: string;
  /** When the header's own name or the vendor's documentation says the window. */
  readonly windowMs?: Millis;
}

const second = 1000;
const minute = 60_000;
const day = 86_400_000;
const month = 30 * day;

const openaiTriple = (resource: Resource, name: string, windowMs?: Millis): HeaderTriple => ({
  resource,
  limit: `x-ratelimit-limit-${name}`,
  remaining: `x-ratelimit-remaining-${name}`,
  reset: `x-ratelimit-reset-${name}`,
  ...(windowMs === undefined ? {} : { windowMs }),
});

const anthropicTriple = (resource: Resource, name: string): HeaderTriple => ({
  resource,
  limit: `anthropic-ratelimit-${name}-limit`,
  remaining: `anthropic-ratelimit-${name}-remaining`,
  reset: `anthropic-ratelimit-${name}-reset`,
});

const openaiFamily: readonly HeaderTriple[] = [
  openaiTriple('requests', 'requests'),
  openaiTriple('tokens', 'tokens'),
  openaiTriple('tokens', 'tokens_usage_based'),
  openaiTriple('inputTokens', 'input-tokens'),
  openaiTriple('outputTokens', 'output-tokens'),
];

/** Names that say their own window, whoever sends them. */
const named: readonly HeaderTriple[] = [
  openaiTriple('requests', 'requests-minute', minute),
  openaiTriple('requests', 'requests-day', day),
  openaiTriple('tokens', 'tokens-minute', minute),
  openaiTriple('tokens', 'tokens-day', day),
  {
    resource: 'tokens',
    limit: 'x-ratelimit-limit-tokens-month',
    remaining: 'x-ratelimit-remaining-tokens-month',
    windowMs: month,
  },
  {
    resource: 'requests',
    limit: 'x-ratelimit-limit-req-minute',
    remaining: 'x-ratelimit-remaining-req-minute',
    windowMs: minute,
  },
  {
    resource: 'tokens',
    limit: 'x-ratelimitbysize-limit-minute',
    remaining: 'x-ratelimitbysize-remaining-minute',
    reset: 'ratelimitbysize-reset',
    windowMs: minute,
  },
  {
    resource: 'tokens',
    limit: 'ratelimitbysize-limit',
    remaining: 'ratelimitbysize-remaining',
    reset: 'ratelimitbysize-reset',
  },
];

const anthropicFamily: readonly HeaderTriple[] = [
  anthropicTriple('requests', 'requests'),
  anthropicTriple('tokens', 'tokens'),
  anthropicTriple('inputTokens', 'input-tokens'),
  anthropicTriple('outputTokens', 'output-tokens'),
];

const plain = (windowMs?: Millis): HeaderTriple => ({
  resource: 'requests',
  limit: 'x-ratelimit-limit',
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  ...(windowMs === undefined ? {} : { windowMs }),
});

const unprefixed: HeaderTriple = {
  resource: 'requests',
  limit: 'ratelimit-limit',
  remaining: 'ratelimit-remaining',
  reset: 'ratelimit-reset',
};

/** Whose headers these are; `any` for servers that nobody named. */
export type HintDialect = 'any' | 'groq' | 'together' | 'anthropic';

/** The vendors' headers as data. Most vendors are told apart by the names alone; these are those that need saying. */
export const hintHeaders: Readonly<Record<HintDialect, readonly HeaderTriple[]>> = {
  any: [...openaiFamily, ...named, ...anthropicFamily, plain(), unprefixed],
  anthropic: anthropicFamily,
  // OpenAI's names, but requests are counted per day and tokens per minute.
  groq: [openaiTriple('requests', 'requests', day), openaiTriple('tokens', 'tokens', minute), ...named],
  // Limits per second that move with observed use.
  together: [
    plain(second),
    {
      resource: 'tokens',
      limit: 'x-tokenlimit-limit',
      remaining: 'x-tokenlimit-remaining',
      reset: 'x-ratelimit-reset',
      windowMs: second,
    },
    ...openaiFamily,
  ],
};
