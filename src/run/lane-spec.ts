import type { LaneLimits, LearnedLimit } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';

/** Limits of one lane, or with a `group` of all lanes that name it together; the first lane that is opened brings them. */
export type GroupedLimits = LaneLimits & { readonly group?: string };

/** What a lane keeps for itself when its limits are its group's. */
const ownOnly = ({ minGapMs, maxRetries, maxRateLimited }: LaneLimits): LaneLimits => ({
  ...(minGapMs === undefined ? {} : { minGapMs }),
  ...(maxRetries === undefined ? {} : { maxRetries }),
  ...(maxRateLimited === undefined ? {} : { maxRateLimited }),
});

/** A provider's lane as it is opened, by runs and forecasts alike; what the user says wins over what the provider declares. */
export function laneSpec(
  provider: Provider,
  { group, ...given }: GroupedLimits = {},
  learned: readonly LearnedLimit[] = [],
): LaneSpec {
  const own = provider.nodes.find((node) => node.key === provider.laneKey)?.limits;
  const delay = provider.delayMs === undefined ? {} : { minGapMs: provider.delayMs };
  const shared = provider.nodes.filter((node) => node.key !== provider.laneKey);
  return {
    key: provider.laneKey,
    limits: group === undefined ? { ...delay, ...own, ...given } : { ...delay, ...own, ...ownOnly(given) },
    shared: group === undefined ? shared : [{ key: `group:${group}`, limits: given }, ...shared],
    ceiling: provider.ceiling,
    accounting: provider.accounting,
    learned,
  };
}
