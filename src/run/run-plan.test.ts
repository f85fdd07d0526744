import { describe, expect, it } from 'vitest';
import { hastyClock } from '../../test/support/hasty-clock.ts';
import {
  conversationCase,
  echoProvider,
  hostOf,
  mixedPlan,
  plainLanes,
  promptCase,
  reply,
  tableOf,
  textOf,
} from '../../test/support/run-harness.ts';
import type { Case } from '../domain/case.ts';
import { caseIndex, caseKey } from '../domain/ids.ts';
import type { Outcome } from '../domain/reply.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { type Coalescer, createCoalescer } from '../providers/coalesce.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { openStore } from '../store/open-store.ts';
import type { RunStore, Store } from '../store/store.ts';
import { Lanes } from './lanes.ts';
import { type RunHost, type RunOutcome, type RunRequest, resumeRun, runPlan } from './run-plan.ts';

const run = async (
  cases: RunRequest['cases'],
  host: Partial<RunHost> = {},
  request: Partial<RunRequest> = {},
): Promise<{ outcome: RunOutcome; store: Store; run: RunStore; events: RunEvent[] }> => {
  const store = await openStore({ at: ':memory:' });
  const events: RunEvent[] = [];
  const outcome = await runPlan(
    { name: 'test', snapshot: {}, cases, ...request },
    hostOf(store, { observers: [(event) => events.push(event)], ...host }),
  );
  const found = await store.openRun(outcome.run);
  if (found === undefined) throw new Error('no run');
  return { outcome, store, run: found, events };
};

const list = (
  count: number,
  extra: (index: number) => Partial<Parameters<typeof promptCase>[1]> = () => ({}),
): Case[] => Array.from({ length: count }, (_, index) => promptCase(index, extra(index)));

const never = (): Promise<Outcome> => new Promise(() => {});

