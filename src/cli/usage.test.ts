/** Bad usage of any command: one clear message with the nearest right thing, exit code 2, nothing run, nothing spent. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import { commandTable } from './command-table.ts';

const names = commandTable.map(({ name }) => name);
/** What a command cannot be without: it is asked for before anything else. */
const needed: Readonly<Record<string, readonly string[]>> = { fork: ['--after', '1'] };

describe.each(names)('parlane %s', (name) => {
  const cwd = tmpdir();

  it('has a help that begins with three examples', async () => {
    const { out, code } = await commandLine({ cwd }, name, '--help');
    expect(out).toMatch(/^Examples:\n(?: {2}.*parlane .*\n){3}/);
    expect(out).toContain('--json');
    expect(code).toBe(0);
  });

  it('suggests the flag that was meant, in words and as JSON', async () => {
    const { err, out, code } = await commandLine({ cwd }, name, ...(needed[name] ?? []), '--jsno');
    expect(err).toMatch(/unknown option '--jsno'\n\(Did you mean --json\?\)/);
    expect(out).toBe('');
    expect(code).toBe(2);
    const told = await commandLine({ cwd }, name, ...(needed[name] ?? []), '--json', '--plan-it');
    expect(JSON.parse(told.out)).toMatchObject({
      error: {
        code: 'cli/usage',
        message: "unknown option '--plan-it'",
        cure: expect.stringMatching(/^(?:See|Did you)/),
      },
    });
    expect(told).toMatchObject({ code: 2, err: '' });
  });
});

describe('the command line', () => {
  it.each([
    [['inti'], /unknown command 'inti'\n\(Did you mean init\?\)/],
    [['exprot'], /Did you mean export/],
    [['simualte'], /Did you mean simulate/],
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['--versoin'], /unknown option '--versoin'\n\(Did you mean --version\?\)/],
  ])('%j', async (args, message) => {
    const { err, code } = await commandLine({ cwd: tmpdir() }, ...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });
});

describe('an error as JSON', () => {
  it.each([
    [['rnu'], { code: 'cli/usage', message: "unknown command 'rnu'", cure: 'Did you mean run?' }],
    [['frobnicate'], { code: 'cli/usage', message: "unknown command 'frobnicate'", cure: 'See --help.' }],
    [
      ['show', '1', '--store', '/nonexist'],
      { code: 'store/missing', message: 'There is no store at /nonexist.', cure: 'Check the path after --store.' },
    ],
  ])('%j tells what happened and what to do apart', async (args, error) => {
    const { out, code } = await commandLine({ cwd: tmpdir() }, ...args, '--json');
    expect(JSON.parse(out).error).toMatchObject(error);
    expect(code).toBe(2);
  });
});

const good = `
prompts: ['Say {{q}}']
providers: [sim:instant]
tests: [{ description: one, vars: { q: hello } }]
`;

