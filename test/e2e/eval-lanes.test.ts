/** What scheduling does to an eval, seen by the server and in the output file. */
import { describe, expect, it } from 'vitest';
import { startFaultServer } from '../../src/testing/index.ts';
import { at, EvalPlace, numbered } from '../support/eval-process.ts';

const passing = { assert: [{ type: 'contains', value: 'echo' }] };

describe.concurrent('an eval over lanes', { timeout: 120_000 }, () => {
  it('does not delay a healthy provider while another is in back-off', async () => {
    await using server = await startFaultServer({
      rules: [{ key: 'sick', faults: { script: { 1: 14, 2: 14, 3: 14 } } }],
    });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'sick'), at(server.url, 'healthy')],
      prompts: ['{{x}}'],
      defaultTest: passing,
      tests: [
        { vars: { x: 'first' } },
        ...numbered(7).map((test) => ({ ...test, providers: ['openai:chat:healthy'] })),
      ],
    });
    expect((await place.eval()).code).toBe(0);
    const firstAnswer = server.ledger.find(({ key, status }) => key === 'sick' && status === 200)?.at ?? 0;
    expect(server.key('healthy').requests).toBe(8);
    expect(Math.max(...server.key('healthy').times)).toBeLessThan(firstAnswer);
    expect(server.key('sick').early).toBe(0);
  });

  it('sends a call that is always rejected maxRateLimited + 1 times, and says so', async () => {
    await using server = await startFaultServer({ faults: { always: '3/both' } });
    using place = new EvalPlace();
    const providers = [at(server.url, 'busy'), at(server.url, 'impatient')];
    const lanes = { 'openai:chat:busy': { maxRateLimited: 3 }, 'openai:chat:impatient': { maxRateLimited: 1 } };
    place.config({ providers, prompts: ['hi'], lanes });
    expect((await place.eval()).code).toBe(100);
    expect([server.key('busy').requests, server.key('impatient').requests]).toEqual([4, 2]);
    expect(place.rows().map(({ attempts, failureReason }) => [attempts, failureReason])).toEqual([
      [4, 2],
      [2, 2],
    ]);
  });

  it('says how close it came to what the limits allow, what binds and where the time went', async () => {
    using place = new EvalPlace();
    place.config({
      providers: ['sim:fast?latency=20ms'],
      prompts: ['{{x}}'],
      tests: numbered(10),
      lanes: { 'sim:fast?latency=20ms': { rpm: 1200 } },
    });
    const { out } = await place.eval();
    expect(out).toMatch(
      /\d+ % of what the limits allow \(0\.\d s at best\); sim:fast\S*'s requests bind; its time: .*at pace/,
    );
    const told = JSON.parse((await place.eval(['--json'])).out.trim().split('\n').at(-1) ?? '');
    expect(told.efficiency).toMatchObject({ bindingTerm: 'requests', lanes: [{ calls: 10 }] });
    expect(told.efficiency.boundMs).toBeGreaterThanOrEqual(450);
    expect(told.efficiency.makespanMs).toBeGreaterThanOrEqual(told.efficiency.boundMs);
  });

  it('keeps an answer that says nothing is left, and does not send it again', async () => {
    await using server = await startFaultServer({ faults: { always: 16 } });
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'last')], prompts: ['hi'], defaultTest: passing });
    expect((await place.eval()).code).toBe(0);
    expect(server.key('last').requests).toBe(1);
    expect(place.rows()).toMatchObject([{ success: true, attempts: 1, response: { output: 'echo: hi' } }]);
  });

  it('does not stall for a minute after a rejection without a hint', async () => {
    await using server = await startFaultServer({ faults: { script: { 1: 4, 2: 4 } } });
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'curt')], prompts: ['hi'], defaultTest: passing });
    expect((await place.eval()).code).toBe(0);
    const [first = 0, , third = Number.NaN] = server.key('curt').times;
    expect(server.key('curt').requests).toBe(3);
    expect(third - first).toBeLessThan(30_000);
  });

  it('counts working time against timeoutMs, not waiting', async () => {
    const rules = [
      { key: 'queued', latency: 150, faults: { script: { 1: 14 } } },
      { key: 'hung', faults: { always: 34 } },
    ];
    await using server = await startFaultServer({ rules });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'queued'), at(server.url, 'hung')],
      prompts: ['{{x}}'],
      lanes: { 'openai:chat:queued': { maxConcurrent: 1 } },
      evaluateOptions: { timeoutMs: 1_200 },
      tests: [{ vars: { x: 'a' } }, ...numbered(5).map((test) => ({ ...test, providers: ['openai:chat:queued'] }))],
    });
    expect((await place.eval()).code).toBe(100);
    const queued = place.rows().filter(({ provider }) => provider.id.endsWith('queued'));
    const hung = place.rows().filter(({ provider }) => provider.id.endsWith('hung'));
    expect(queued.map(({ success }) => success)).toEqual(Array(6).fill(true));
    expect(Math.max(...queued.map(({ queueMs, backoffMs }) => queueMs + backoffMs))).toBeGreaterThan(1_200);
    expect(hung).toMatchObject([{ failureReason: 2, error: expect.stringContaining('timed out after 1200ms') }]);
  });

  it('closes the lane of a refused key only, gives every row an account, and ends badly', async () => {
    await using server = await startFaultServer({ rules: [{ key: 'refused', faults: { always: 59 } }] });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'refused'), at(server.url, 'good')],
      prompts: ['{{x}}'],
      defaultTest: passing,
      tests: numbered(20),
    });
    const { code, out } = await place.eval();
    expect(code).toBe(100);
    expect(out).toContain('40 cases: 20 passed, 0 failed, 20 errors');
    expect(server.key('refused').requests).toBeLessThan(20);
    expect(server.key('good').statuses).toEqual({ 200: 20 });
    for (const { provider, failureReason, error } of place.rows()) {
      const refused = provider.id.endsWith('refused');
      expect([failureReason, error === undefined]).toEqual(refused ? [2, false] : [0, true]);
    }
  });

  it('takes a provider’s delay as the least gap between starts, with no slot asleep', async () => {
    await using server = await startFaultServer({ latency: 600 });
    using place = new EvalPlace();
    place.config({ providers: [{ ...at(server.url, 'gapped'), delay: 200 }], prompts: ['{{x}}'], tests: numbered(4) });
    expect((await place.eval()).code).toBe(0);
    const { times, peakInFlight } = server.key('gapped');
    // Start to start is kept by the sender; single arrivals may be early or late.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(400);
    expect(peakInFlight).toBeGreaterThan(1);
  });

  it('goes one by one when the run itself has a delay', async () => {
    await using server = await startFaultServer({ latency: 50 });
    using place = new EvalPlace();
    const providers = [at(server.url, 'one'), at(server.url, 'two')];
    place.config({ providers, prompts: ['{{x}}'], tests: numbered(3) });
    expect((await place.eval(['--delay', '20'])).code).toBe(0);
    const spans = server.ledger.map(({ at: from, endedAt = 0 }) => ({ from, endedAt }));
    for (const [position, { from }] of spans.entries()) {
      if (position > 0) expect(from).toBeGreaterThanOrEqual(spans[position - 1]?.endedAt ?? 0);
    }
  });

  it('grades an answer as soon as it is there, through the grader’s own lane', async () => {
    const verdict = '{"pass": true, "score": 1, "reason": "fine"}';
    await using server = await startFaultServer({
      rules: [
        { key: 'slow', latency: 2_500 },
        { key: 'grader', replies: verdict },
      ],
    });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'fast'), at(server.url, 'slow')],
      prompts: ['{{x}}'],
      defaultTest: { options: { provider: at(server.url, 'grader') }, assert: [{ type: 'llm-rubric', value: 'kind' }] },
      tests: numbered(2),
    });
    expect((await place.eval()).code).toBe(0);
    const graded = server.key('grader').times;
    const slowEnds = server.ledger.filter(({ key }) => key === 'slow').map(({ endedAt = 0 }) => endedAt);
    expect(graded).toHaveLength(4);
    expect(graded.filter((time) => time < Math.min(...slowEnds))).toHaveLength(2);
  });

  it('never has more calls in flight than -j, and as many as its lanes allow without it', async () => {
    await using server = await startFaultServer({ latency: 60 });
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'capped')], prompts: ['{{x}}'], tests: numbered(12) });
    expect((await place.eval(['-j', '2'])).code).toBe(0);
    expect(server.key('capped').peakInFlight).toBe(2);
    server.reset();
    expect((await place.eval()).code).toBe(0);
    expect(server.key('capped').peakInFlight).toBeGreaterThan(4);
  });
});
