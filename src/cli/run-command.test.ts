import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import { hastyClock } from '../../test/support/hasty-clock.ts';
import type { Clock } from '../platform/clock.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-run-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]) => parlaneOn(undefined, ...args);

const parlaneOn = (clock: Clock | undefined, ...args: string[]) =>
  commandLine({ cwd, ...(clock === undefined ? {} : { clock }) }, ...args);

const config = (more = ''): void =>
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `description: desk
prompts: ["Say {{word}}"]
providers: [sim:instant, "sim:echo"]
tests:
  - {description: apple, vars: {word: apple}, assert: [{type: icontains, value: apple}]}
  - {description: pear, vars: {word: pear}, assert: [{type: icontains, value: cherry}]}
conversations:
  - spec: order_desk
    scenarios:
      - {name: buys apples, variables: {client_name: Ada, goal: order two boxes of apples}}
    models: {agent: "sim:agent?latency=0ms", client: "sim:client?latency=0ms"}
    repeat: 2
${more}`,
  );

describe('parlane run', () => {
  it('counts what it is going to run, and offers a comparison once there are two runs', async () => {
    config();
    const first = await parlane('run', '--no-forecast', '--only', 'pear');
    expect(first.err).toMatch(/parlane\.yaml {2}ok {2}\(2 test cases\)\n/);
    expect(first.out).not.toContain('parlane compare');
    const second = await parlane('run', '--no-forecast', '--only', 'buys apples');
    expect(second.err).toMatch(/parlane\.yaml {2}ok {2}\(2 conversations\)\n/);
    expect(second.out).toMatch(/Compare +npx parlane compare/);
    const stopped = await parlane('run', '--no-forecast', '--max-time', '1ms');
    expect(stopped).toMatchObject({ code: 3, out: expect.not.stringContaining('parlane compare') });
  });

  it('runs evals and conversations of one file through the same lanes, forecast before and summary after', async () => {
    config();
    const { code, out, err } = await parlane('run');
    expect(err).toMatch(/parlane\.yaml {2}ok {2}\(4 test cases \+ 2 conversations\)/);
    expect(err).toMatch(/LANE +CASES +CALLS/);
    expect(out).toMatch(/6 cases in .*passed/);
    expect(out).toMatch(/FAILED +#\d+ +pear/);
    expect(code).toBe(100);
    const runs = JSON.parse((await parlane('runs', '--json')).out) as { runs: { planned: number; status: string }[] };
    expect(runs.runs).toMatchObject([{ planned: 6, status: 'complete' }]);
  });

  it('goes by the clock of its surroundings: an answer that takes an hour is there at once where waiting is not', async () => {
    writeFileSync(
      join(cwd, 'parlane.yaml'),
      'prompts: ["Say {{word}}"]\nproviders: ["sim:fast?latency=60m"]\ntests: [{vars: {word: yes}}]\n',
    );
    const { code, out } = await parlaneOn(hastyClock(Date.UTC(2026, 0, 1)), 'run', '--no-forecast');
    expect(code).toBe(0);
    expect(out).toMatch(/1 case in 1:00:\d\d/);
    const { runs } = JSON.parse((await parlane('runs', '--json')).out);
    expect(runs[0].createdAt).toMatch(/^2026-01-01T00:00/);
  });

  it('with --failed runs what did not pass last time, and --only what is named', async () => {
    config();
    await parlane('run', '--no-forecast');
    expect((await parlane('run', '--failed', '--no-forecast')).out).toMatch(/2 cases in/);
    expect((await parlane('run', '--only', 'pe*r', '--no-forecast')).out).toMatch(/2 cases in .* 2 failed/);
    expect((await parlane('run', '--only', '#2', '--no-forecast')).out).toMatch(/1 case in/);
  });

  it('with --json tells every event as a line and nothing else on stdout', async () => {
    config();
    const { out, code } = await parlane('run', '--json', '--fail-under', '10%');
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(events[0]).toMatchObject({ type: 'run-start', planned: 6 });
    expect(events.at(-1)).toMatchObject({ type: 'run-end', complete: true });
    expect(events.filter(({ type }) => type === 'case-end')).toHaveLength(6);
    expect(code).toBe(0);
  });

  it('stops at its time limit, resumable, and resume finishes it with the same table', async () => {
    config();
    const stopped = await parlane('run', '--max-time', '1ms', '--no-forecast');
    expect(stopped.code).toBe(3);
    expect(stopped.out).toMatch(/Continue +npx parlane resume 20/);
    const resumed = await parlane('resume');
    expect(resumed.out).toMatch(/6 cases: .*0 open/);
    expect(resumed.code).toBe(100);
  });

  it('lists after a resume what did not pass in the whole run, and what one can do next', async () => {
    config();
    await parlane('run', '--max-time', '1ms', '--no-forecast');
    const { out } = await parlane('resume');
    expect(out).toMatch(/FAILED +#\d+ +pear[\s\S]*Look closer +npx parlane show \d[\s\S]*Report[\s\S]*Run it again/);
    expect(out).toMatch(/\(exit code 100: some checks failed\)\nrun 20/);
    await parlane('run', '--no-forecast');
    const errors = await parlane('resume', '--errors-too');
    expect(errors.out, 'what failed in an earlier sitting').toMatch(/FAILED +#\d+ +pear/);
  });

  it('suggests commands that work as they stand, whatever config and store it was started with', async () => {
    const names = { providers: ['sim:instant'], prompts: ['Say {{word}}'] };
    const test = { vars: { word: 'pear' }, assert: [{ type: 'icontains', value: 'cherry' }] };
    writeFileSync(join(cwd, 'small.yaml'), JSON.stringify({ ...names, tests: [test, { vars: { word: 'fig' } }] }));
    writeFileSync(join(cwd, 'parlane.yaml'), JSON.stringify({ ...names, tests: [{ vars: { word: 'other' } }] }));
    const first = await parlane('run', 'small.yaml', '--no-forecast', '--store', 'else where');
    const suggested = (what: string): string[] => {
      const [, words = ''] = new RegExp(`${what} +npx parlane (.*?)(?: {3}|\n)`).exec(first.out) ?? [];
      return words
        .replace("'else where'", 'else_where')
        .split(' ')
        .map((word) => word.replace('else_where', 'else where'));
    };
    const again = await parlane(...suggested('Run it again'));
    expect(again.out).toMatch(/1 case in .* 1 failed/);
    expect(again.code).toBe(100);
    expect((await parlane(...suggested('Look closer'))).out).toMatch(/#1/);
  });

  it.each([
    [['run'], /there is no config here/],
    [['run', '--max-time', 'soon'], /--max-time is "soon"\. Write a time like 90s/],
    [['run', '--fail-under', 'most'], /Write a share like 95%/],
    [['run', '--repeat', '0'], /--repeat is "0"/],
    [['run', '--budget', '-1'], /--budget is "-1"/],
    [['run', 'nowhere.yaml'], /nowhere\.yaml.*there is no such config file/],
  ])('refuses %j, spends nothing and exits with 2', async (args, message) => {
    const { code, err } = await parlane(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });

  it('refuses filters that leave nothing', async () => {
    config();
    const { code, err } = await parlane('run', '--only', 'zebra');
    expect(err).toMatch(/nothing to run/);
    expect(code).toBe(2);
  });
});

describe('parlane plan', () => {
  it('tells calls, time and cost per lane and sends nothing', async () => {
    config();
    const { out, code } = await parlane('plan');
    expect(out).toMatch(/sim:instant +2/);
    expect(out).toMatch(/Nothing was sent\./);
    expect(code).toBe(0);
    expect((await parlane('runs')).out).toBe('No runs yet.\n');
  });

  it('guesses more calls of agents with tools, who are asked again after a tool', async () => {
    const callsOf = async (use_tools: boolean): Promise<number[]> => {
      const models = { agent: 'sim:agent', client: 'sim:client' };
      const scenarios = [
        { name: 'apples', variables: { client_name: 'Ada', goal: 'order apples' }, expected_turns: 6 },
      ];
      const conversations = [{ spec: 'order_desk', use_tools, scenarios, models }];
      writeFileSync(join(cwd, 'talk.yaml'), JSON.stringify({ conversations }));
      const { out } = await parlane('plan', 'talk.yaml', '--json');
      const { lanes } = JSON.parse(out) as { lanes: { calls: { likely: number } }[] };
      return lanes.map(({ calls }) => calls.likely);
    };
    const [agent = 0, client = 0] = await callsOf(false);
    expect(agent - client).toBeLessThanOrEqual(1);
    const [oftener = 0, same = 0] = await callsOf(true);
    expect(oftener - same).toBeGreaterThanOrEqual(3);
  });

  it('says what another limit would change', async () => {
    config('lanes: {"sim:instant": {rpm: 2}}\n');
    const { out } = await parlane('plan', '--what-if', 'sim:instant.rpm=600');
    expect(out).toMatch(/instead of .* sooner/);
    const byPart = await parlane('plan', '--what-if', 'instant.rpm=600');
    expect(byPart.out, 'a part of the name, as ctl takes it').toMatch(/instead of .* sooner/);
    expect((await parlane('plan', '--what-if', 'nowhere.rpm=1')).err).toMatch(/No lane is called "nowhere"/);
    const json = JSON.parse((await parlane('plan', '--json')).out) as { cases: number; lanes: unknown[] };
    expect(json.cases).toBe(6);
  });
});
