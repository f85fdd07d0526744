import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommandLine } from './main.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlane-eval-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pipe = { isTTY: false, columns: 80 };
async function parlane(args: readonly string[], env: Record<string, string> = {}, terminal = pipe) {
  const printed: string[] = [];
  const complained: string[] = [];
  let code = 0;
  await runCommandLine(args, {
    env: { PATH: process.env['PATH'], ...env },
    cwd: folder,
    terminal,
    write: (text) => void printed.push(text),
    print: (text) => void printed.push(text),
    complain: (text) => void complained.push(text),
    exit: (value) => {
      code = value;
    },
  });
  return { code, out: printed.join('\n'), err: complained.join('\n') };
}
const config = (text: string): void => writeFileSync(join(folder, 'promptfooconfig.yaml'), text);
const good =
  'providers: [echo]\nprompts: ["hi {{x}}"]\ntests: [{vars: {x: a}, assert: [{type: contains, value: a}]}]\n';

describe('parlane eval', () => {
  it('runs a config and ends with 0 when all pass, with 100 when a check fails', async () => {
    config(good);
    expect(await parlane(['eval', '--no-write'])).toMatchObject({ code: 0, out: expect.stringContaining('1 passed') });
    config(good.replace('value: a', 'value: z'));
    expect((await parlane(['eval', '--no-write'])).code).toBe(100);
    expect((await parlane(['eval', '--no-write'], { PROMPTFOO_FAILED_TEST_EXIT_CODE: '7' })).code).toBe(7);
    expect((await parlane(['eval', '--no-write'], { PROMPTFOO_PASS_RATE_THRESHOLD: '0' })).code).toBe(0);
    expect((await parlane(['eval', '--no-write'], { PROMPTFOO_FAILED_TEST_EXIT_CODE: '0' })).code).toBe(0);
  });

  it('says beforehand that answers from the cache have no latency, unless the cache is off', async () => {
    config('providers: [echo]\nprompts: [hi]\ntests: [{assert: [{type: latency, threshold: 1000}]}]\n');
    const warned = await parlane(['eval']);
    expect(warned.err).toMatch(/promptfooconfig\.yaml:3:26 {2}warning: an answer from the cache has no latency/);
    expect(warned.err).toMatch(/--no-cache/);
    expect(warned.code).toBe(0);
    expect((await parlane(['eval', '--no-cache'])).err).not.toMatch(/latency/);
  });

  it('writes results in promptfoo’s shape, and keeps the run unless told not to', async () => {
    config(good);
    await parlane(['eval', '-o', 'r.json', '-o', 'r.jsonl', '--no-table']);
    const file = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'));
    expect(file.results).toMatchObject({
      version: 3,
      stats: { successes: 1, failures: 0, errors: 0 },
      prompts: [{ raw: 'hi {{x}}', provider: 'echo', metrics: { testPassCount: 1, assertPassCount: 1 } }],
      results: [
        {
          testIdx: 0,
          promptIdx: 0,
          success: true,
          score: 1,
          failureReason: 0,
          prompt: { raw: 'hi a' },
          vars: { x: 'a' },
          gradingResult: { pass: true },
        },
      ],
    });
    expect(JSON.parse(readFileSync(join(folder, 'r.jsonl'), 'utf8'))).toEqual(file.results.results[0]);
    expect(existsSync(join(folder, '.parlane'))).toBe(true);
  });

  it('ends with 2 for a bad config, a bad flag and zero tests: nothing ran', async () => {
    config('providers: [5]\nprompts: [hi]\n');
    expect(await parlane(['eval', '--no-write'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('promptfooconfig.yaml:1:13'),
    });
    config(good);
    expect((await parlane(['eval', '--no-write', '--repeat', 'x'])).code).toBe(2);
    expect((await parlane(['eval', '--no-write', '--filter-pattern', 'none'])).code).toBe(2);
    expect((await parlane(['eval', '--no-write', '-c', 'gone.yaml'])).code).toBe(2);
  });

  it('uses the answers of an earlier eval unless told not to', async () => {
    config(good);
    const cached = async (...args: string[]): Promise<boolean> => {
      await parlane(['eval', '-o', 'r.jsonl', '--no-table', ...args]);
      return JSON.parse(readFileSync(join(folder, 'r.jsonl'), 'utf8')).response.cached;
    };
    expect([await cached(), await cached(), await cached('--no-cache')]).toEqual([false, true, false]);
  });

  it('says how many answers came from the cache', async () => {
    config(good);
    expect((await parlane(['eval'])).out).not.toContain('cache');
    config(good.replace('tests: [', 'tests: [{vars: {x: new}}, '));
    expect((await parlane(['eval'])).out).toContain('\n1 answer came from the cache and cost nothing;');
    expect(JSON.parse((await parlane(['eval', '--json'])).out)).toMatchObject({ cached: 2, spent: { usdMicros: 0 } });
  });

  it.each([40, 60, 80, 160])('fits a terminal of %i columns, with the answer of every row', async (columns) => {
    const long = 'A prompt that is much longer than any terminal is wide, and goes on, and on, and on: {{x}}';
    const test =
      '{description: a test whose name is rather long for a table, vars: {x: a}, assert: [{type: equals, value: z, metric: exact}]}';
    config(`providers: [sim:instant]\nprompts: ["${long}", "b {{x}}"]\ntests: [${test}]\n`);
    const { out } = await parlane(['eval', '--no-write'], {}, { isTTY: true, columns });
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(out.match(/^FAIL .* {2}Exp/gm)).toHaveLength(2);
    expect((await parlane(['eval', '--no-write'])).out).toContain(`[sim:instant, ${long}]  Expected output`);
  });

  it('grades outputs that exist already', async () => {
    writeFileSync(join(folder, 'a.yaml'), '- {type: equals, value: one}\n');
    writeFileSync(join(folder, 'o.json'), '["one", "two"]');
    const result = await parlane(['eval', '--no-write', '-a', 'a.yaml', '--model-outputs', 'o.json']);
    expect(result).toMatchObject({ code: 100, out: expect.stringContaining('1 passed, 1 failed') });
  });
});

const rowsIn = (name: string): { vars: { x: string }; success: boolean }[] =>
  readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Three tests: one passes, one fails, one is an error as long as the file `broken` is there. */
function mixed(): void {
  writeFileSync(join(folder, 'broken'), '');
  writeFileSync(
    join(folder, 'provider.mjs'),
    `import { existsSync, appendFileSync } from 'node:fs';
    export default class { id() { return 'mine' } async callApi(prompt) {
      appendFileSync(${JSON.stringify(join(folder, 'calls'))}, prompt + '\\n');
      return prompt === 'c' && existsSync(${JSON.stringify(join(folder, 'broken'))}) ? { error: 'down' } : { output: prompt };
    } }`,
  );
  config(
    'providers: ["file://provider.mjs"]\nprompts: ["{{x}}"]\ndefaultTest: {assert: [{type: not-equals, value: b}]}\n' +
      'tests: [{vars: {x: a}}, {vars: {x: b}}, {vars: {x: c}}]\n',
  );
}
const calls = (): string => readFileSync(join(folder, 'calls'), 'utf8').replaceAll('\n', '');

describe('parlane eval after an earlier one', () => {
  it('runs only what did not pass, only failures, or only errors, by file and by run', async () => {
    mixed();
    expect((await parlane(['eval', '--no-cache', '-o', 'first.json', '-o', 'first.jsonl'])).code).toBe(100);
    const kept = async (...args: string[]): Promise<string> => {
      expect((await parlane(['eval', '--no-cache', '--no-write', '-o', 'r.jsonl', ...args])).code).toBe(100);
      return rowsIn('r.jsonl')
        .map(({ vars }) => vars.x)
        .join('');
    };
    expect(await kept('--filter-failing', 'first.json')).toBe('bc');
    expect(await kept('--filter-failing-only', 'first.jsonl')).toBe('b');
    expect(await kept('--filter-errors-only', 'latest')).toBe('c');
    expect((await parlane(['eval', '--filter-failing', 'promptfooconfig.yaml'])).err).toContain('holds no results');
    expect((await parlane(['eval', '--filter-failing', 'nobody'])).code).toBe(2);
  });

  it('runs error rows again and leaves the others as they are', async () => {
    mixed();
    await parlane(['eval', '--no-cache', '-o', 'r.jsonl']);
    rmSync(join(folder, 'broken'));
    const again = await parlane(['eval', '--retry-errors']);
    expect(again.out).toContain('3 cases: 2 passed, 1 failed, 0 errors');
    expect(calls()).toMatch(/^[abc]{3}c$/);
    // Flags of the first run count for the second one too.
    expect(rowsIn('r.jsonl').map(({ success }) => success)).toEqual([true, false, true]);
  });

  it('refuses to go on with a run and to keep nothing, or in two ways at once', async () => {
    mixed();
    expect((await parlane(['eval', '--resume', '--no-write'])).err).toContain('contradict');
    expect((await parlane(['eval', '--resume', '--retry-errors'])).code).toBe(2);
    expect((await parlane(['eval', '--resume'])).code).toBe(2);
    expect(existsSync(join(folder, 'calls'))).toBe(false);
  });
});

describe('flags of promptfoo that Parlane does not have', () => {
  it('are refused with a sentence, before anything runs', async () => {
    mixed();
    for (const flags of [['--suggest-prompts', '3'], ['--remote'], ['-w'], ['--interactive-providers']]) {
      const { code, err } = await parlane(['eval', ...flags]);
      expect([code, err]).toEqual([2, expect.stringContaining('is not part of Parlane.')]);
    }
    expect(existsSync(join(folder, 'calls'))).toBe(false);
  });

  it('are ignored with a warning where the eval is the same without them', async () => {
    config(good);
    const shared = await parlane(['eval', '--no-write', '--share']);
    expect(shared).toMatchObject({ code: 0, err: expect.stringContaining('--share is not part of Parlane.') });
    expect((await parlane(['eval', '--no-write', '--no-share', '--no-progress-bar'])).err).toBe('');
  });
});

describe('what parlane eval prints and writes', () => {
  it('cuts the cells of the table where told', async () => {
    config(good.replace('x: a', 'x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'));
    const { out } = await parlane(['eval', '--no-write', '--table-cell-max-length', '8']);
    expect(out).toContain('hi aaaa…\n');
  });

  it('numbers its rows, names prompts where there are several, and cuts nothing in a pipe', async () => {
    const long = 'word '.repeat(40).trim();
    config(good.replace('["hi {{x}}"]', '["hi {{x}}", "hello {{x}}"]').replace('x: a', `x: ${long} a`));
    const { out } = await parlane(['eval', '--no-write']);
    expect(out).toMatch(/^PASS {3}#1 .* \[echo, hi \{\{x\}\}\] {2}hi word .* word a\n/);
    expect(out).toMatch(/\nPASS {3}#2 .* \[echo, hello \{\{x\}\}\] {2}hello word/);
    expect(out).not.toContain('…');
    expect(out).not.toContain('parlane show');
  });

  it('ends with what can be done next and with its run, in singular and plural', async () => {
    config(good);
    const first = await parlane(['eval']);
    expect(first.out).toMatch(/1 case: 1 passed, 0 failed, 0 errors {3}\$0\.00\n/);
    expect(first.out).toMatch(/\nReport {8}npx parlane export (\S+) --format html\nrun \1$/);
    mixed();
    const { out } = await parlane(['eval', '--no-cache']);
    expect(out).toMatch(/3 cases: 1 passed, 1 failed, 1 error {3}/);
    expect(out).toMatch(/\nLook closer {3}npx parlane show 2\n/);
    expect(out).toMatch(/\nErrors again {2}npx parlane eval --retry-errors\n/);
    expect(out).toMatch(/\nCompare {7}npx parlane compare\nrun \S+$/);
  });

  it('says how many conversations of the config it does not play', async () => {
    const scenarios = '[{name: one, variables: {}}, {name: two, variables: {}}]';
    config(
      `${good}conversations: [{scenarios: ${scenarios}, repeat: 2, models: {agent: "sim:agent", client: "sim:client"}}]\n`,
    );
    const said = await parlane(['eval', '--json']);
    expect(said.err).toContain(
      '4 conversations of this config are not played: eval runs tests only; parlane run plays',
    );
    expect(JSON.parse(said.out)).toMatchObject({ totals: { planned: 1 } });
  });

  it('tells its cost as JSON', async () => {
    config(good);
    expect(JSON.parse((await parlane(['eval', '--json'])).out)).toMatchObject({
      complete: true,
      spent: { usdMicros: 0 },
    });
  });

  it('refuses a result file of an unknown kind before anything is paid for', async () => {
    mixed();
    expect((await parlane(['eval', '-o', 'r.xlsx'])).code).toBe(2);
    expect(existsSync(join(folder, 'calls'))).toBe(false);
  });

  it('takes flags from commandLineOptions, and what is typed over them', async () => {
    config(`${good}commandLineOptions: {table: false, var: {y: "1"}, output: [a.jsonl], repeat: 2}\n`);
    expect((await parlane(['eval', '--no-write', '--repeat', '3'])).out).not.toContain('PASS');
    expect(rowsIn('a.jsonl')).toHaveLength(3);
    await parlane(['eval', '--no-write', '-o', 'b.jsonl']);
    expect(rowsIn('b.jsonl')).toMatchObject([{ vars: { x: 'a' } }, { vars: { x: 'a' } }]);
  });
});

describe('parlane check', () => {
  it('prints the schema for editors, own keys included', async () => {
    const schema = JSON.parse((await parlane(['check', '--schema'])).out);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['prompts', 'tests', 'lanes', 'budget']));
  });

  it('says that nothing is wrong and how many cases there are', async () => {
    config(good);
    expect(await parlane(['check'])).toMatchObject({ code: 0, out: 'No problems. 1 case; nothing was sent.' });
  });

  it('refuses unknown keys and assertions, as text and as JSON', async () => {
    config(`${good}test: []\n`);
    expect(await parlane(['check'])).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "tests"?') });
    const { problems } = JSON.parse((await parlane(['check', '--json'])).out);
    expect(problems).toMatchObject([{ line: 4, column: 1, message: 'unknown key "test"' }]);
  });

  it('finds variables that no test sets and that no prompt reads', async () => {
    config('providers: [echo]\nprompts: ["hi {{name}}"]\ntests: [{vars: {nme: a, other: b}}]\n');
    const { err } = await parlane(['check']);
    expect(err).toContain('a prompt reads "name", which no test sets');
    expect(err).toContain('did you mean "nme"?');
    expect(err).toContain('tests set "other", which no prompt reads');
  });
});