describe('what cannot be run', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'parlane-usage-'));
    writeFileSync(join(cwd, 'parlane.yaml'), good);
    writeFileSync(
      join(cwd, 'broken.yaml'),
      'prompts: [a]\nproviders:\n  - opnai:gpt-5-mini\ntests: [{ vars: { q: 1 } }]\n',
    );
    writeFileSync(join(cwd, 'cut.yaml'), 'prompts: [a\nproviders: {');
  });
  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  it.each([
    [['run', 'missing.yaml'], /missing\.yaml/],
    [['run', 'cut.yaml'], /cut\.yaml:\d+:\d+/],
    [
      ['run', 'broken.yaml'],
      /broken\.yaml:3:5 +unknown provider "opnai:gpt-5-mini"[\s\S]*opnai:gpt-5-mini\n.*\^[\s\S]*openai:gpt-5-mini[\s\S]*Nothing was run/,
    ],
    [['check', '-c', 'broken.yaml'], /broken\.yaml:3:5 +unknown provider/],
    [['eval', '-c', 'broken.yaml'], /broken\.yaml:3:5 +unknown provider/],
    [['plan', 'missing.yaml'], /missing\.yaml/],
    [['eval', '-c', 'missing.yaml'], /missing\.yaml/],
    [['check', '-c', 'missing.yaml'], /missing\.yaml/],
    [['run', '--budget', 'much'], /much/],
    [['run', '-o', 'x.pdf'], /cannot be written as "x\.pdf"/],
    [['run', '-o', '/nonexist/dir/x.html'], /no folder \/nonexist\/dir\. Folders outside the project are not made/],
    [['eval', '-c', 'parlane.yaml', '-o', '/nonexist/dir/x.json'], /no folder \/nonexist\/dir/],
    [['simulate', 'missing.yaml', '-o', '/nonexist/dir/x.json'], /no folder \/nonexist\/dir/],
    [['run', '--store', '/proc/parlane/store'], /The store \/proc\/parlane\/store cannot be written/],
    [['run', '--repeat', '0'], /repeat/],
    [['run', '--fail-under', 'most'], /most/],
    [['run', '--only', 'nothing-like-it'], /no case is left/],
    [['simulate', 'missing.yaml'], /There is no file "missing\.yaml"/],
    [['import', 'missing.json', '--format', 'openai'], /missing\.json/],
    [['import', 'missing.json', '--format', 'xml'], /"xml" is not a format.*tau-bench or openai/],
    [['resume', 'nope'], /no runs here yet/],
    [['summary', 'nope'], /no runs here yet|no run "nope"/],
    [['show', '1'], /no runs here yet/],
    [['specs', 'show', 'order_dsk'], /order_desk/],
  ])('%j says so and leaves no run behind', async (args, message) => {
    const { err, out, code } = await commandLine({ cwd }, ...args);
    expect(err + out).toMatch(message);
    expect(err + out).not.toContain('sim:agent');
    expect(err + out).not.toMatch(/\n\s+at .*\.[tj]s:\d+/);
    expect(err + out).not.toContain('bug in Parlane');
    expect(code).toBe(2);
    const { out: runs } = await commandLine({ cwd }, 'runs');
    expect(runs).toBe('No runs yet.\n');
  });
});

describe('nothing that a model says', () => {
  const nasty = 'hi\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202eevil';
  let cwd: string;
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'parlane-steer-'));
    const config = `
description: "steer ${nasty}"
prompts: ['Say {{q}}']
providers: [{ id: sim:instant, config: { reply: "${nasty}" } }]
tests: [{ description: "one ${nasty}", vars: { q: "${nasty}" }, assert: [{ type: contains, value: never }] }]
conversations:
  - scenarios: [{ name: "talk ${nasty}" }]
    max_turns: 1
    models: { agent: sim:instant, client: sim:instant }
    checks: [{ type: contains, value: never }]
`;
    writeFileSync(join(cwd, 'parlane.yaml'), config);
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it('steers the terminal', async () => {
    const told: string[] = [];
    for (const line of [
      ...['run --yes', 'run --yes', 'eval', 'runs', 'runs name latest x\u001b[2Jy', 'runs', 'show 1', 'show 1 --raw'],
      ...['show 1 --unfold', 'compare', 'compare --format md', 'summary', 'plan', 'check', 'doctor', 'doctor --probe'],
      ...['show nobody', 'export x\u001b[2Jy', 'show 2', 'show 2 --raw'],
    ]) {
      const { out, err } = await commandLine({ cwd }, ...line.split(' '));
      told.push(...`${out}${err}`.split('\n').map((text) => `${line}: ${text}`));
    }
    expect(told.join('\n')).toContain('evil');
    expect(
      told.filter((text) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/.test(text.replace(/^[^:]*: /, ''))),
    ).toEqual([]);
    expect(existsSync(join(cwd, '.parlane')) && readdirSync(join(cwd, '.parlane')).length > 0).toBe(true);
  }, 30_000);
});

describe('a config', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'parlane-named-'));
    writeFileSync(join(cwd, 'x.yaml'), 'prompts: ["Say {{w}}"]\nproviders: [echo]\ntests: [{vars: {w: fig}}]\n');
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it.each(['run', 'plan', 'doctor', 'check'])('is the argument of %s or stands after -c', async (command) => {
    for (const named of [['x.yaml'], ['-c', 'x.yaml'], ['--config', 'x.yaml']])
      expect(await commandLine({ cwd }, command, ...named)).toMatchObject({ code: 0 });
    const { code, err, out } = await commandLine({ cwd }, command, '-c', 'nowhere.yaml');
    expect(err + out).toMatch(/nowhere\.yaml.*no such config file/);
    expect(code).toBe(2);
  });

  it('is named once', async () => {
    const { code, err } = await commandLine({ cwd }, 'run', 'x.yaml', '-c', 'y.yaml');
    expect(err).toMatch(/Two configs are named: "x\.yaml" and -c "y\.yaml"/);
    expect(code).toBe(2);
  });
});
