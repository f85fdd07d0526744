import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type Said } from '../../../test/support/command-line.ts';

let cwd: string;
const parlane = (...args: string[]): Promise<Said> => commandLine({ cwd }, ...args);
const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await parlane(...args, '--json')).out) as T;
const newest = async (): Promise<{ id: string; planned: number }> =>
  (await json<{ runs: { id: string; planned: number }[] }>('runs')).runs[0] ?? { id: '', planned: 0 };

const config = `description: desk
prompts: ["Say {{word}}"]
providers: ["sim:echo"]
tests:
  - {description: apple, vars: {word: apple}, assert: [{type: icontains, value: apple}]}
  - {description: pear, vars: {word: pear}, assert: [{type: icontains, value: cherry}]}
conversations:
  - spec: order_desk
    scenarios:
      - name: buys apples
        variables: {client_name: Ada, goal: order two boxes of apples}
        checks: [{type: contains, value: certainly not said by anybody}]
    models: {agent: "sim:agent?latency=0ms", client: "sim:client?latency=0ms"}
`;
let first: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-on-'));
  writeFileSync(join(cwd, 'parlane.yaml'), config);
  writeFileSync(join(cwd, 'new.md'), 'You are the order desk. Say: it is certainly not said by anybody else.');
  writeFileSync(
    join(cwd, 'scenarios.yaml'),
    '- {name: buys pears, variables: {client_name: Ada, goal: order a box of pears}}\n',
  );
  expect((await parlane('run', '--no-forecast')).code).toBe(100);
  first = (await newest()).id;
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('parlane fork', () => {
  it('keeps the first turns as recorded, plays on, and shows the verdicts side by side', async () => {
    const { out, err, code } = await parlane('fork', '3', '--after', '1', '--agent-prompt', 'new.md', '--run', first);
    expect(err).toMatch(/Kept turn 1 \(recorded\)\. Playing on from turn 2/);
    expect(out).toMatch(/3 +failed[\s\S]*3f1 +\w+ +\d+ turns?[\s\S]*3f3/);
    expect(out).toMatch(/3 tries: \d passed, \d failed\. {3}Was: 0 of 1\. {3}npx parlane show 3f1 --run /);
    expect([0, 100]).toContain(code);
  });

  it('leaves the original as it is; a try has the same first turn and is shown by its own name', async () => {
    type Shown = { row: { detail: { conversation_history: { turn: number; content: string }[] } } };
    const turnsOf = ({ row }: Shown): string[] =>
      row.detail.conversation_history.filter(({ turn }) => turn === 1).map(({ content }) => content);
    const [original, tried] = [
      await json<Shown>('show', '3', '--run', first),
      await json<Shown>('show', '3f2', '--run', first),
    ];
    expect(turnsOf(tried)).toEqual(turnsOf(original));
    expect(await json('show', '3')).toMatchObject({ run: first, row: { status: 'failed' } });
    // A fork is never the latest run.
    expect((await parlane('compare', first, 'latest')).err).toMatch(/are the same run/);
  });

  it('forks a fork, with another line of the client, so often as told', async () => {
    const told = await json<{
      tries: { id: string; row: { detail: { conversation_history: { content: string }[] } } }[];
    }>(...['fork', '3f1', '--after', '1', '--client-says', 'Never mind.', '--tries', '1', '--run', first]);
    expect(told.tries.map(({ id }) => id)).toEqual(['3f1f1']);
    const said = told.tries[0]?.row.detail.conversation_history.map(({ content }) => content);
    expect(said).toContain('Never mind.');
    expect((await parlane('show', '3f1f1', '--run', first)).out).toContain('Never mind.');
  });

  it('works on conversations of simulate too, with another model', async () => {
    const here = mkdtempSync(join(tmpdir(), 'parlane-sim-'));
    try {
      const at = (...args: string[]): Promise<Said> => commandLine({ cwd: here }, ...args);
      writeFileSync(join(here, 's.yaml'), '- {name: pears, variables: {client_name: Ada, goal: order pears}}\n');
      await at(
        'simulate',
        's.yaml',
        '--spec',
        'order_desk',
        '--agent-model',
        'sim:agent?latency=0ms',
        '--client-model',
        'sim:client?latency=0ms',
      );
      const { out } = await at('fork', '1', '--after', '1', '--model', 'sim:agent?latency=0ms&seed=3', '--tries', '2');
      expect(out).toMatch(/2 tries: 2 passed, 0 failed\. {3}Was: 1 of 1\./);
    } finally {
      rmSync(here, { recursive: true, force: true });
    }
  });

  it.each([
    [['fork', '3', '--after', '99'], /--after is "99", and case #3 has \d+ turns?.*0 to \d/],
    [['fork', '3'], /required option '--after <turn>'/],
    [['fork', '1', '--after', '0'], /Case #1 is not a conversation/],
    [['fork', '9', '--after', '0'], /no case #9/],
    [['fork', '3', '--after', '1', '--agent-prompt', 'nowhere.md'], /There is no file "nowhere.md"/],
    [['fork', '3', '--after', '1', '--agent', 'bob', '--agent-prompt', 'new.md'], /no agent "bob"/],
    [['fork', '3', '--after', '1', '--tries', 'many'], /--tries is "many"/],
    [['fork', '3', '--after', '1', '--model', 'opnai:x'], /opnai/],
    [['fork', '3', '--after', '1', '--model', 'sim:zzz'], /zzz/],
    [['fork', '3', '--after', '1', '--agent', 'foo'], /foo/],
  ])('refuses %j and exits with 2', async (args, message) => {
    const { code, err } = await parlane(...args, '--run', first);
    expect(err).toMatch(message);
    expect(err).not.toMatch(/Kept|Playing on/);
    expect(code).toBe(2);
  });

  it('says so when nothing is changed', async () => {
    const { err } = await parlane('fork', '3', '--after', '1', '--tries', '2', '--run', first);
    expect(err).toMatch(/Playing on from turn 2 \.\.\. Nothing is changed, so these 2 tries show what chance does\./);
  });
});

describe('parlane replay', () => {
  it.each(['1', '3'])('says that case %s asks the same again, and sends nothing', async (name) => {
    const { out, code } = await parlane('replay', name, '--run', first);
    expect(out).toMatch(/identical: \d+ recorded requests? made again/);
    expect(code).toBe(0);
  });

  it('shows the first request that differs, when the code that made it was changed', async () => {
    const here = mkdtempSync(join(tmpdir(), 'parlane-replay-'));
    try {
      const at = (...args: string[]): Promise<Said> => commandLine({ cwd: here }, ...args);
      writeFileSync(join(here, 'parlane.yaml'), 'prompts: [file://p.js]\nproviders: [echo]\ntests: [{vars: {w: a}}]\n');
      writeFileSync(join(here, 'p.js'), 'export default () => "Say apple";');
      await at('run', '--no-forecast');
      expect((await at('replay', '1')).out).toMatch(/identical/);
      writeFileSync(join(here, 'p.js'), 'export default () => "Say pear";');
      const { out, code } = await at('replay', '1');
      expect(out).toMatch(/differs\. Nothing was sent[\s\S]*recorded +.*Say apple[\s\S]*now +.*Say pear/);
      expect(code).toBe(100);
      expect(JSON.parse((await at('replay', '1', '--json')).out)).toMatchObject({ kind: 'differs', path: 'prompt' });
    } finally {
      rmSync(here, { recursive: true, force: true });
    }
  });

  it('works for a try of a fork', async () => {
    expect((await parlane('replay', '3f1', '--run', first)).out).toMatch(/identical/);
  });
});

describe('parlane retry', () => {
  it('runs what did not pass again, as a new run with the same numbers', async () => {
    const { out, code } = await parlane('retry', '--run', first);
    expect(out).toMatch(/2 cases in .* 2 failed/);
    expect(out).toMatch(/FAILED +#2 pear/);
    expect(code).toBe(100);
    expect(await newest()).toMatchObject({ planned: 2, from: first, again: 'retry' });
    const [listed] = (await parlane('runs')).out.split('\n');
    expect(listed).toContain(`retry of ${first}`);
  });

  it('makes a run that says which cases it has, and that another one is in the run it comes from', async () => {
    await parlane('run', '--no-forecast');
    await parlane('retry', '--run', first);
    const { id } = await newest();
    for (const command of ['show', 'replay']) {
      const { err, code } = await parlane(command, '1');
      expect(err).toBe(
        `The run ${id} has no case #1. It has 2 cases: #2 and #3. Case #1 is in run ${first}: add --run ${first}.\n`,
      );
      expect(code).toBe(2);
    }
    expect((await parlane('show', '9')).err).toMatch(/no case #9\. It has 2 cases: #2 and #3\.\n$/);
  });

  it('runs the cases that are named, passed or not', async () => {
    const told = await json<{ of: string; totals: { planned: number; passed: number } }>('retry', '1', '--run', first);
    expect(told).toMatchObject({ of: first, totals: { planned: 1, passed: 1 } });
    const { err, code } = await parlane('retry');
    expect(err).toMatch(/Every case passed in .*Name cases/s);
    expect(code).toBe(2);
  });

  it('leaves the open cases of a stopped run to resume, whatever it is asked for', async () => {
    const place = mkdtempSync(join(tmpdir(), 'parlane-open-'));
    const at = (...args: string[]): Promise<Said> => commandLine({ cwd: place }, ...args);
    const write = (value: string): void =>
      writeFileSync(
        join(place, 'parlane.yaml'),
        JSON.stringify({
          prompts: ['Say {{word}}'],
          providers: ['sim:echo?latency=0ms&price=10/10'],
          tests: ['apple', 'pear', 'plum', 'fig'].map((word) => ({
            vars: { word },
            assert: [{ type: 'icontains', value }],
          })),
          budget: 0.0105,
        }),
      );
    try {
      write('say');
      expect((await at('run', '--no-forecast')).code).toBe(3);
      for (const flags of [[], ['--errors']]) {
        const { err, code } = await at('retry', ...flags);
        expect(err).toMatch(/\d cases are open\. They are not lost: go on with parlane resume 20\S+\.\n$/);
        expect(code).toBe(2);
      }
      write('cherry');
      expect((await at('run', '--no-forecast')).code).toBe(3);
      const { runs } = JSON.parse((await at('runs', '--json')).out) as { runs: { rows: { failed: number } }[] };
      expect((await at('retry', '--errors')).code).toBe(2);
      const { err } = await at('retry');
      expect(err).toMatch(/\d cases stay open: go on with parlane resume/);
      const again = JSON.parse((await at('runs', '--json')).out) as { runs: { planned: number }[] };
      expect(again.runs[0]?.planned).toBe(runs[0]?.rows.failed);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});

describe('parlane rescore', () => {
  it('grades again without playing, also with another judge', async () => {
    const { out } = await parlane('rescore', first);
    expect(out).toMatch(/3 cases in .* 1 passed +2 failed/);
    expect((await parlane('runs', '--limit', '1')).out).toContain(`rescore of ${first}`);
    const told = await json<{ run: string; totals: { planned: number } }>(
      'rescore',
      first,
      '--judge-model',
      'sim:judge',
    );
    expect(told.totals.planned).toBe(3);
    type Shown = {
      row: { verdict: { componentResults: { assertion: { type: string } }[] } };
      steps: { kind: string; path: string; request?: object }[];
    };
    const shown = await json<Shown>('show', '3', '--raw', '--run', told.run);
    expect(shown.row.verdict.componentResults.map(({ assertion }) => assertion.type)).toContain('judge');
    expect(shown.steps.filter(({ kind, path }) => kind === 'model' && !path.startsWith('grade'))).toEqual([]);
    const prompt = await json<Shown>('show', '1', '--raw', '--run', told.run);
    expect(prompt.steps.filter(({ request }) => request !== undefined)).toEqual([]);
  });

  it('cannot be forked after a turn: nothing was played there', async () => {
    const { err, code } = await parlane('fork', '3', '--after', '1');
    expect(err).toMatch(/only scored here/);
    expect(code).toBe(2);
  });
});

describe('parlane run', () => {
  it('plays a list of scenarios as it stands', async () => {
    const { out, err, code } = await parlane(
      'run',
      'scenarios.yaml',
      '--spec',
      'order_desk',
      '--agent-model',
      'sim:agent?latency=0ms',
      '--client-model',
      'sim:client?latency=0ms',
    );
    expect(err).toMatch(/scenarios\.yaml {2}ok {2}\(1 conversation\)/);
    expect(out).toMatch(/1 case in .* 1 passed/);
    expect(code).toBe(0);
    expect((await parlane('run', '--spec', 'order_desk')).err).toMatch(/only for a list of scenarios/);
  });
});

describe('parlane resume', () => {
  const hook = `import { writeFileSync } from 'node:fs';
export const afterAll = ({ results, evalId }) =>
  writeFileSync(new URL('./seen.json', import.meta.url), JSON.stringify({ evalId, ends: results.map((one) => [one.vars.word, one.success]) }));
`;

  it.each(['run', 'eval'])('tells the afterAll hooks of a stopped %s the whole table', async (command) => {
    const place = mkdtempSync(join(tmpdir(), 'parlane-hooks-'));
    const words = ['apple', 'pear', 'plum', 'cherry', 'fig', 'quince'];
    writeFileSync(join(place, 'hooks.mjs'), hook);
    writeFileSync(
      join(place, 'parlane.yaml'),
      JSON.stringify({
        prompts: ['Say {{word}}'],
        providers: ['sim:echo?latency=0ms&price=10/10'],
        tests: words.map((word) => ({ vars: { word } })),
        extensions: ['file://hooks.mjs:afterAll'],
        budget: 0.0105,
      }),
    );
    const seen = () => JSON.parse(readFileSync(join(place, 'seen.json'), 'utf8'));
    try {
      const stopped = await commandLine({ cwd: place }, command, ...(command === 'run' ? ['--no-forecast'] : []));
      expect(stopped.code).toBe(3);
      expect(seen().ends.filter(([, success]: [string, boolean]) => success).length).toBeLessThan(words.length);
      rmSync(join(place, 'seen.json'));
      const resumed = await commandLine({ cwd: place }, 'resume', '--budget', '1', '--json');
      expect(seen()).toEqual({ evalId: JSON.parse(resumed.out).run, ends: words.map((word) => [word, true]) });
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  it('takes another budget with --errors-too as well', async () => {
    const place = mkdtempSync(join(tmpdir(), 'parlane-budget-'));
    const tests = ['apple', 'pear', 'plum', 'cherry', 'fig', 'quince'].map((word) => ({ vars: { word } }));
    const providers = ['sim:echo?latency=0ms&price=10/10'];
    writeFileSync(
      join(place, 'parlane.yaml'),
      JSON.stringify({ prompts: ['Say {{word}}'], providers, tests, budget: 0.0105 }),
    );
    try {
      expect((await commandLine({ cwd: place }, 'run', '--no-forecast')).code).toBe(3);
      const resumed = await commandLine({ cwd: place }, 'resume', '--errors-too', '--budget', '1', '--json');
      expect(JSON.parse(resumed.out)).toMatchObject({ complete: true, totals: { passed: tests.length } });
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});
