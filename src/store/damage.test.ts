import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptCase, rowOf } from '../../test/contracts/store.ts';
import { caseIndex, runId } from '../domain/ids.ts';
import { RequestEncoder } from './message-chain.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

const home = mkdtempSync(join(tmpdir(), 'parlane-damage-'));
const [closed, killed, work] = ['closed', 'killed', 'work'].map((name) => join(home, name)) as [string, string, string];

async function fill(store: Store): Promise<void> {
  const run = await store.createRun({ id: runId('r'), name: 'r', createdAt: 1, snapshot: { a: 1 }, options: {} });
  await run.addCases(Array.from({ length: 30 }, (_, at) => ({ position: at, case: promptCase(at) })));
  const encoder = new RequestEncoder();
  const times = { startedAt: 1, endedAt: 3, queueMs: 0, backoffMs: 0, latencyMs: 2, attempts: 1 };
  for (let at = 0; at < 30; at++) {
    const request = encoder.encode({ request: { messages: [{ role: 'user', content: `question ${at}` }] } });
    const step = { index: caseIndex(at), path: 'prompt', send: 1, kind: 'model' } as const;
    await run.intend({ ...step, request, sentAt: at, reservedUsdMicros: 1 });
    const value = { kind: 'reply', text: `answer ${at} ${'x'.repeat(200)}`, raw: `raw ${at}` };
    await run.answer({ ...step, requestHash: request.hash, value, costUsdMicros: 1, times, billing: 'once' });
    await run.saveRow(rowOf(promptCase(at)));
  }
}

/** Everything there is to read, as text. */
async function readAll(at: string): Promise<string> {
  const store = await openStore({ at });
  try {
    const run = await store.openRun(runId('r'));
    if (run === undefined) return 'no run';
    const all: unknown[] = [await store.runs(), await run.snapshot(), await run.rows({ after: -1, limit: 99 })];
    all.push(await run.openCases({ after: -1, limit: 99 }), await run.caseCount());
    for (let index = 0; index < 30; index++)
      all.push(await run.case(caseIndex(index)), await run.steps(caseIndex(index)));
    return JSON.stringify(all);
  } finally {
    await store.close();
  }
}

const flip = (file: string, place: number, bits: number): void => {
  const bytes = readFileSync(file);
  const at = Math.floor(place * bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ bits;
  writeFileSync(file, bytes);
};

const fresh = (from: string): void => {
  rmSync(work, { recursive: true, force: true });
  cpSync(from, work, { recursive: true });
};

let whole = '';
beforeAll(async () => {
  const store = await openStore({ at: closed });
  await fill(store);
  // A copy of the files of an open store is what a killed process leaves behind.
  await store.flush();
  cpSync(closed, killed, { recursive: true });
  await store.close();
  whole = await readAll(closed);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const spot = { place: fc.double({ min: 0, max: 0.999_999, noNaN: true }), bits: fc.integer({ min: 1, max: 255 }) };

describe('a damaged store', () => {
  it('is whole again after a kill', async () => {
    fresh(killed);
    expect(await readAll(work)).toBe(whole);
  });

  it('is refused when any byte of a closed store has changed', async () => {
    await fc.assert(
      fc.asyncProperty(spot.place, spot.bits, async (place, bits) => {
        fresh(closed);
        flip(join(work, 'parlane.db'), place, bits);
        await expect(readAll(work)).rejects.toMatchObject({
          code: expect.stringMatching(/^store\/(damaged|foreign)$/),
        });
      }),
      { numRuns: 150 },
    );
  });

  it('is refused when a closed store is cut off anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(spot.place, async (place) => {
        fresh(closed);
        const file = join(work, 'parlane.db');
        truncateSync(file, Math.floor(place * statSync(file).size));
        await expect(readAll(work)).rejects.toMatchObject({ code: 'store/damaged' });
      }),
      { numRuns: 60 },
    );
  });

  it.each(['parlane.db', 'parlane.db-wal', 'parlane.db-seal'])(
    'is refused or reads exactly what was written when a byte of %s changes after a kill',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(spot.place, spot.bits, async (place, bits) => {
          fresh(killed);
          flip(join(work, name), place, bits);
          const read = await readAll(work).catch((error: { code?: string }) => error.code ?? String(error));
          expect(['store/damaged', 'store/foreign', 'store/newer', whole]).toContain(read);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('is refused when the log of a killed store is cut off or gone', async () => {
    await fc.assert(
      fc.asyncProperty(spot.place, async (place) => {
        fresh(killed);
        const file = join(work, 'parlane.db-wal');
        truncateSync(file, Math.floor(place * statSync(file).size));
        const read = await readAll(work).catch((error: { code?: string }) => error.code ?? String(error));
        expect(['store/damaged', whole]).toContain(read);
      }),
      { numRuns: 40 },
    );
    fresh(killed);
    rmSync(join(work, 'parlane.db-wal'));
    await expect(readAll(work)).rejects.toMatchObject({ code: 'store/damaged' });
  });
});
