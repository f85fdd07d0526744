/** What an eval means: order, state between tests, templates, config problems, totals. */
import { describe, expect, it } from 'vitest';
import { startFaultServer } from '../../src/testing/index.ts';
import { at, EvalPlace, numbered } from '../support/eval-process.ts';

/** A server that remembers what it was asked, in order. */
async function listening(options: { latency?: number; replies?: (model: string, text: string) => string } = {}) {
  const asked: string[] = [];
  const replies = options.replies ?? ((_: string, text: string) => `echo: ${text}`);
  const server = await startFaultServer({
    latency: options.latency ?? 0,
    replies: (request) => {
      asked.push(`${request.model}|${request.lastText}`);
      return replies(request.model, request.lastText);
    },
  });
  return { server, asked };
}

describe.concurrent('order between the tests of an eval', { timeout: 120_000 }, () => {
  it('runs runSerially tests first, one by one, before anything concurrent', async () => {
    const { server } = await listening({ latency: 40 });
    await using _server = server;
    using place = new EvalPlace();
    const tests = numbered(8).map((test, position) =>
      position % 4 === 3 ? { ...test, options: { runSerially: true } } : test,
    );
    place.config({ providers: [at(server.url, 'a'), at(server.url, 'b')], prompts: ['{{x}}'], tests });
    expect((await place.eval()).code).toBe(0);
    const serial = server.ledger.slice(0, 4);
    expect(serial.map(({ key }) => key)).toEqual(['a', 'b', 'a', 'b']);
    for (const [position, { at: from }] of serial.entries()) {
      if (position > 0) expect(from).toBeGreaterThanOrEqual(serial[position - 1]?.endedAt ?? 0);
    }
    const serialEnd = Math.max(...serial.map(({ endedAt = 0 }) => endedAt));
    expect(server.ledger.slice(4).every(({ at: from }) => from >= serialEnd)).toBe(true);
    expect(place.rows().map(({ testIdx, promptIdx }) => [testIdx, promptIdx])).toEqual(
      numbered(8).flatMap((_, test) => [
        [test, 0],
        [test, 1],
      ]),
    );
  });

  it.for([
    ['_conversation in a prompt', { prompts: ['{{_conversation | length}} {{x}}'], tests: numbered(5) }],
    [
      'storeOutputAs in a test',
      { prompts: ['{{x}}'], tests: [...numbered(4), { vars: { x: 'y' }, options: { storeOutputAs: 'kept' } }] },
    ],
  ] as const)('is one after the other over all providers with %s', async ([, suite]) => {
    const { server } = await listening({ latency: 30 });
    await using _server = server;
    using place = new EvalPlace();
    place.config({ providers: [at(server.url, 'a'), at(server.url, 'b')], ...suite });
    expect((await place.eval()).code).toBe(0);
    for (const [position, { at: from }] of server.ledger.entries()) {
      if (position > 0) expect(from).toBeGreaterThanOrEqual(server.ledger[position - 1]?.endedAt ?? 0);
    }
    expect(server.ledger).toHaveLength(10);
  });

  it('keeps order only within a conversation with serialize: conversation, with the same prompts', async () => {
    const conversations = ['p', 'q', 'r'];
    const suite = (url: string) => ({
      providers: [at(url, 'a')],
      prompts: ['{% for one in _conversation %}<{{one.input}}>{% endfor %}{{x}}'],
      tests: [1, 2, 3].flatMap((turn) =>
        conversations.map((id) => ({ vars: { x: `${id}${turn}` }, metadata: { conversationId: id } })),
      ),
    });
    const prompts: string[][] = [];
    const peaks: number[] = [];
    for (const serialize of ['global', 'conversation']) {
      const { server, asked } = await listening({ latency: 250 });
      await using _server = server;
      using place = new EvalPlace();
      place.config({ ...suite(server.url), serialize });
      expect((await place.eval()).code).toBe(0);
      prompts.push(asked.toSorted());
      peaks.push(server.key('a').peakInFlight);
    }
    expect(prompts[1]).toEqual(prompts[0]);
    expect(peaks[0]).toBe(1);
    expect(peaks[1]).toBeGreaterThan(1);
  });

  it('keeps registers per column: a provider never sees what another one said', async () => {
    const { server, asked } = await listening({ replies: (model) => `said by ${model}` });
    await using _server = server;
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a'), at(server.url, 'b')],
      prompts: ['{{x}} {{kept}}'],
      tests: [{ vars: { x: 'first' }, options: { storeOutputAs: 'kept' } }, { vars: { x: 'second' } }],
    });
    expect((await place.eval()).code).toBe(0);
    expect(asked).toEqual(['a|first ', 'b|first ', 'a|second said by a', 'b|second said by b']);
  });

  it('tells progress and totals that agree with the table', async () => {
    const { server } = await listening();
    await using _server = server;
    using place = new EvalPlace();
    const tests = numbered(7).map((test, position) =>
      position === 2 ? { ...test, assert: [{ type: 'equals', value: 'no' }] } : test,
    );
    place.config({ providers: [at(server.url, 'a'), at(server.url, 'b')], prompts: ['{{x}}'], tests });
    const { code, out, err } = await place.eval(['--verbose', '--plain', '-o', 'out.json']);
    expect(code).toBe(100);
    const told = [...err.matchAll(/^(\d+) of (\d+): #(\d+) /gm)].map((match) => match.slice(1).map(Number));
    expect(told.map(([completed]) => completed)).toEqual(Array.from({ length: 14 }, (_, position) => position + 1));
    expect(new Set(told.map(([, total]) => total))).toEqual(new Set([14]));
    expect(told.map(([, , number = 0]) => number).sort((a, b) => a - b)).toEqual([...Array(15).keys()].slice(1));
    expect(out).toContain('14 cases: 12 passed, 2 failed, 0 errors');
    expect(place.rows()).toHaveLength(14);
  });
});

