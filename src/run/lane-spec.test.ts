import { describe, expect, it } from 'vitest';
import { realClock } from '../platform/clock.ts';
import { resolveProvider } from '../providers/resolve-provider.ts';
import { laneSpec } from './lane-spec.ts';

const provider = (delayMs?: number) =>
  resolveProvider(
    { id: 'sim:fast', ...(delayMs === undefined ? {} : { delayMs }) },
    { clock: realClock, env: {}, basePath: '/' },
  );

describe('the lane of a provider', () => {
  it('keeps the delay of its provider as the gap between calls, unless the user says another', () => {
    expect(laneSpec(provider(700)).limits).toEqual({ minGapMs: 700 });
    expect(laneSpec(provider(700), { minGapMs: 50, rpm: 9 }).limits).toEqual({ minGapMs: 50, rpm: 9 });
  });

  it('stands with others under the limits of its group, and keeps what only it can keep', () => {
    const spec = laneSpec(provider(), { group: 'account', rpm: 60, maxRetries: 1 });
    expect(spec.shared).toEqual([{ key: 'group:account', limits: { rpm: 60, maxRetries: 1 } }]);
    expect(spec.limits).toEqual({ maxRetries: 1 });
  });
});
