/** What every store must do, whatever database is underneath. */
import { describe, expect, it } from 'vitest';
import type { Case, PromptCase } from '../../src/domain/case.ts';
import { caseIndex, caseKey, laneKey, runId } from '../../src/domain/ids.ts';
import type { Row } from '../../src/domain/row.ts';
import { RequestEncoder } from '../../src/store/message-chain.ts';
import type { Answer, Intent, RunStore, Store } from '../../src/store/store.ts';

export const promptCase = (index: number, extra: Partial<PromptCase> = {}): PromptCase => ({
  kind: 'prompt',
  index: caseIndex(index),
  key: caseKey(`key-${index}`),
  name: `case ${index}`,
  column: { position: 0, provider: 'p', prompt: 'q' },
  repeat: 0,
  checks: [],
  prompt: `say ${index}`,
  vars: {},
  ...extra,
});

export const rowOf = (one: Case, extra: Partial<Row> = {}): Row => ({
  index: one.index,
  key: one.key,
  name: one.name,
  kind: one.kind,
  column: one.column.position,
  repeat: one.repeat,
  status: 'passed',
  score: 1,
  output: 'yes',
  latencyMs: 1,
  queueMs: 0,
  backoffMs: 0,
  attempts: 1,
  costUsdMicros: 5,
  ...extra,
});

const times = { startedAt: 1, endedAt: 3, queueMs: 0, backoffMs: 0, latencyMs: 2, attempts: 1 };

const intent = (encoder: RequestEncoder, path: string, request: unknown, send = 1): Intent => ({
  index: caseIndex(0),
  path,
  send,
  kind: 'model',
  request: encoder.encode(request),
  sentAt: send,
  reservedUsdMicros: 7,
});

const answer = (path: string, extra: Partial<Answer> = {}): Answer => ({
  index: caseIndex(0),
  path,
  send: 1,
  kind: 'model',
  requestHash: 'h',
  value: { kind: 'reply', text: 'yes', output: 'yes', raw: '{"yes":1}', usage: { inputTokens: 3, outputTokens: 1 } },
  provider: 'p',
  role: 'prompt',
  usage: { inputTokens: 3, outputTokens: 1 },
  costUsdMicros: 5,
  times,
  billing: 'once',
  ...extra,
});

const newRun = (store: Store, id: string): Promise<RunStore> =>
  store.createRun({
    id: runId(id),
    name: id,
    createdAt: 10,
    snapshot: { b: 1, a: [2] },
    options: { serialize: 'global' },
  });