describe.concurrent('what the config of an eval says', { timeout: 120_000 }, () => {
  it('is warned about at file:line:column with the nearest name, and refused only by --strict and check', async () => {
    const { server } = await listening();
    await using _server = server;
    using place = new EvalPlace();
    place.config(
      `providers:\n  - ${JSON.stringify(at(server.url, 'a'))}\nprompts: [hi]\ndefaultTets: {}\ntests:\n  - vars: {x: a}\n    asert: []\n`,
    );
    const { code, err } = await place.eval();
    expect(code).toBe(0);
    expect(err).toMatch(/promptfooconfig\.yaml:4:1.*unknown key "defaultTets"/);
    expect(err).toMatch(/promptfooconfig\.yaml:7:5.*unknown key "asert"/);
    expect(err).toContain('did you mean "defaultTest"?');
    expect(err).toContain('did you mean "assert"?');
    const paid = server.ledger.length;
    expect((await place.eval(['--strict'])).code).toBe(2);
    expect((await place.start(['check']).ended).code).toBe(2);
    expect(server.ledger).toHaveLength(paid);
  });

  it('makes rows with an unknown assertion errors, and pays for none of them', async () => {
    const { server, asked } = await listening();
    await using _server = server;
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      tests: [{ vars: { x: 'good' } }, { vars: { x: 'odd' }, assert: [{ type: 'contians', value: 'x' }] }],
    });
    const { code, err } = await place.eval();
    expect(code).toBe(100);
    expect(err).toContain('did you mean "contains"?');
    expect(asked).toEqual(['a|good']);
    expect(place.rows()).toMatchObject([
      { failureReason: 0 },
      { failureReason: 2, error: expect.stringContaining('contians') },
    ]);
  });

  it('is a template; what models said never is, neither as register nor as history', async () => {
    const attack = '{{ env.SECRET_TOKEN }} {{ 7 * 7 }} {% raw %}';
    const { server, asked } = await listening({ replies: () => attack });
    await using _server = server;
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}} {{kept}} {% for one in _conversation %}[{{one.output}}]{% endfor %} {{ env.PLAIN }}'],
      tests: [{ vars: { x: '{{y}}', y: 'one' }, options: { storeOutputAs: 'kept' } }, { vars: { x: 'two' } }],
    });
    expect((await place.eval([], { SECRET_TOKEN: 'do-not-tell', PLAIN: 'told' })).code).toBe(0);
    expect(asked).toEqual(['a|one   told', `a|two ${attack} [${attack}] told`]);
    expect(JSON.stringify(place.rows())).not.toContain('do-not-tell');
  });
});
