/** What a run costs, told by the program itself: one number wherever one looks, and a cap that is kept and used. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../bin/parlane.js', import.meta.url));

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-money-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const parlane = (...args: string[]): Promise<Said> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd, maxBuffer: 1 << 26 }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

const priced = (model: string): string => `"sim:${model}?latency=5ms&price=2/8"`;

const mixed = (repeat: number): void =>
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `description: desk
prompts: ["Say {{word}}"]
providers: [${priced('fast')}]
tests:
  - {vars: {word: apple}, assert: [{type: llm-rubric, value: is nice, provider: ${priced('judge')}}]}
  - {vars: {word: pear}, assert: [{type: icontains, value: nowhere}]}
  - {vars: {word: plum}}
conversations:
  - spec: order_desk
    scenarios:
      - {name: buys apples, variables: {client_name: Ada, goal: order two boxes of apples}}
    models: {agent: ${priced('agent')}, client: ${priced('client')}, judge: ${priced('judge')}}
    repeat: ${repeat}
`,
  );

const micros = (usd: number | string): number => Math.round(Number(usd) * 1_000_000);

/** The cost of the newest run by every way of asking; each must say the same. */
async function told(events: readonly Record<string, unknown>[]): Promise<Record<string, number>> {
  const { runs } = JSON.parse((await parlane('runs', '--json')).out);
  const summary = JSON.parse((await parlane('summary', '--json')).out);
  const rows = readFileSync(join(cwd, 'out.jsonl'), 'utf8').trim().split('\n');
  const [head = '', ...lines] = readFileSync(join(cwd, 'out.csv'), 'utf8').trim().split('\r\n');
  const at = head.split(',').indexOf('cost_usd') - head.split(',').length;
  const end = events.at(-1) as { spent: { usdMicros: number } };
  return {
    spend: Number(events.findLast(({ type }) => type === 'spend')?.['usdMicros']),
    end: end.spent.usdMicros,
    runs: runs[0].costUsdMicros,
    summary: micros(summary.cost_usd),
    csv: lines.reduce((sum, line) => sum + micros(line.split(',').at(at) ?? 0), 0),
    jsonl: rows.reduce((sum, line) => sum + (JSON.parse(line).costUsdMicros ?? 0), 0),
  };
}

const run = async (...args: string[]): Promise<{ code: number; events: Record<string, unknown>[] }> => {
  const output = ['-o', 'out.csv', 'out.jsonl'];
  const { code, out } = await parlane('run', '--json', '--no-forecast', ...args, ...output);
  return {
    code,
    events: out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
};

describe('the cost of a run', { timeout: 120_000 }, () => {
  it('is one number in events, lists, summaries and files, also of a run that its budget has stopped', async () => {
    mixed(12);
    const { code, events } = await run('--budget', '0.04');
    expect(code).toBe(3);
    const sums = await told(events);
    const [spent = 0] = Object.values(sums);
    expect(Object.values(sums)).toEqual(Object.values(sums).map(() => spent));
    expect(spent).toBeGreaterThan(20_000);
    expect(spent).toBeLessThanOrEqual(40_000);
    expect(events.filter(({ type }) => type === 'spend').length).toBeGreaterThan(1);
    const stop = events.find(({ type }) => type === 'run-stop') as { need: Record<string, number> };
    expect(stop.need['leftUsdMicros']).toBe(40_000 - spent);
    expect(stop.need['nextUsdMicros']).toBeGreaterThan(40_000 - spent);

    const resumed = JSON.parse((await parlane('resume', '--json', '--budget', '5')).out);
    expect(resumed).toMatchObject({ complete: true });
    const { runs } = JSON.parse((await parlane('runs', '--json')).out);
    expect(runs[0].costUsdMicros).toBe(resumed.spent.usdMicros);
    expect(micros(JSON.parse((await parlane('summary', '--json')).out).cost_usd)).toBe(resumed.spent.usdMicros);
  });
});

describe('a budget', { timeout: 120_000 }, () => {
  it('that cannot pay for one call is refused: nothing is sent, nothing is kept', async () => {
    mixed(1);
    const { code, err } = await parlane('run', '--no-forecast', '--budget', '0.004');
    expect(code).toBe(2);
    expect(err).toMatch(
      /too small for one call: the next call may cost up to \$0\.0\d+ and \$0\.0040 of \$0\.0040 is left; give at least --budget 0\.0\d+/,
    );
    expect((await parlane('runs')).out).toBe('No runs yet.\n');
  });

  it('that stops a run says what the next call may cost, and the advice works', async () => {
    mixed(3);
    const { code, out } = await parlane('run', '--no-forecast', '--plain', '--budget', '0.012');
    expect(code).toBe(3);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /Stopped: the next call may cost up to \$\S+ and \$\S+ of \$0\.0120 is left; give at least --budget \S+\. /,
    );
    const enough = /Continue +npx parlane resume \S+ --budget (\S+)/.exec(out.replaceAll(/\s+/g, ' '))?.[1] ?? '';
    const before = JSON.parse((await parlane('runs', '--json')).out).runs[0].costUsdMicros;
    expect((await parlane('resume', '--budget', enough)).code).toBe(3);
    expect(JSON.parse((await parlane('runs', '--json')).out).runs[0].costUsdMicros).toBeGreaterThan(before);
  });
});

