/** Stopping an eval and going on with it: the table is the one of a run that nobody stopped. */
import { describe, expect, it } from 'vitest';
import { type FaultServer, paidTwice, startFaultServer } from '../../src/testing/index.ts';
import { at, canonical, EvalPlace, numbered, type Started } from '../support/eval-process.ts';

/** A server that presses Ctrl-C when the n-th request arrives. */
async function serverStoppingAt(nth: number): Promise<{
  server: FaultServer;
  prompts: string[];
  watch: (started: Started) => Started;
}> {
  const prompts: string[] = [];
  let started: Started | undefined;
  const server = await startFaultServer({
    latency: 30,
    replies: (request) => {
      prompts.push(`${request.key}|${request.prompt}`);
      if (prompts.length === nth) started?.interrupt();
      return `${request.key} said ${request.lastText.length}`;
    },
  });
  const watch = (one: Started): Started => {
    started = one;
    return one;
  };
  return { server, prompts, watch };
}

const uninterrupted = async (config: (url: string) => object): Promise<{ rows: object[]; prompts: string[] }> => {
  const { server, prompts } = await serverStoppingAt(Number.POSITIVE_INFINITY);
  await using _server = server;
  using place = new EvalPlace();
  await place.config(config(server.url)).eval();
  return { rows: canonical(place.rows()), prompts };
};

const twoProviders = (url: string): object => ({
  providers: [at(url, 'left'), at(url, 'right')],
  prompts: ['say {{x}}', 'shout {{x}}'],
  tests: numbered(10).map((test, position) => ({
    ...test,
    assert: [{ type: 'contains', value: position % 3 === 0 ? 'nothing' : 'said' }],
  })),
});

/** Registers and history, in two columns: every prompt depends on the answers before it. */
const dependent = (url: string): object => ({
  providers: [at(url, 'left'), at(url, 'right')],
  prompts: ['{% for one in _conversation %}[{{one.output}}]{% endfor %} {{kept}} {{x}}'],
  tests: [
    { vars: { x: 'long enough' }, options: { storeOutputAs: 'kept' } },
    ...numbered(4),
    { vars: { x: 'again' }, options: { storeOutputAs: 'kept' } },
    ...numbered(2),
  ],
});

describe.concurrent('going on with a stopped eval', { timeout: 120_000 }, () => {
  it('gives the table of an uninterrupted run with two providers, and pays nothing twice', async () => {
    const { server, watch } = await serverStoppingAt(14);
    await using _server = server;
    using place = new EvalPlace();
    place.config(twoProviders(server.url));
    const stopped = await watch(place.startEval(['-j', '4'])).ended;
    expect(stopped.code).toBe(3);
    const asked = server.ledger.length;
    expect(asked).toBeLessThan(40);
    const resumed = await place.start(['eval', '--resume']).ended;
    expect(resumed.code).toBe(100);
    expect(canonical(place.rows())).toEqual((await uninterrupted(twoProviders)).rows);
    expect(server.ledger).toHaveLength(40);
    expect(paidTwice(server.ledger)).toEqual([]);
  });

  it('keeps history and registers, and writes the files it was told to write', async () => {
    const { server, prompts, watch } = await serverStoppingAt(7);
    await using _server = server;
    using place = new EvalPlace();
    place.config(dependent(server.url));
    expect((await watch(place.startEval()).ended).code).toBe(3);
    expect(place.rows().filter(({ success }) => success).length).toBeLessThan(10);
    expect((await place.start(['eval', '--resume', 'latest']).ended).code).toBe(0);
    const whole = await uninterrupted(dependent);
    expect(canonical(place.rows())).toEqual(whole.rows);
    expect(prompts).toEqual(whole.prompts);
  });

  it('tells progress by the plan’s index, and does not ask again what is done', async () => {
    const { server, prompts, watch } = await serverStoppingAt(5);
    await using _server = server;
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'one')], prompts: ['{{x}}'], tests: numbered(9) });
    await watch(place.startEval(['-j', '1'])).ended;
    const open = place.rows().flatMap(({ success, testIdx }) => (success ? [] : [testIdx]));
    const before = prompts.length;
    const { err } = await place.start(['eval', '--resume', '--verbose']).ended;
    const told = [...err.matchAll(/^(\d+) of (\d+): #(\d+) passed/gm)].map((match) => match.slice(1).map(Number));
    expect(open.length).toBeGreaterThan(0);
    expect(told.map(([, , index]) => index).sort()).toEqual(open);
    expect(told.map(([completed]) => completed)).toEqual(open.map((_, position) => 9 - open.length + position + 1));
    expect(new Set(told.map(([, total]) => total))).toEqual(new Set([9]));
    expect(prompts.slice(before).map((text) => text.split('|')[1])).toEqual(open.map((index) => `t${index}`));
  });

  it('stops at once on Ctrl-C during back-off, saves, and says how to go on', async () => {
    await using server = await startFaultServer({ faults: { script: { 1: 1 } } });
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'busy')], prompts: ['{{x}}'], tests: numbered(1) });
    const started = place.startEval(['--plain']);
    while (server.key('busy').statuses['429'] !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
    const from = Date.now();
    started.interrupt();
    const { code, out } = await started.ended;
    expect(code).toBe(3);
    // The provider asked for seven seconds; nobody may wait them out.
    expect(Date.now() - from).toBeLessThan(6_000);
    expect(server.ledger).toHaveLength(1);
    const [, command = ''] = /Go on with: parlane (.*)/.exec(out) ?? [];
    server.behave({});
    expect((await place.start(command.split(' ')).ended).code).toBe(0);
    expect(place.rows()).toMatchObject([{ success: true }]);
  });
});

describe.concurrent('the time limit of an eval', { timeout: 120_000 }, () => {
  it('gives exactly one row per step, those not done with its message, and can be gone on with', async () => {
    await using server = await startFaultServer({ latency: 150 });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'one'), at(server.url, 'two')],
      prompts: ['{{x}}'],
      evaluateOptions: { maxEvalTimeMs: 900, maxConcurrency: 2 },
      tests: numbered(20),
    });
    expect((await place.eval()).code).toBe(3);
    const steps = place.rows().map(({ testIdx, promptIdx }) => `${testIdx}:${promptIdx}`);
    expect(steps).toHaveLength(40);
    expect(new Set(steps).size).toBe(40);
    const open = place.rows().filter(({ success }) => !success);
    expect(open.length).toBeGreaterThan(0);
    for (const { failureReason, error } of open) {
      expect([failureReason, error]).toEqual([2, 'Evaluation exceeded max duration of 900ms']);
    }
    expect((await place.start(['eval', '--resume']).ended).code).toBe(0);
    expect(place.rows().filter(({ success }) => success)).toHaveLength(40);
    expect(paidTwice(server.ledger)).toEqual([]);
  });
});
