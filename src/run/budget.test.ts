import { describe, expect, it } from 'vitest';
import { hastyClock } from '../../test/support/hasty-clock.ts';
import { conversationCase, echoProvider, hostOf, promptCase, reply } from '../../test/support/run-harness.ts';
import type { Case } from '../domain/case.ts';
import type { Provider } from '../domain/provider.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { seededRandom } from '../domain/seeded-random.ts';
import { realClock } from '../platform/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { Budget } from './budget.ts';
import { Lanes } from './lanes.ts';
import { rowsOf } from './read-run.ts';
import { runPlan } from './run-plan.ts';

describe('a budget', () => {
  it('lets a call wait while another may give back what it needs', async () => {
    const budget = new Budget(100, 0);
    expect(await budget.reserve(80)).toBe(true);
    const second = budget.reserve(80);
    expect(budget.dry).toBe(false);
    budget.settle(80, 15);
    expect(await second).toBe(true);
    const third = budget.reserve(80);
    budget.settle(80, 15);
    expect(budget.dry).toBe(true);
    expect(budget.need).toEqual({ capUsdMicros: 100, leftUsdMicros: 70, nextUsdMicros: 80, enoughUsdMicros: 110 });
    budget.close();
    expect(await third).toBe(false);
    expect(await budget.reserve(1)).toBe(false);
  });

  it('never exceeds its cap and is dry only when what waits does not fit', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = seededRandom(seed);
      const upTo = (most: number): number => Math.floor(random() * (most + 1));
      const cap = 50 + upTo(2_000);
      const budget = new Budget(cap, 0);
      let [spent, reserved, left] = [0, 0, 60];
      const worker = async (): Promise<void> => {
        while (left-- > 0) {
          const most = upTo(300);
          if (!(await budget.reserve(most))) return;
          reserved += most;
          expect(spent + reserved).toBeLessThanOrEqual(cap);
          for (let turns = upTo(3); turns > 0; turns--) await Promise.resolve();
          const cost = upTo(most);
          reserved -= most;
          spent += cost;
          budget.settle(most, cost);
        }
      };
      budget.onChange = () => {
        if (!budget.dry) return;
        expect(reserved).toBe(0);
        expect(spent + (budget.need?.nextUsdMicros ?? 0)).toBeGreaterThan(cap);
        // Others may be between two calls.
        setImmediate(() => budget.dry && budget.close());
      };
      await Promise.all(Array.from({ length: 1 + upTo(8) }, worker));
      expect(spent).toBeLessThanOrEqual(cap);
    }
  });
});

/** Models of random price and speed, in lanes of random width; some fail, billed or not. */
const world = (seed: number, bill: { spent: number }) => {
  const random = seededRandom(seed);
  const price = { a: 1 + Math.floor(random() * 3), b: 1 + Math.floor(random() * 9) };
  const width = { a: 1 + Math.floor(random() * 4), b: 1 + Math.floor(random() * 8) };
  const made = (name: 'a' | 'b'): Provider => {
    const cost = (output: number): number => price[name] * (10 + 2 * output);
    return {
      ...echoProvider(name, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        const luck = random();
        if (luck < 0.05)
          return { kind: 'failure', code: 'transient', message: 'busy', retryable: false, billed: 'no' } as const;
        const outputTokens = Math.floor(random() * 100);
        bill.spent += cost(outputTokens);
        return reply(`${name}:b`, { usage: { inputTokens: 10, outputTokens } });
      }),
      price: ({ inputTokens = 0, outputTokens = 0 }) => price[name] * (inputTokens + 2 * outputTokens),
    };
  };
  const providers = { a: made('a'), b: made('b') };
  return {
    provider: (name: string) => providers[name as 'a' | 'b'],
    lanes: ({ onEvent }: { onEvent: NonNullable<ConstructorParameters<typeof Lanes>[0]['onEvent']> }) =>
      new Lanes({
        clock: realClock,
        onEvent,
        limits: ({ id }) => ({ maxConcurrent: width[id as 'a' | 'b'] }),
        ...(random() < 0.3 ? { globalCap: 2 } : {}),
      }),
  };
};

