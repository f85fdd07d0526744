/** Stopping an eval and going on with it: the table is the one of a run that nobody stopped. */
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { type FaultServer, paidTwice, startFaultServer } from '../../src/testing/index.ts';
import { at, canonical, EvalPlace, numbered, type Started } from '../support/eval-process.ts';

/** A server that presses Ctrl-C, or does worse, when the n-th request arrives. */
async function serverStoppingAt(
  nth: number,
  stop: (started: Started) => void = (started) => started.interrupt(),
): Promise<{
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
      if (prompts.length === nth && started !== undefined) stop(started);
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
    expect(told.map(([, , number = 0]) => number - 1).sort()).toEqual(open);
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

describe.concurrent('going on with a killed eval by its run', { timeout: 120_000 }, () => {
  const files = ['-o', 'out.json', 'out.csv'];
  /** The columns that do not tell how long something took, or how often it was tried. */
  const lasting = (row: Record<string, string>): object =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !/_ms$|^attempts$/.test(name)));
  /** Keys are not kept with a run: here they come from the environment, before and after. */
  const keys = { LEFT_KEY: 'left', RIGHT_KEY: 'right', ONE_KEY: 'one' };
  const named = (url: string, name: string): object => ({
    id: `openai:chat:${name}`,
    config: { apiBaseUrl: `${url}/v1`, apiKeyEnvar: `${name.toUpperCase()}_KEY` },
  });
  const two = (url: string): object => ({ ...twoProviders(url), providers: [named(url, 'left'), named(url, 'right')] });
  const written = (place: EvalPlace): { rows: object[]; table: object[] } => {
    const { results } = JSON.parse(place.read('out.json')).results;
    return {
      rows: canonical(results),
      table: (parse(place.read('out.csv'), { columns: true }) as Record<string, string>[]).map(lasting),
    };
  };

  it('writes the files that the eval was asked for, as an uninterrupted one does', async () => {
    const { server, watch } = await serverStoppingAt(14, ({ child }) => void child.kill('SIGKILL'));
    await using _server = server;
    using place = new EvalPlace();
    place.config(two(server.url));
    expect((await watch(place.start(['eval', '--no-cache', '-j', '4', ...files], keys)).ended).code).toBe(null);
    expect(place.has('out.json') || place.has('out.csv')).toBe(false);
    const [{ id }] = JSON.parse((await place.start(['runs', '--json']).ended).out).runs;
    const { code, err } = await place.start(['resume', id], keys).ended;
    expect([code, err]).toEqual([100, expect.stringContaining('Written: out.csv')]);
    const whole = await serverStoppingAt(Number.POSITIVE_INFINITY);
    await using _whole = whole.server;
    using other = new EvalPlace();
    await other.config(two(whole.server.url)).start(['eval', '--no-cache', ...files], keys).ended;
    expect(written(place).rows).toHaveLength(40);
    expect(written(place)).toEqual(written(other));
  });

  it('writes what the config asks for, and other files when they are named', async () => {
    const { server, watch } = await serverStoppingAt(3, ({ child }) => void child.kill('SIGKILL'));
    await using _server = server;
    using place = new EvalPlace();
    const config = { providers: [named(server.url, 'one')], prompts: ['{{x}}'], tests: numbered(6) };
    place.config({ ...config, outputPath: 'rows.jsonl' });
    await watch(place.start(['eval', '--no-cache', '-j', '1'], keys)).ended;
    const refused = await place.start(['resume', '-o', 'out.docx'], keys).ended;
    const keyless = await place.start(['resume']).ended;
    expect([refused.code, keyless.code, server.ledger.length]).toEqual([2, 2, 3]);
    expect(keyless.err).toMatch(/ONE_KEY.*eval --resume/s);
    expect((await place.start(['resume'], keys).ended).code).toBe(0);
    expect(place.rows()).toHaveLength(6);
    expect((await place.start(['resume', 'latest', '--errors-too', '-o', 'out.json'], keys).ended).code).toBe(0);
    expect(JSON.parse(place.read('out.json')).results.results).toHaveLength(6);
    expect(server.ledger).toHaveLength(7);
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