describe('the summary', { timeout: 120_000 }, () => {
  const summary = async () => JSON.parse((await parlane('summary', '--json')).out);

  it('has the evals and the conversations of a mixed run, and every role: they add up to the cost', async () => {
    mixed(2);
    await parlane('run', '--no-forecast', '--json');
    const told = await summary();
    expect(told).toMatchObject({
      planned: 5,
      evals: { planned: 3, scored: 3, counts: { failed: 1 }, columns: [{ prompt: 'Say {{word}}', planned: 3 }] },
      conversations: { planned: 2 },
      turns: { count: 2 },
    });
    expect(Object.keys(told.per_role)).toEqual([
      'agent:agent',
      'agent:flow_manager',
      'client',
      'grader',
      'judge',
      'prompt',
    ]);
    const roles = Object.values(told.per_role) as { cost_usd: number; input_tokens: number }[];
    expect(roles.reduce((sum, { cost_usd }) => sum + micros(cost_usd), 0)).toBe(micros(told.cost_usd));
    expect(roles.reduce((sum, { input_tokens }) => sum + input_tokens, 0)).toBe(told.input_tokens);
    expect(micros(told.evals.cost_usd) + micros(told.conversations.cost_usd)).toBe(micros(told.cost_usd));
    const { out } = await parlane('summary');
    expect(out).toMatch(
      /^3 test cases: 2 passed, 1 failed, 0 errors[\s\S]*^2 conversations: [\s\S]*^cost +\$0\.0\d+ \(/m,
    );
  });

  it('of an eval has its numbers by provider and prompt, and no word about conversations', async () => {
    writeFileSync(
      join(cwd, 'promptfooconfig.yaml'),
      `prompts: ["Say {{word}}", "Shout {{word}}"]
providers: [${priced('fast')}]
tests: [{vars: {word: apple}}, {vars: {word: pear}, assert: [{type: contains, value: nowhere}]}]
`,
    );
    expect((await parlane('eval', '--no-cache')).code).toBe(100);
    const told = await summary();
    expect(told).toMatchObject({
      planned: 4,
      scored: 4,
      successes: 2,
      success_rate: 0.5,
      evals: { success_rate: 0.5 },
    });
    expect(told.evals.columns).toMatchObject([
      { prompt: 'Say {{word}}', planned: 2, successes: 1 },
      { prompt: 'Shout {{word}}', planned: 2, successes: 1 },
    ]);
    expect(told.evals.columns[0].cost_usd).toBeGreaterThan(0);
    expect(told.conversations).toBeUndefined();
    const { out } = await parlane('summary');
    expect(out).toMatch(/4 test cases: 2 passed, 2 failed/);
    expect(out).toMatch(/\| Shout \{\{word\}\}: 1 of 2, 50 %; \d+ tokens in, \d+ out; \$0\.000\d/);
    expect(out).not.toMatch(/conversation|turns/);
  });
});

describe('a suite whose provider fails', { timeout: 120_000 }, () => {
  it('ends with 4 by run and resume, and with 100 by eval, where errors count as failures', async () => {
    writeFileSync(
      join(cwd, 'promptfooconfig.yaml'),
      `prompts: ["Say {{word}}"]
providers: ["file://broken.mjs", "sim:fast?latency=1ms"]
tests: [{vars: {word: apple}}]
`,
    );
    writeFileSync(
      join(cwd, 'broken.mjs'),
      'export default class { id() { return "broken"; } async callApi() { return { error: "no" }; } }\n',
    );
    expect((await parlane('run', '--no-forecast')).code).toBe(4);
    expect((await parlane('resume', '--errors-too')).code).toBe(4);
    expect((await parlane('eval', '--no-cache')).code).toBe(100);
  });
});

describe('show --raw', { timeout: 120_000 }, () => {
  it('has the request of a sent and of a cached answer, as the model was asked, without the test around it', async () => {
    writeFileSync(
      join(cwd, 'promptfooconfig.yaml'),
      `prompts: ["Say {{word}}"]
providers: [{id: ${priced('fast')}, config: {seed: 3}}]
tests: [{vars: {word: apple}, assert: [{type: icontains, value: the-expected-word}]}]
`,
    );
    await parlane('eval');
    const sent = (await parlane('show', '1', '--raw')).out;
    expect(sent).toMatch(/^== model prompt\n-> sim:fast\S* \(prompt\)\n\{[\s\S]*"prompt": "Say apple"[\s\S]*^<- *\n/m);
    await parlane('eval');
    const cached = (await parlane('show', '1', '--raw')).out;
    expect(cached).toMatch(
      /^== model prompt \(cached: nothing was sent\)\n-> [\s\S]*"prompt": "Say apple"[\s\S]*^<- /m,
    );
    for (const shown of [sent, cached]) expect(shown).not.toContain('the-expected-word');
  });
});