const plan: readonly Case[] = Array.from({ length: 14 }, (_, index) =>
  index % 3 === 0 ? conversationCase(index, 2, 1) : promptCase(index),
);

const played = async (seed: number, cap: number) => {
  const bill = { spent: 0 };
  const store = await openStore({ at: ':memory:' });
  const events: RunEvent[] = [];
  const host = hostOf(store, { clock: realClock, observers: [(event) => events.push(event)], ...world(seed, bill) });
  const request = { name: '', snapshot: {}, cases: [...plan], settings: { budgetUsdMicros: cap } };
  return { outcome: await runPlan(request, host), store, events, bill };
};

const sumOfRows = async (store: Store): Promise<number> => {
  const [record] = await store.runs();
  const run = record === undefined ? undefined : await store.openRun(record.id);
  let sum = 0;
  if (run !== undefined) for await (const row of rowsOf(run)) sum += row.costUsdMicros ?? 0;
  return sum;
};

describe('a run with a spend cap', () => {
  it('uses it as far as it can, never more, and tells one sum everywhere', async () => {
    let stops = 0;
    for (let seed = 1; seed <= 25; seed++) {
      const cap = 4_000 + ((seed * 977) % 12_000);
      const { outcome, store, events, bill } = await played(seed, cap);
      expect(bill.spent).toBeLessThanOrEqual(cap);
      if (!outcome.complete) {
        stops++;
        expect(outcome).toMatchObject({ stopReason: 'budget' });
        // Nothing is on its way any more, and the cheapest call that waited does not fit into what is left.
        expect(outcome.need?.leftUsdMicros).toBe(cap - bill.spent);
        expect(bill.spent + (outcome.need?.nextUsdMicros ?? 0)).toBeGreaterThan(cap);
      }
      expect(outcome.spent).toEqual({ usdMicros: bill.spent, unknown: 0 });
      expect((await (await store.openRun(outcome.run))?.spent())?.usdMicros).toBe(bill.spent);
      expect(await sumOfRows(store)).toBe(bill.spent);
      expect(events.findLast(({ type }) => type === 'spend')).toMatchObject({ usdMicros: bill.spent });
      expect(events.at(-1)).toMatchObject({ type: 'run-end', spent: { usdMicros: bill.spent } });
      await store.close();
    }
    expect(stops).toBeGreaterThan(5);
  });

  it('is refused before anything is sent or kept when one call may cost more than the cap', async () => {
    const store = await openStore({ at: ':memory:' });
    let sent = 0;
    const provider = echoProvider('a', async () => {
      sent++;
      return reply('a:b');
    });
    const request = { name: '', snapshot: {}, cases: [promptCase(0)], settings: { budgetUsdMicros: 150 } };
    await expect(runPlan(request, hostOf(store, { provider: () => provider }))).rejects.toMatchObject({
      code: 'budget/too-small',
      message: expect.stringMatching(/give at least --budget 0\.0003/),
    });
    expect(sent).toBe(0);
    expect(await store.runs()).toEqual([]);
  });

  it('counts a failure that may be billed as the most it may cost, each time it is tried', async () => {
    let sent = 0;
    const provider = echoProvider('a', async () => {
      sent++;
      return { kind: 'failure', code: 'timeout', message: 'no answer', retryable: true, billed: 'maybe' };
    });
    const store = await openStore({ at: ':memory:' });
    const host = hostOf(store, {
      clock: hastyClock(),
      provider: () => provider,
      lanes: ({ onEvent }) => new Lanes({ clock: hastyClock(), onEvent }),
    });
    // One try is reserved at 226: two fit, and the lane would try four times.
    const cases = [promptCase(0)];
    const outcome = await runPlan({ name: '', snapshot: {}, cases, settings: { budgetUsdMicros: 500 } }, host);
    expect(sent).toBe(2);
    expect(outcome).toMatchObject({ complete: false, stopReason: 'budget', spent: { usdMicros: 0 } });
  });
});
