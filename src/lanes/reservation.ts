import type { AccountingProfile } from '../domain/provider.ts';
import type { Usage } from '../domain/reply.ts';
import { type QueuedCall, TOKENS } from './queued-call.ts';

/** What a call takes from each bucket at its start, under the provider's own counting rule. */
export function reservation(call: QueuedCall, profile: AccountingProfile, outputP90: number | undefined): number[] {
  const max = call.maxOutput ?? profile.defaultMaxTokens;
  const expected = Math.min(max, outputP90 ?? max);
  const output = profile.reserve === 'expected' ? expected : profile.reserve === 'input' ? 0 : max;
  const weighed = output * profile.outputFactor;
  const tokens = profile.reserve === 'max(input,max)' ? Math.max(call.input, weighed) : call.input + weighed;
  return profile.separate ? [1, tokens, call.input, weighed] : [1, tokens, 0, 0];
}

/** What stays taken once the provider has said what it counted; undefined where it did not say: the reservation stays. */
export function realUse(profile: AccountingProfile, usage: Usage | undefined): number[] | undefined {
  if (profile.settle === 'reserved' || usage?.inputTokens === undefined) return undefined;
  const { input, output } = countedUse(profile, usage);
  return profile.separate ? [1, input + output, input, output] : [1, input + output, 0, 0];
}

/** The tokens of a call as the provider counts them; 0 where nothing was told. */
export function countedUse(profile: AccountingProfile, usage: Usage | undefined): { input: number; output: number } {
  const cached = usage?.cachedInputTokens ?? 0;
  return {
    input: (usage?.inputTokens ?? 0) - cached + cached * profile.cachedFactor + (usage?.cacheWriteTokens ?? 0),
    output: (usage?.outputTokens ?? 0) * (profile.reserve === 'input' ? 0 : profile.outputFactor),
  };
}

/** The output tokens of a reservation that the provider itself takes only when the answer is complete. */
export function takenAtEnd(call: QueuedCall, profile: AccountingProfile): number {
  return profile.reserve === 'expected' ? (call.reserved[TOKENS] as number) - call.input : 0;
}

/** Brings the call's reservation up to date, if the lane has learned something since. */
export function reserveFor(call: QueuedCall): void {
  const { outputs, profile } = call.lane;
  if (call.reservedAt === outputs.version) return;
  call.reserved = reservation(call, profile, outputs.p90());
  call.reservedAt = outputs.version;
}

/** Counts real use and nothing else: the profile of a provider about which nothing is known. */
export const plainProfile: AccountingProfile = {
  name: 'plain',
  reserve: 'expected',
  settle: 'real',
  cachedFactor: 1,
  outputFactor: 1,
  separate: false,
  defaultMaxTokens: 1024,
};
