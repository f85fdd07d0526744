import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echoProvider, reply } from '../../test/support/run-harness.ts';
import { importOpenAi } from '../conversation/import-tau-bench.ts';
import { resultValidator } from '../conversation/result-schema.ts';
import { caseIndex, runId } from '../domain/ids.ts';
import type { Outcome } from '../domain/reply.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { BatchProcessor, type BatchProcessorOptions, type NewBatch } from './batch-processor.ts';
import { importRun } from './import-run.ts';

const faultsOf = resultValidator();
let store: Store;
beforeEach(async () => {
  store = await openStore({ at: ':memory:' });
});
afterEach(() => store.close());

const processorWith = (options: Partial<BatchProcessorOptions> = {}): BatchProcessor =>
  new BatchProcessor({ store, specsFolder: '/nowhere', ...options });
const models = { agent: { provider: 'sim:agent?latency=0ms' }, client: { provider: 'sim:client?latency=0ms' } };
const scenarios = ['oat milk', 'rye bread', 'bananas', 'apple juice'].map((item) => ({
  name: `order ${item}`,
  variables: { goal: `two ${item}, delivered tomorrow` },
}));
const desk = (extra: Partial<NewBatch> = {}): NewBatch => ({
  promptSpecName: 'order_desk',
  useTools: true,
  models,
  scenarios,
  ...extra,
});

