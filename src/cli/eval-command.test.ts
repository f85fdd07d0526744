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

async function parlane(args: readonly string[], env: Record<string, string> = {}) {
  const printed: string[] = [];
  const complained: string[] = [];
  let code = 0;
  await runCommandLine(args, {
    env: { PATH: process.env['PATH'], ...env },
    cwd: folder,
    terminal: { isTTY: false, columns: 80 },
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

  it('grades outputs that exist already', async () => {
    writeFileSync(join(folder, 'a.yaml'), '- {type: equals, value: one}\n');
    writeFileSync(join(folder, 'o.json'), '["one", "two"]');
    const result = await parlane(['eval', '--no-write', '-a', 'a.yaml', '--model-outputs', 'o.json']);
    expect(result).toMatchObject({ code: 100, out: expect.stringContaining('1 passed, 1 failed') });
  });
});

describe('parlane check', () => {
  it('prints the schema for editors, own keys included', async () => {
    const schema = JSON.parse((await parlane(['check', '--schema'])).out);
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['prompts', 'tests', 'lanes', 'budget']));
  });

  it('says that nothing is wrong and how many cases there are', async () => {
    config(good);
    expect(await parlane(['check'])).toMatchObject({ code: 0, out: 'No problems. 1 cases; nothing was sent.' });
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
