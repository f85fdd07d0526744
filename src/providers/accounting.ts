import type { AccountingProfile } from '../domain/provider.ts';

const profile = (name: string, rest: Partial<Omit<AccountingProfile, 'name'>> = {}): AccountingProfile => ({
  name,
  reserve: 'expected',
  settle: 'real',
  cachedFactor: 1,
  outputFactor: 1,
  separate: false,
  defaultMaxTokens: 1024,
  ...rest,
});

/** How each provider counts tokens against its limits. A wrong row costs a factor of two to five, so they are data. */
export const accountingProfiles = {
  /** A reservation of max(max_tokens, estimate of the input); cached tokens count, nothing is given back. */
  openai: profile('openai', { reserve: 'max(input,max)', settle: 'reserved' }),
  /** Prompt plus max_tokens up front; the rest is freed when the call ends. */
  azure: profile('azure', { reserve: 'input+max', settle: 'real', defaultMaxTokens: 4096 }),
  /** Input and output apart; cache reads are free; output counts as produced. */
  anthropic: profile('anthropic', { cachedFactor: 0, separate: true }),
  /** Input plus max_tokens up front, then output at five times its size for Claude models. */
  bedrockClaude: profile('bedrock-claude', {
    reserve: 'input+max',
    outputFactor: 5,
    cachedFactor: 0,
    defaultMaxTokens: 4096,
  }),
  bedrockClaude10: profile('bedrock-claude-10', {
    reserve: 'input+max',
    outputFactor: 10,
    cachedFactor: 0,
    defaultMaxTokens: 4096,
  }),
  bedrockClaude15: profile('bedrock-claude-15', {
    reserve: 'input+max',
    outputFactor: 15,
    cachedFactor: 0,
    defaultMaxTokens: 4096,
  }),
  bedrock: profile('bedrock', { reserve: 'input+max', cachedFactor: 0, defaultMaxTokens: 4096 }),
  /** Only input counts. */
  google: profile('google', { reserve: 'input', outputFactor: 0 }),
  groq: profile('groq', { cachedFactor: 0 }),
  /** Prompt, completion, reasoning and cached tokens all count. */
  xai: profile('xai'),
  /** Counts calls in flight, or nothing at all; tokens are only for people to see. */
  concurrency: profile('concurrency'),
  /** Input and output together, by real use. */
  plain: profile('plain'),
} as const satisfies Record<string, AccountingProfile>;

export type AccountingName = keyof typeof accountingProfiles;

/** Bedrock burns output tokens faster for newer Claude models. */
export function bedrockAccounting(model: string): AccountingProfile {
  if (!/claude/.test(model)) return accountingProfiles.bedrock;
  if (/(?:sonnet|opus)-5(?!\d)/.test(model)) return accountingProfiles.bedrockClaude10;
  return /-4-8(?!\d)/.test(model) ? accountingProfiles.bedrockClaude15 : accountingProfiles.bedrockClaude;
}