describe('the BatchProcessor', () => {
  it('creates a pending job with every field, then runs it to its end', async () => {
    const processor = processorWith();
    const job = await processor.create(desk({ repeat: 2 }));
    expect(job).toEqual({
      batch_id: expect.stringMatching(/^\d{8}-\d{6}-/),
      status: 'pending',
      created_at: expect.stringMatching(/Z$/),
      started_at: null,
      completed_at: null,
      prompt_spec_name: 'order_desk',
      prompt_version: '1',
      use_tools: true,
      total_scenarios: 8,
      completed_scenarios: 0,
      failed_scenarios: 0,
      progress: 0,
      scenarios_in_progress: [],
      error_message: null,
    });
    const done = await processor.run(job.batch_id);
    expect(done).toMatchObject({
      status: 'completed',
      completed_scenarios: 8,
      failed_scenarios: 0,
      progress: 100,
      scenarios_in_progress: [],
      error_message: null,
    });
    const results = await processor.results(job.batch_id);
    expect(results.map(({ scenario }) => scenario)).toEqual(scenarios.flatMap(({ name }) => [name, name]));
    for (const result of results) expect(faultsOf(result)).toEqual([]);
    expect(new Set(results.map(({ session_id: id }) => id)).size).toBe(8);
  });

  it('shows how far it is while it runs', async () => {
    const processor = processorWith();
    const job = await processor.create(desk());
    const seen: number[] = [];
    const live: number[] = [];
    await processor.run(job.batch_id, {
      observers: [
        (event) => {
          if (event.type !== 'case-end') return;
          void processor.progress(job.batch_id).then((now) => {
            seen.push(now.progress);
            live.push(now.scenarios_in_progress.length);
          });
        },
      ],
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
    expect(seen.at(-1)).toBe(100);
    expect(Math.max(...live)).toBeGreaterThan(0);
  });

  it('scores with checks and a judge, and sums up with denominators', async () => {
    const processor = processorWith();
    const checks = [
      { type: 'tool-called', value: 'add_to_cart' },
      { type: 'contains', value: 'hello', turn: 1 },
      { type: 'max-turns', value: 20 },
    ];
    const job = await processor.create(
      desk({ models: { ...models, judge: { provider: 'sim:judge?latency=0ms' } }, checks, repeat: 2 }),
    );
    await processor.run(job.batch_id);
    const summary = await processor.summary(job.batch_id);
    expect(summary).toMatchObject({
      planned: 8,
      scored: 8,
      evaluations: { completed: 8, failed: 0 },
      pass_k_scenarios: [4, 4],
    });
    expect(summary.pass_hat_k).toHaveLength(2);
    expect(summary.scores.count).toBe(8);
    expect(Object.keys(summary.per_role)).toContain('client');
  });

  it('fails a conversation by a check of one turn, which points at it', async () => {
    const processor = processorWith();
    const job = await processor.create(
      desk({ scenarios: scenarios.slice(0, 1), checks: [{ type: 'contains', value: 'never said', turn: 1 }] }),
    );
    await processor.run(job.batch_id);
    expect(await processor.summary(job.batch_id)).toMatchObject({ counts: { passed: 0, failed: 1 }, success_rate: 0 });
    const [stored] = (await (await store.openRun(runId(job.batch_id)))?.rows({ after: -1, limit: 1 })) ?? [];
    expect(stored?.row.verdict?.componentResults).toMatchObject([{ pass: false, metadata: { turn: 1 } }]);
  });

  it('never lets an infrastructure error lower a score', async () => {
    const broken = echoProvider(
      'broken',
      async (): Promise<Outcome> => ({
        kind: 'failure',
        code: 'invalid_request',
        message: 'no',
        retryable: false,
        billed: 'no',
      }),
    );
    const judge = echoProvider('silent', async () => reply('I would rather not say.'));
    const processor = processorWith({ provider: (name) => ({ broken, silent: judge })[name] });
    const failing = await processor.create(desk({ models: { ...models, client: { provider: 'broken' } } }));
    expect(await processor.run(failing.batch_id)).toMatchObject({
      status: 'completed',
      failed_scenarios: 4,
      completed_scenarios: 0,
    });
    expect(await processor.summary(failing.batch_id)).toMatchObject({
      planned: 4,
      scored: 0,
      success_rate: null,
      counts: { errors: 4, failed: 0 },
    });
    const unjudged = await processor.create(
      desk({ models: { ...models, judge: { provider: 'silent' } }, scenarios: scenarios.slice(0, 1) }),
    );
    await processor.run(unjudged.batch_id);
    expect(await processor.summary(unjudged.batch_id)).toMatchObject({
      scored: 0,
      evaluations: { failed: 1 },
      counts: { errors: 1 },
      scores: { count: 0, mean: null },
    });
  });

  it('cancels, and resumes in mid-conversation without paying again', async () => {
    let calls = 0;
    const cancel = new AbortController();
    const agent = echoProvider('agent', async () => {
      calls += 1;
      if (calls === 5) cancel.abort();
      return reply(`Words ${calls}`);
    });
    const options = { provider: (name: string) => (name === 'agent' ? agent : undefined) };
    const processor = processorWith(options);
    const scripted = scenarios.map((scenario) => ({ ...scenario, script: ['one', 'two', 'three'] }));
    const job = await processor.create(desk({ scenarios: scripted, models: { agent: { provider: 'agent' } } }));
    const stopped = await processor.run(job.batch_id, { signal: cancel.signal });
    expect(stopped).toMatchObject({ status: 'cancelled', error_message: expect.stringContaining('can be resumed') });
    const second = processorWith(options);
    expect(await second.resume(job.batch_id)).toMatchObject({
      status: 'completed',
      completed_scenarios: 4,
      progress: 100,
    });
    // Four conversations of four agent turns; at most what was in flight at the stop is asked again.
    expect(calls).toBeGreaterThanOrEqual(16);
    expect(calls).toBeLessThanOrEqual(20);
    const said = (await second.results(job.batch_id)).flatMap(({ conversation_history: history }) =>
      history.filter(({ speaker }) => speaker !== 'client').map(({ content }) => content),
    );
    expect(new Set(said).size).toBe(16);
  });

  it('retries the failed ones only', async () => {
    let down = true;
    const agent = echoProvider('agent', async (request): Promise<Outcome> => {
      const asked = JSON.stringify(request);
      if (down && asked.includes('bread'))
        return { kind: 'failure', code: 'invalid_request', message: 'no', retryable: false, billed: 'no' };
      return reply('Yes.');
    });
    const processor = processorWith({ provider: (name) => (name === 'agent' ? agent : undefined) });
    const scripted = scenarios.map((scenario) => ({ ...scenario, script: [scenario.name] }));
    const job = await processor.create(desk({ scenarios: scripted, models: { agent: { provider: 'agent' } } }));
    expect(await processor.run(job.batch_id)).toMatchObject({ completed_scenarios: 3, failed_scenarios: 1 });
    down = false;
    const again = await processor.retryFailed(job.batch_id);
    expect(again.total_scenarios).toBe(1);
    expect(await processor.run(again.batch_id)).toMatchObject({ completed_scenarios: 1, failed_scenarios: 0 });
    expect((await processor.results(again.batch_id)).map(({ scenario }) => scenario)).toEqual(['order rye bread']);
  });

  it('scores again without new conversations', async () => {
    let asked = 0;
    const agent = echoProvider('agent', async () => {
      asked += 1;
      return reply('Yes.');
    });
    const judge = echoProvider('judge', async () => reply('{"score": 2, "comment": "partly"}'));
    const processor = processorWith({ provider: (name) => ({ agent, judge })[name] });
    const scripted = scenarios.map((scenario) => ({ ...scenario, script: ['hello'] }));
    const job = await processor.create(desk({ scenarios: scripted, models: { agent: { provider: 'agent' } } }));
    await processor.run(job.batch_id);
    const before = asked;
    const again = await processor.rescore(job.batch_id, { judge: { provider: 'judge' } });
    await processor.run(again.batch_id);
    expect(asked).toBe(before);
    expect(await processor.summary(again.batch_id)).toMatchObject({
      score_distribution: { 2: 4 },
      evaluations: { completed: 4 },
      success_rate: 0,
    });
    const [first] = await processor.results(job.batch_id);
    const [second] = await processor.results(again.batch_id);
    expect(second?.conversation_history).toEqual(first?.conversation_history);
    expect(first).not.toHaveProperty('score');
  });

  it('forks after a turn: recorded turns and the cart stay, the rest is played anew, the original stays', async () => {
    const processor = processorWith();
    const job = await processor.create(
      desk({
        scenarios: [{ name: 'order', variables: { goal: 'two oat milk and one rye bread, delivered tomorrow' } }],
      }),
    );
    await processor.run(job.batch_id);
    const [original] = await processor.results(job.batch_id);
    const after = 2;
    const fork = await processor.fork(job.batch_id, {
      index: caseIndex(0),
      after,
      tries: 2,
      clientSays: 'That is all, goodbye.',
      agentPrompt: 'You are brief.',
    });
    expect(fork).toMatchObject({ status: 'completed', total_scenarios: 2 });
    expect(fork.batch_id).not.toBe(job.batch_id);
    const kept = original?.conversation_history.filter(({ turn }) => turn <= after) ?? [];
    const cartAfter = kept
      .flatMap(({ tool_calls: calls, tool_results: results }) =>
        (calls ?? []).flatMap((call, at) => (call.function.name === 'add_to_cart' ? [results?.[at]] : [])),
      )
      .at(-1);
    expect(cartAfter).toBeDefined();
    for (const result of await processor.results(fork.batch_id)) {
      expect(result.conversation_history.slice(0, kept.length)).toEqual(kept);
      const next = result.conversation_history.find(({ turn, speaker }) => turn === after + 1 && speaker === 'client');
      expect(next).toMatchObject({ content: 'That is all, goodbye.', scripted: true });
      expect(result.prompt_spec_hash).not.toBe(original?.prompt_spec_hash);
      expect(result.final_state).toMatchObject({ cart: expect.arrayContaining(cartAfter as unknown[]) });
    }
    expect((await processor.results(job.batch_id))[0]).toEqual(original);
  });

  it('replays a conversation offline', async () => {
    const processor = processorWith();
    const job = await processor.create(
      desk({ scenarios: scenarios.slice(0, 1), models: { ...models, judge: { provider: 'sim:judge?latency=0ms' } } }),
    );
    await processor.run(job.batch_id);
    const replayed = await processor.replay(job.batch_id, 0);
    expect(replayed.kind).toBe('same');
    const [original] = await processor.results(job.batch_id);
    expect(replayed.kind === 'same' && replayed.row.detail).toEqual(original);
  });

  it('takes in imported conversations, sums them up and scores them again', async () => {
    const line = (n: number, success: boolean) =>
      JSON.stringify({
        name: `s${n % 2}`,
        success,
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
        ],
      });
    const { conversations } = importOpenAi(
      'log.jsonl',
      [line(0, true), line(1, false), line(2, true), line(3, true)].join('\n'),
      0,
    );
    const judge = echoProvider('judge', async () => reply('{"score": 3, "comment": "fine"}'));
    const processor = processorWith({ provider: (name) => ({ judge })[name] });
    const id = await importRun(store, { name: 'log', format: 'openai', conversations, now: Date.UTC(2026, 0, 1) });
    expect(await processor.progress(id)).toMatchObject({ status: 'completed', completed_scenarios: 4 });
    expect(await processor.summary(id)).toMatchObject({
      planned: 4,
      scored: 4,
      successes: 3,
      pass_hat_k: [0.75, 0.5],
      pass_at_k: [0.75, 1],
    });
    const again = await processor.rescore(id, { judge: { provider: 'judge' } });
    await processor.run(again.batch_id);
    expect(await processor.summary(again.batch_id)).toMatchObject({
      scored: 4,
      successes: 4,
      score_distribution: { 3: 4 },
    });
  });

  it('lets tools replay what an earlier run recorded', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlane-replay-tools-'));
    const specification = (backend: object) =>
      JSON.stringify({
        name: 'look',
        version: '1',
        agents: { agent: { name: 'A', prompt: 'a', tools: ['look'] }, client: { name: 'C', prompt: 'c' } },
        tools: { look: { description: 'd', parameters: { type: 'object' }, backend } },
      });
    const agent = echoProvider('agent', async (request) => {
      const last = request.kind === 'chat' ? request.messages?.at(-1) : undefined;
      if (last?.role === 'tool') return reply(last.content);
      return reply('', {
        toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"n":1}' } }],
      });
    });
    const processor = processorWith({ specsFolder: folder, provider: (name) => ({ agent })[name] });
    const batch = {
      promptSpecName: 'look',
      useTools: true,
      models: { agent: { provider: 'agent' } },
      scenarios: [{ name: 'x', variables: {}, script: ['hello'] }],
    };
    writeFileSync(join(folder, 'look.json'), specification({ static: { seen: 42 } }));
    const first = await processor.create(batch);
    await processor.run(first.batch_id);
    writeFileSync(join(folder, 'look.json'), specification({ replay: first.batch_id }));
    const second = await processor.create(batch);
    await processor.run(second.batch_id);
    const [before] = await processor.results(first.batch_id);
    const [after] = await processor.results(second.batch_id);
    expect(after?.conversation_history[0]?.tool_results).toEqual([{ seen: 42 }]);
    expect(after?.conversation_history.map(({ content }) => content)).toEqual(
      before?.conversation_history.map(({ content }) => content),
    );
    rmSync(folder, { recursive: true });
  });

  it('exports JSON, NDJSON and CSV', async () => {
    const processor = processorWith();
    const risky = [{ name: '=SUM(A1)', variables: { goal: 'rye bread' }, script: ['hello, "you"'] }];
    const job = await processor.create(desk({ scenarios: risky }));
    await processor.run(job.batch_id);
    const json = JSON.parse(await processor.export(job.batch_id, 'json'));
    expect(json).toMatchObject({
      batch_id: job.batch_id,
      status: 'completed',
      summary: { planned: 1 },
      results: [{ scenario: '=SUM(A1)' }],
    });
    expect((await processor.export(job.batch_id, 'ndjson')).trim().split('\n')).toHaveLength(1);
    const [head, line] = (await processor.export(job.batch_id, 'csv')).split('\r\n');
    expect(head).toMatch(/^scenario,session_id,status/);
    expect(line).toMatch(/^'=SUM\(A1\),/);
  });

  it('admits the longest expected conversations first in the second run of the same suite', async () => {
    const processor = processorWith();
    const first = await processor.create(
      desk({
        scenarios: scenarios.map((scenario, at) => ({
          ...scenario,
          script: Array.from({ length: at + 1 }, (_, n) => `line ${n}`),
        })),
      }),
    );
    await processor.run(first.batch_id);
    const second = await processor.create(
      desk({
        scenarios: scenarios.map((scenario, at) => ({
          ...scenario,
          script: Array.from({ length: at + 1 }, (_, n) => `line ${n}`),
        })),
      }),
    );
    const started: number[] = [];
    await processor.run(second.batch_id, {
      observers: [(event) => event.type === 'case-start' && started.push(event.index)],
    });
    expect(started).toEqual([3, 2, 1, 0]);
  });

  it('refuses a batch that cannot be played, before anything is sent', async () => {
    const processor = processorWith();
    await expect(processor.create(desk({ maxTurns: 0 }))).rejects.toThrow('max_turns');
    await expect(processor.create(desk({ promptSpecName: 'nobody' }))).rejects.toThrow(
      'There is no prompt specification "nobody"',
    );
    await expect(processor.create(desk({ scenarios: [{ name: 'x', variables: { SEED: 0.5 } }] }))).rejects.toThrow(
      'SEED',
    );
    await expect(processor.run('no-such-batch')).rejects.toThrow('not waiting');
  });
});