describe('running a plan', () => {
  it('gives every planned case exactly one row, in plan order', async () => {
    const { outcome, run: stored } = await run(mixedPlan(30));
    expect(outcome).toMatchObject({ complete: true, totals: { planned: 30, errors: 0, aborted: 0 } });
    expect((await tableOf(stored)).map((row) => (row as { index: number }).index)).toEqual([...Array(30).keys()]);
  });

  it('tells every observer the same events in the same order, progress with totals and plan indices', async () => {
    const second: RunEvent[] = [];
    const first: RunEvent[] = [];
    await run(list(5), { observers: [(event) => first.push(event), (event) => second.push(event)] });
    expect(second).toEqual(first);
    expect(first.some(({ type }) => type === 'call-start')).toBe(true);
    expect(first.map(({ type }) => type).filter((type) => /^(run|case)-/.test(type))).toEqual([
      'run-start',
      ...Array(5).fill('case-start'),
      ...Array(5).fill('case-end'),
      'run-end',
    ]);
    const ends = first.filter((event) => event.type === 'case-end');
    expect(ends.map(({ completed, total }) => [completed, total])).toEqual([1, 2, 3, 4, 5].map((n) => [n, 5]));
    expect(ends.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('makes identical calls in flight once where that is allowed, and only there', async () => {
    const asked = async (host: Partial<RunHost>): Promise<number> => {
      let calls = 0;
      const release = Promise.withResolvers<void>();
      const provider = {
        ...echoProvider('a'),
        cacheKey: async () => 'the same',
        call: async (): Promise<Outcome> => {
          calls += 1;
          if (calls === (host.coalescer === undefined ? 3 : 1)) setImmediate(release.resolve);
          await release.promise;
          return reply('answer');
        },
      };
      const { outcome } = await run(list(3), { provider: () => provider, ...host });
      expect(outcome.totals).toMatchObject({ planned: 3, errors: 0 });
      return calls;
    };
    expect(await asked({})).toBe(3);
    expect(await asked({ coalescer: createCoalescer() })).toBe(1);
  });

  it('lets repeats never share an answer, even where their requests are equal', async () => {
    const provider = { ...echoProvider('a'), cacheKey: async () => 'the same' };
    const shared = new Map<string | undefined, number>();
    const coalescer: Coalescer = {
      run(key, signal, start) {
        shared.set(key, (shared.get(key) ?? 0) + 1);
        return start(signal);
      },
    };
    const cases = list(4, (index) => ({ repeat: index % 2 }));
    await run(cases, { provider: () => provider, coalescer });
    expect([...shared.values()]).toEqual([2, 2]);
  });

  it('goes on when an observer throws, and says so to the others', async () => {
    const { outcome, events } = await run(list(3), {});
    expect(outcome.complete).toBe(true);
    const seen: RunEvent[] = [];
    const bad = (): void => {
      throw new Error('broken pipe');
    };
    await run(list(3), { observers: [bad, (event) => seen.push(event)] });
    expect(seen.filter(({ type }) => type === 'warning')).toHaveLength(1);
    expect(seen.filter(({ type }) => type === 'case-end')).toHaveLength(
      events.filter(({ type }) => type === 'case-end').length,
    );
  });

  it('tells of a case only after its row is on disk', async () => {
    const store = await openStore({ at: ':memory:' });
    let open: RunStore | undefined;
    const checks: Promise<boolean>[] = [];
    const observer = (event: RunEvent): void => {
      if (event.type !== 'case-end') return;
      const stored = open?.rows({ after: event.index - 1, limit: 1 }) ?? Promise.resolve([]);
      checks.push(stored.then((rows) => rows[0]?.row.index === event.index));
    };
    const create = store.createRun.bind(store);
    store.createRun = async (one) => {
      open = await create(one);
      return open;
    };
    await runPlan({ name: '', snapshot: {}, cases: list(4) }, hostOf(store, { observers: [observer] }));
    expect(await Promise.all(checks)).toEqual([true, true, true, true]);
  });

  it('runs the serial phase first, one by one', async () => {
    const order: string[] = [];
    let busy = 0;
    const provider = echoProvider('a', async (request) => {
      const text = textOf(request);
      order.push(text);
      if (text.startsWith('serial')) expect(++busy).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      if (text.startsWith('serial')) busy--;
      return reply('a:b');
    });
    await run(
      list(12, (index) => (index % 3 === 2 ? { serial: true, prompt: `serial ${index}` } : {})),
      { provider: () => provider },
    );
    expect(order.slice(0, 4)).toEqual(['serial 2', 'serial 5', 'serial 8', 'serial 11']);
  });

  it('keeps conversations going beside prompt cases that must run one by one', async () => {
    const held: (() => void)[] = [];
    const slow = echoProvider('a', (request) =>
      textOf(request) === 'question 0'
        ? new Promise((resolve) => held.push(() => resolve(reply('a:b'))))
        : Promise.resolve(reply('a:b')),
    );
    const cases = [promptCase(0, { storeAs: 'x' }), promptCase(1), conversationCase(2, 2, 0)];
    const ended: number[] = [];
    const observer = (event: RunEvent): void => {
      if (event.type !== 'case-end') return;
      ended.push(event.index);
      if (event.index === 2) held.shift()?.();
    };
    await run(cases, { provider: (name) => (name === 'a' ? slow : echoProvider(name)), observers: [observer] });
    expect(ended).toEqual([2, 0, 1]);
  });

  it('starts lazily: a silent provider is asked for few cases, another one for all', async () => {
    let asked = 0;
    const controller = new AbortController();
    const provider = (name: string) =>
      name === 'silent'
        ? echoProvider('silent', () => {
            asked++;
            return never();
          })
        : echoProvider(name);
    const cases = list(600, (index) => ({
      column: { position: index % 2, provider: index % 2 ? 'silent' : 'quick', prompt: 'q' },
    }));
    let quick = 0;
    const started = new Set<number>();
    const observer = (event: RunEvent): void => {
      if (event.type === 'case-start') started.add(event.index);
      if (event.type === 'case-end' && event.row.provisional !== true && ++quick === 300) controller.abort();
    };
    const lanes = (): ReturnType<typeof plainLanes> => {
      const [one, other] = [plainLanes(4), plainLanes(4)];
      return {
        ...one,
        submit: (call) => (call.lane === 'silent' ? one : other).submit(call),
        abort: () => [one, other].map((l) => l.abort('')),
      };
    };
    const { outcome } = await run(
      cases,
      { provider, observers: [observer], lanes, signal: controller.signal },
      { settings: { graceMs: 10 } },
    );
    expect(asked).toBe(4);
    expect([...started].filter((index) => index % 2 === 1).length).toBeLessThan(80);
    expect(outcome).toMatchObject({
      complete: false,
      stopReason: 'interrupted',
      totals: { passed: 300, aborted: 300 },
    });
  });

  it('takes its cases from a stream and knows only at the end how many there were', async () => {
    async function* stream(): AsyncGenerator<Case> {
      for (let index = 0; index < 1_000; index++) yield promptCase(index);
    }
    const { outcome } = await run(stream(), {}, { traits: { serial: false, stateful: false } });
    expect(outcome).toMatchObject({ complete: true, totals: { planned: 1_000, passed: 1_000 } });
  });

  it('stores learned limits and lengths for the next run', async () => {
    const limit = { resource: 'requests', ratePerMinute: 60, capacity: 1, windowMs: 60_000 } as const;
    const opened: unknown[] = [];
    const lanes = () => ({
      ...plainLanes(),
      learned: () => [limit],
      open: (_: unknown, known: unknown) => opened.push(known),
    });
    const { store } = await run([conversationCase(0, 3, 0)], { lanes });
    await runPlan({ name: '', snapshot: {}, cases: [conversationCase(0, 3, 0)] }, hostOf(store, { lanes }));
    expect(opened).toEqual([[], [limit]]);
    expect(await store.lengths('spec')).toMatchObject([{ name: 'scenario 0', calls: 8, seen: 2 }]);
  });
});

describe('a plan that cannot run', () => {
  it('is refused when it has no cases', async () => {
    await expect(run([])).rejects.toMatchObject({ code: 'run/no-cases' });
    async function* nothing(): AsyncGenerator<Case> {}
    await expect(run(nothing())).rejects.toMatchObject({ code: 'run/no-cases' });
    const traits = { serial: false, stateful: false };
    await expect(run(nothing(), {}, { traits })).rejects.toMatchObject({ code: 'run/no-cases' });
  });

  it('is refused when two cases have one key', async () => {
    await expect(run(list(2, () => ({ key: caseKey('same') })))).rejects.toMatchObject({ code: 'plan/not-unique' });
  });

  it('is refused before anything is written when it has a budget and no price', async () => {
    const store = await openStore({ at: ':memory:' });
    const free = { ...echoProvider('a'), price: () => undefined };
    const host = hostOf(store, { provider: () => free });
    await expect(
      runPlan({ name: '', snapshot: {}, cases: list(2), settings: { budgetUsdMicros: 100 } }, host),
    ).rejects.toMatchObject({ code: 'budget/unknown-price' });
    expect(await store.runs()).toEqual([]);
  });
});

describe('a case that goes wrong', () => {
  it('ends as an error row and leaves the others alone', async () => {
    const provider = echoProvider('a', async (request) => {
      if (textOf(request) === 'question 1') throw new Error('boom');
      if (textOf(request) === 'question 2')
        return { kind: 'failure', code: 'auth', message: 'no key', retryable: false, billed: 'no' };
      return reply('a:b');
    });
    const { outcome, run: stored } = await run(list(4), { provider: () => provider });
    expect(outcome).toMatchObject({ complete: true, totals: { passed: 2, errors: 2 } });
    expect((await stored.rows({ after: 0, limit: 2 })).map(({ row }) => row.error?.code)).toEqual(['program', 'auth']);
  });

  it('times out by working time: a long queue does not count, a long call does', async () => {
    const clock = new VirtualClock();
    const hung = echoProvider('a', async (request) => {
      if (textOf(request) !== 'question 0') return reply('a:b');
      // All others are in the queue while this passes.
      setImmediate(() => clock.advanceTo(60));
      return never();
    });
    const { outcome, run: stored } = await run(
      list(30),
      { clock, provider: () => hung, lanes: () => plainLanes(1) },
      { settings: { timeoutMs: 60 } },
    );
    expect(outcome.totals).toMatchObject({ passed: 29, errors: 1 });
    expect((await stored.rows({ after: -1, limit: 1 }))[0]?.row).toMatchObject({
      status: 'error',
      error: { code: 'timeout' },
    });
  });
});

describe('attempts', () => {
  it.each([
    ['transient', 4],
    ['rate_limited', 9],
  ] as const)(
    'are bounded by the lane alone: a provider that always answers %s gets %d requests a case',
    async (code, most) => {
      const asked = new Map<string, number>();
      const provider = echoProvider('a', async (request) => {
        asked.set(textOf(request), (asked.get(textOf(request)) ?? 0) + 1);
        return { kind: 'failure', code, message: 'no', retryable: true, billed: 'no' };
      });
      const clock = hastyClock(1_000_000);
      const lanes: RunHost['lanes'] = ({ onEvent }) => new Lanes({ clock, onEvent });
      const { outcome, run: stored } = await run(list(4), { provider: () => provider, clock, lanes });
      expect(outcome.totals).toMatchObject({ planned: 4, errors: 4 });
      for (const { row } of await stored.rows({ after: -1, limit: 9 })) {
        expect(row.attempts).toBe(asked.get(`question ${row.index}`));
        expect(row.attempts).toBeLessThanOrEqual(most);
      }
    },
  );
});

describe('a run-level stop', () => {
  it('does not wait for a plan that never ends', async () => {
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<Case> {
      yield promptCase(0);
      controller.abort();
      await new Promise(() => {});
    }
    const { outcome, store } = await run(
      endless(),
      { signal: controller.signal },
      { traits: { serial: false, stateful: false } },
    );
    expect(outcome).toMatchObject({ complete: false, stopReason: 'interrupted' });
    await expect(resumeRun(outcome.run, hostOf(store))).rejects.toMatchObject({ code: 'run/plan-incomplete' });
    expect(await resumeRun(outcome.run, hostOf(store), list(3))).toMatchObject({
      complete: true,
      totals: { passed: 3 },
    });
  });

  it('leaves provisional rows for all that is open, and resume replaces them', async () => {
    const controller = new AbortController();
    const observer = (event: RunEvent): void => {
      if (event.type === 'case-end' && event.completed === 7) controller.abort();
    };
    const {
      outcome,
      store,
      run: stored,
    } = await run(mixedPlan(30), { observers: [observer], signal: controller.signal });
    expect(outcome).toMatchObject({ complete: false, stopReason: 'interrupted', totals: { planned: 30 } });
    expect(await stored.rowCounts()).toMatchObject({ total: 30 });
    expect((await stored.record()).status).toBe('suspended');
    const events: RunEvent[] = [];
    const again = await resumeRun(outcome.run, hostOf(store, { observers: [(event) => events.push(event)] }));
    expect(again).toMatchObject({ complete: true, totals: { planned: 30, aborted: 0, open: 0 } });
    expect(await tableOf(stored)).toEqual(await tableOf((await run(mixedPlan(30))).run));
    // Whoever watches counts on from what the first sitting has brought.
    expect(events[0]).toMatchObject({ type: 'run-start', resumed: true, soFar: outcome.totals });
    expect(outcome.totals.open).toBe(30 - outcome.totals.passed - outcome.totals.failed - outcome.totals.errors);
  });

  it('stops new starts at once and ends although a server hangs', async () => {
    const controller = new AbortController();
    let sentAfterAbort = 0;
    const provider = echoProvider('a', () => {
      if (controller.signal.aborted) sentAfterAbort++;
      setImmediate(() => controller.abort());
      return never();
    });
    const { outcome } = await run(
      list(50),
      { provider: () => provider, signal: controller.signal },
      { settings: { graceMs: 20 } },
    );
    expect(sentAfterAbort).toBe(0);
    expect(outcome).toMatchObject({ complete: false, totals: { aborted: 50 } });
  });

  it('keeps the answers that arrive within the grace', async () => {
    const controller = new AbortController();
    const provider = echoProvider('a', async () => {
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return reply('a:b');
    });
    const { outcome } = await run(list(5), {
      provider: () => provider,
      signal: controller.signal,
      lanes: () => plainLanes(1),
    });
    expect(outcome.totals).toMatchObject({ passed: 1, aborted: 4 });
  });

  it.each([
    [undefined, 'The time of the run was up before this case was done.'],
    ['promptfoo', 'Evaluation exceeded max duration of 30ms'],
  ] as const)('leaves open what the max duration cut off, in its own words or %s', async (wording, message) => {
    const clock = new VirtualClock();
    const provider = echoProvider('a', () => {
      setImmediate(() => clock.advanceTo(35));
      return never();
    });
    const { outcome, run: stored } = await run(
      list(5),
      { clock, provider: () => provider },
      { settings: { maxDurationMs: 30, graceMs: 5, ...(wording === undefined ? {} : { wording }) } },
    );
    expect(outcome).toMatchObject({ stopReason: 'max-duration', totals: { planned: 5, errors: 0, open: 5 } });
    expect((await stored.rows({ after: -1, limit: 1 }))[0]?.row.error?.message).toBe(message);
  });

  it('ends a case that somebody cancels as aborted, which no resume plays', async () => {
    let lanes: Lanes | undefined;
    const provider = echoProvider('a', () => {
      lanes?.cancelCase(caseIndex(0));
      return never();
    });
    const { outcome } = await run(list(1), {
      provider: () => provider,
      lanes: ({ onEvent }) => {
        lanes = new Lanes({ clock: new VirtualClock(), onEvent });
        return lanes;
      },
    });
    expect(outcome).toMatchObject({ complete: true, totals: { planned: 1, errors: 0, aborted: 1, open: 0 } });
  });

  it('stops when only lanes parked for long are left, and says until when', async () => {
    const until = Date.now() + 3_600_000;
    const lanes: RunHost['lanes'] = ({ onEvent }) => {
      const plain = plainLanes();
      return {
        ...plain,
        submit: (call) => {
          if (call.lane !== 'b') return plain.submit(call);
          setImmediate(() => onEvent({ type: 'lane-park', lane: call.lane, at: 0, until, reason: 'daily quota' }));
          return new Promise(() => {});
        },
      };
    };
    const cases = list(20, (index) => ({
      column: { position: index % 2, provider: index % 2 ? 'b' : 'a', prompt: 'q' },
    }));
    const { outcome } = await run(cases, { lanes }, { settings: { graceMs: 5 } });
    expect(outcome).toMatchObject({
      complete: false,
      stopReason: 'parked',
      until,
      totals: { passed: 10, aborted: 10 },
    });
  });

  it('lets no second process work on a run that has one', async () => {
    const store = await openStore({ at: ':memory:' });
    const owner = { host: 'h', pid: 1, startedAt: 'x' };
    const created = await store.createRun({ id: 'r' as never, name: '', createdAt: 1, snapshot: {}, options: {} });
    await created.change({ planned: 0 });
    await created.claim({ ...owner, seenAt: 1 }, () => true);
    const host = hostOf(store, { owner: { ...owner, pid: 2 }, ownerAlive: () => true });
    await expect(resumeRun(created.id, host)).rejects.toMatchObject({ code: 'run/busy' });
    expect(await resumeRun(created.id, { ...host, ownerAlive: () => false })).toMatchObject({ complete: true });
  });
});

describe('a budget', () => {
  it('counts what earlier processes of the run have spent', async () => {
    const { outcome, store } = await run(list(40), {}, { settings: { budgetUsdMicros: 300 } });
    expect(outcome).toMatchObject({ complete: false, stopReason: 'budget' });
    const again = await resumeRun(outcome.run, hostOf(store));
    expect(again.totals.passed).toBe(outcome.totals.passed);
    expect(await resumeRun(outcome.run, hostOf(store), undefined, { budgetUsdMicros: 100_000 })).toMatchObject({
      complete: true,
    });
  });
});

it('names a case by its index in every row', async () => {
  const { run: stored } = await run(list(3));
  expect((await stored.case(caseIndex(2)))?.name).toBe('case 2');
});
