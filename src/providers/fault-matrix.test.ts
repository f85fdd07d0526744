import { afterAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../domain/reply.ts';
import { realClock } from '../platform/clock.ts';
import { faultKinds, startFaultServer } from '../testing/index.ts';
import { type AdapterUnderTest, adapters } from './fixtures/adapters.ts';
import { type FaultRow, faultMatrix } from './fixtures/fault-matrix.ts';
import { createHttpClient } from './http-client.ts';
import { resolveProvider } from './resolve-provider.ts';

const http = createHttpClient({ clock: realClock, timeoutMs: 10_000 });
afterAll(() => http.close());

/** The adapter's own reaction, else its family's, else the row's. */
function reactionOf({ reaction, except = {} }: FaultRow, { name }: AdapterUnderTest): string {
  return except[name] ?? Object.entries(except).find(([start]) => name.startsWith(start))?.[1] ?? reaction;
}

const isRun = (reaction: string): boolean => !reaction.startsWith('n/a');

function told(outcome: Outcome): string {
  if (outcome.kind === 'reply') return ['reply', outcome.finishReason, ...outcome.flags].join(' ');
  return `${outcome.code}${outcome.retryable ? '+' : ''}${outcome.retryOnce ? '1' : ''}`;
}

async function meet(adapter: AdapterUnderTest, row: FaultRow) {
  await using server = await startFaultServer({ faults: { always: row.fault }, dripMs: 20 });
  const { id, config } = adapter.options(server.url, 'k-0123456789abcdef');
  const options = { id, config: { ...config, timeoutMs: row.timeoutMs ?? 5_000 } };
  const provider = resolveProvider(options, { clock: realClock, env: {}, basePath: '/', http });
  const request = adapter.kind === 'chat' ? { kind: adapter.kind, prompt: 'hi' } : { kind: adapter.kind, input: 'hi' };
  const outcome = await provider.call(request, { signal: new AbortController().signal });
  return { outcome, statistics: { ...server.statistics } };
}

describe('the fault matrix', () => {
  test('has a row for every kind and variant that the fault server knows', () => {
    const known = faultKinds.flatMap(({ kind, variants }) =>
      Object.keys(variants).map((variant) => `${kind}/${variant}`),
    );
    expect(faultMatrix.map(({ fault }) => fault).toSorted()).toEqual(known.toSorted());
  });

  test.each(faultMatrix)('$fault is $reaction', async (row) => {
    const cells = adapters
      .map((adapter) => ({ adapter, reaction: reactionOf(row, adapter) }))
      .filter(({ reaction }) => isRun(reaction));
    const met = await Promise.all(cells.map(async (cell) => ({ ...cell, ...(await meet(cell.adapter, row)) })));
    for (const { adapter, reaction, outcome, statistics } of met) {
      const seen = `${adapter.name}: ${told(outcome)}`;
      expect(seen).toBe(`${adapter.name}: ${reaction}`);
      expect(statistics).toMatchObject({ requests: 1, redirectsFollowed: 0, credentialsForwarded: 0 });
      if (outcome.kind === 'reply') continue;
      if (row.retryAfterMs !== undefined)
        expect(Math.abs((outcome.hints?.retryAfterMs ?? -1) - row.retryAfterMs)).toBeLessThanOrEqual(1_000);
      if (reaction.startsWith('rate_limited') && row.retryAfterMs === undefined)
        expect(outcome.hints?.retryAfterMs).toBeUndefined();
      expect(`${seen} ${outcome.billed}`).toBe(
        `${seen} ${reaction === 'program' ? 'maybe' : (row.billed ?? outcome.billed)}`,
      );
    }
  });
});