export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`the store contract, by ${name}`, () => {
    it('keeps a run with its immutable snapshot and lists the newest first', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      await newRun(store, 'two');
      expect(await run.snapshot()).toEqual({ a: [2], b: 1 });
      expect((await store.runs()).map(({ id }) => id)).toEqual(['two', 'one']);
      expect(await store.openRun(runId('three'))).toBeUndefined();
    });

    it('changes a run, and null takes a field away', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      await run.change({ status: 'suspended', stopReason: 'budget', planned: 3, endedAt: 20 });
      expect(await run.record()).toMatchObject({ status: 'suspended', stopReason: 'budget', planned: 3, endedAt: 20 });
      await run.change({ status: 'running', stopReason: null });
      expect(await run.record()).not.toHaveProperty('stopReason');
    });

    it('keeps what a person says about a run: its own name, a pin, the baseline', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      await run.change({ label: 'before the rewrite', pinned: true, baseline: true });
      expect(await store.runs()).toMatchObject([
        { name: 'one', label: 'before the rewrite', pinned: true, baseline: true },
      ]);
      await run.change({ pinned: null, baseline: null });
      expect(await run.record()).not.toHaveProperty('pinned');
    });

    it('deletes a run with all it alone used, and nothing that another one needs', async () => {
      await using store = disposable(await open());
      const messages = (...contents: string[]) => contents.map((content) => ({ role: 'user', content }));
      const encoder = new RequestEncoder();
      for (const [id, last] of [
        ['gone', 'only here'],
        ['kept', 'only there'],
      ] as const) {
        const run = await newRun(store, id);
        await run.addCases([{ position: 0, case: promptCase(0) }]);
        await run.intend(intent(encoder, '1', { messages: messages('shared', last) }));
        await run.answer(answer('1'));
        await run.saveRow(rowOf(promptCase(0)));
        run.log([{ type: 'warning', at: 1, message: id }]);
      }
      await store.flush();
      await store.deleteRun(runId('gone'));
      expect((await store.runs()).map(({ id }) => id)).toEqual(['kept']);
      expect(await store.openRun(runId('gone'))).toBeUndefined();
      const again = await newRun(store, 'gone');
      expect(await again.caseCount()).toMatchObject({ cases: 0 });
      expect(await again.rowCounts()).toMatchObject({ total: 0 });
      expect(await again.steps(caseIndex(0))).toEqual([]);
      expect((await again.events({ after: 0, limit: 9 })).events).toEqual([]);
      const kept = await store.openRun(runId('kept'));
      expect(await kept?.snapshot()).toEqual({ a: [2], b: 1 });
      expect((await kept?.steps(caseIndex(0)))?.[0]).toMatchObject({
        request: { messages: messages('shared', 'only there') },
      });
    });

    it('makes changes that are asked for at once one after another', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const owner = { host: 'h', pid: 1, startedAt: 'a', seenAt: 1 };
      await Promise.all([run.change({ planned: 3 }), run.change({ owner }), run.change({ status: 'complete' })]);
      expect(await run.record()).toMatchObject({ planned: 3, owner, status: 'complete' });
    });

    it('gives a run to one owner until it may be taken from him', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const first = { host: 'h', pid: 1, startedAt: 'a', seenAt: 1 };
      const second = { host: 'h', pid: 2, startedAt: 'b', seenAt: 2 };
      expect(await run.claim(first, () => false)).toBeUndefined();
      expect(await run.claim(second, () => false)).toEqual(first);
      expect(await run.claim(second, () => true)).toBeUndefined();
      expect((await run.record()).owner).toEqual(second);
    });

    it('hands out the cases that still need a final row, by admission position or by plan index', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const cases = [promptCase(0), promptCase(1, { serial: true }), promptCase(2), promptCase(3)];
      await run.addCases([3, 2, 1, 0].map((index, position) => ({ position, case: cases[index] as Case })));
      await run.saveRow(rowOf(promptCase(2)));
      await run.saveRow(rowOf(promptCase(3), { provisional: true, status: 'aborted' }));
      const indices = async (query: Parameters<RunStore['openCases']>[0]): Promise<number[]> =>
        (await run.openCases(query)).map((one) => one.case.index);
      expect(await indices({ after: -1, limit: 9 })).toEqual([3, 1, 0]);
      expect(await indices({ after: -1, limit: 9, byIndex: true, serial: false })).toEqual([0, 3]);
      expect(await indices({ after: -1, limit: 9, serial: true })).toEqual([1]);
      expect(await indices({ after: -1, limit: 9, provider: 'nobody' })).toEqual([]);
      expect(await indices({ after: 0, limit: 1 })).toEqual([1]);
      expect([...(await run.openCounts())]).toEqual([['p', 3]]);
      expect(await run.caseCount()).toEqual({ cases: 4, nextPosition: 4 });
      expect(await run.providers()).toEqual(['p']);
      expect(await run.columns()).toEqual([{ position: 0, provider: 'p', prompt: 'q' }]);
      expect((await run.columnCases()).map(({ index }) => index)).toEqual([0]);
      expect(await run.traits()).toEqual({ serial: true, stateful: false });
      expect(await run.case(caseIndex(2))).toEqual(cases[2]);
    });

    it('refuses two cases with one key', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const twin = promptCase(1, { key: caseKey('key-0') });
      await expect(
        run.addCases([
          { position: 0, case: promptCase(0) },
          { position: 1, case: twin },
        ]),
      ).rejects.toThrow(/same key/);
      await run.addCases([{ position: 0, case: promptCase(0) }]);
      await expect(run.addCases([{ position: 1, case: twin }])).rejects.toThrow(/same key/);
    });

    it('journals an intent, then its answer, and tells which cases have begun', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const encoder = new RequestEncoder();
      const request = { provider: 'p', request: { kind: 'chat', prompt: 'hi' } };
      await run.intend(intent(encoder, 'prompt', request));
      expect((await run.history(caseIndex(0))).answers.size).toBe(0);
      expect((await run.history(caseIndex(0))).sends.get('prompt')).toBe(1);
      await run.intend(intent(encoder, 'prompt', request, 2));
      const given = answer('prompt', { send: 2, billing: 'maybe-again' });
      await run.answer(given);
      expect((await run.history(caseIndex(0))).answers.get('prompt')).toEqual(given);
      expect([...(await run.begun())]).toEqual([0]);
      const steps = await run.steps(caseIndex(0));
      expect(steps.map(({ send, answer: got }) => [send, got?.billing])).toEqual([
        [1, undefined],
        [2, 'maybe-again'],
      ]);
      expect(steps[0]?.request).toEqual(request);
      await run.saveRow(rowOf(promptCase(0)));
      expect([...(await run.begun())]).toEqual([]);
    });

    it('sums what was spent, what has no price, and what may have been billed', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const encoder = new RequestEncoder();
      await run.intend(intent(encoder, 'a', { request: 1 }));
      await run.answer(answer('a'));
      await run.intend(intent(encoder, 'b', { request: 2 }));
      await run.answer(answer('b', { costUsdMicros: null }));
      await run.intend(intent(encoder, 'c', { request: 3 }));
      expect(await run.spent()).toEqual({ usdMicros: 5, unknown: 1, maybeUsdMicros: 7 });
    });

    it('gives every request back whole although messages are shared', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const encoder = new RequestEncoder();
      const messages = Array.from({ length: 6 }, (_, at) => ({
        role: at % 2 ? 'assistant' : 'user',
        content: `m${at}`,
      }));
      for (let turn = 1; turn <= 6; turn++) {
        const request = { provider: 'p', request: { kind: 'chat', messages: messages.slice(0, turn), temperature: 0 } };
        await run.intend(intent(encoder, `${turn}`, request, 1));
      }
      const steps = await run.steps(caseIndex(0));
      expect(steps).toHaveLength(6);
      expect(steps.at(-1)?.request).toEqual({ provider: 'p', request: { kind: 'chat', messages, temperature: 0 } });
    });

    it('replaces a provisional row and never a final one', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const one = promptCase(0);
      await run.saveRow(rowOf(one, { provisional: true, status: 'aborted' }));
      expect(await run.rowCounts()).toMatchObject({ total: 1, provisional: 1, aborted: 1 });
      await run.saveRow(rowOf(one), { register: { name: 'x', value: 1 } });
      await run.saveRow(rowOf(one, { status: 'failed' }));
      expect(await run.rows({ after: -1, limit: 9 })).toEqual([
        { row: rowOf(one), writes: { register: { name: 'x', value: 1 } } },
      ]);
      expect(await run.rowCounts()).toMatchObject({ total: 1, provisional: 0, passed: 1, failed: 0 });
      const [two, three] = [promptCase(1), promptCase(2)];
      await run.addCases([two, three].map((each, at) => ({ position: at + 1, case: each })));
      await run.saveRow(rowOf(two, { provisional: true }));
      await run.saveRows([{ row: rowOf(two, { status: 'failed' }) }, { row: rowOf(three) }]);
      expect(await run.rowCounts()).toMatchObject({ total: 3, provisional: 0, passed: 2, failed: 1 });
    });

    it('opens a finished case again and forgets the answers that are not kept', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      await run.addCases([{ position: 0, case: promptCase(0) }]);
      const encoder = new RequestEncoder();
      for (const path of ['good', 'bad']) {
        await run.intend(intent(encoder, path, { request: path }));
        await run.answer(answer(path));
      }
      await run.saveRow(rowOf(promptCase(0), { status: 'error' }));
      expect(await run.openCases({ after: -1, limit: 9 })).toHaveLength(0);
      await run.reopen(caseIndex(0), ({ path }) => path === 'good');
      expect(await run.openCases({ after: -1, limit: 9 })).toHaveLength(1);
      const { answers, sends } = await run.history(caseIndex(0));
      expect([...answers.keys()]).toEqual(['good']);
      expect(sends.get('bad')).toBe(1);
      expect([...(await run.begun())]).toEqual([0]);
      await run.saveRow(rowOf(promptCase(0)));
      expect(await run.rowCounts()).toMatchObject({ total: 1, provisional: 0, passed: 1, error: 0 });
    });

    it('counts of what it forgets as perhaps paid only what may have been billed', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      await run.addCases([{ position: 0, case: promptCase(0) }]);
      const encoder = new RequestEncoder();
      for (const [path, billing] of [
        ['refused', 'none'],
        ['late', 'once'],
      ] as const) {
        await run.intend({ ...intent(encoder, path, { request: path }), reservedUsdMicros: 70 });
        await run.answer({ ...answer(path), costUsdMicros: 0, billing });
      }
      await run.saveRow(rowOf(promptCase(0), { status: 'error' }));
      await run.reopen(caseIndex(0), () => false);
      expect(await run.spent()).toEqual({ usdMicros: 0, unknown: 0, maybeUsdMicros: 70 });
      expect([...(await run.history(caseIndex(0))).sends]).toEqual([
        ['late', 1],
        ['refused', 1],
      ]);
      expect(await run.steps(caseIndex(0))).toHaveLength(2);
    });

    it('reads rows page by page in plan order', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      for (const index of [2, 0, 1]) await run.saveRow(rowOf(promptCase(index)));
      const first = await run.rows({ after: -1, limit: 2 });
      const second = await run.rows({ after: 1, limit: 2 });
      expect([...first, ...second].map(({ row }) => row.index)).toEqual([0, 1, 2]);
    });

    it('keeps events in order, across chunks and after the run is opened again', async () => {
      await using store = disposable(await open());
      const run = await newRun(store, 'one');
      const warning = (at: number) => ({ type: 'warning', at, message: `w${at}` }) as const;
      run.log([warning(1), warning(2)]);
      run.log([warning(3)]);
      await store.flush();
      const again = await store.openRun(runId('one'));
      again?.log([warning(4)]);
      await store.flush();
      const page = await run.events({ after: 0, limit: 2 });
      expect(page.events).toEqual([warning(1), warning(2), warning(3)]);
      expect((await run.events({ after: page.next, limit: 2 })).events).toEqual([warning(4)]);
    });

    it('keeps learned limits and lengths, newest wins', async () => {
      await using store = disposable(await open());
      const lane = laneKey('openai:x');
      const limit = { resource: 'requests', ratePerMinute: 60, capacity: 10, windowMs: 60_000 } as const;
      await store.saveLimits(lane, [{ ...limit, ratePerMinute: 30 }]);
      await store.saveLimits(lane, [limit]);
      expect(await store.limits(lane)).toEqual([limit]);
      expect(await store.limits(laneKey('other'))).toEqual([]);
      const length = { family: 'spec', name: 's', calls: 18, inputTokens: 1, outputTokens: 2, workingMs: 3, seen: 1 };
      await store.saveLengths([length]);
      await store.saveLengths([{ ...length, calls: 20, seen: 2 }]);
      expect(await store.lengths('spec')).toEqual([{ ...length, calls: 20, seen: 2 }]);
    });

    it('keeps a fork with its kept answers pinned, and leaves the parent as it was', async () => {
      await using store = disposable(await open());
      const parent = await newRun(store, 'parent');
      const child = await newRun(store, 'child');
      await parent.answer(answer('1/agent'));
      const kept = [...(await parent.history(caseIndex(0))).answers.values()];
      const fork = { run: runId('child'), parent: runId('parent'), index: caseIndex(0), keep: 'turns 1..1' };
      await store.saveFork(fork, kept);
      expect(await store.forks()).toEqual([fork]);
      expect((await child.history(caseIndex(0))).answers.get('1/agent')).toEqual({
        ...answer('1/agent'),
        pinned: true,
      });
      expect((await parent.history(caseIndex(0))).answers.get('1/agent')).toEqual(answer('1/agent'));
      expect((await child.spent()).usdMicros).toBe(0);
    });
  });
}

const disposable = (store: Store): Store & AsyncDisposable =>
  Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
