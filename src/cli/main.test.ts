import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';
import { hostOf, promptCase } from '../../test/support/run-harness.ts';
import type { Case } from '../domain/case.ts';
import { type RunId, runId } from '../domain/ids.ts';
import { runPlan } from '../run/run-plan.ts';
import { openStore } from '../store/open-store.ts';
import { exitCodeOf } from './exit-code.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-cli-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]) => commandLine({ cwd }, ...args);

/** A run that was stopped after its first cases, as a library program leaves it. */
async function stoppedRun(
  cases: readonly Case[],
  snapshot = { kind: 'plan', providers: { a: { id: 'echo' } } },
): Promise<RunId> {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const controller = new AbortController();
  const id = runId('20261115-203100-abcd');
  const observer = (): void => controller.abort();
  await runPlan(
    { id, name: 'desk', snapshot, cases },
    hostOf(store, { observers: [observer], signal: controller.signal }),
  );
  await store.close();
  return id;
}

const cases = (wanted: string): Case[] =>
  [0, 1, 2].map((index) => promptCase(index, { checks: [{ type: 'contains', value: wanted }] }));

describe('the command line', () => {
  it('shows its commands and loads none of them', async () => {
    const { out, code } = await parlane('--help');
    expect(out).toMatch(/\n {2}resume .*go on with a run[\s\S]*\n {2}runs .*list/);
    expect(code).toBe(0);
    expect((await parlane()).out).toBe(out);
  });

  it.each([
    [['rnus'], /unknown command 'rnus'[\s\S]*Did you mean runs/],
    [['runs', '--limt', '3'], /unknown option '--limt'[\s\S]*Did you mean --limit/],
    [['resume'], /There are no runs here yet/],
    [['runs', '--store', 'nowhere'], /There is no store at .*nowhere/],
    [['resume', '--budget', 'much'], /There are no runs here yet/],
  ])('answers %j with one clear message and exit code 2', async (args, message) => {
    const { err, code } = await parlane(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });

  it('tells errors as JSON when asked', async () => {
    const { out, code } = await parlane('resume', '--json');
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'run/none' } });
    expect(code).toBe(2);
    const usage = await parlane('runs', '--json', '--limt', '3');
    expect(JSON.parse(usage.out)).toMatchObject({
      error: { code: 'cli/usage', message: "unknown option '--limt'", cure: 'Did you mean --limit?' },
    });
    expect(usage).toMatchObject({ code: 2, err: '' });
  });

  it('refuses a foreign file, a newer store and a damaged one with exit code 2', async () => {
    mkdirSync(join(cwd, '.parlane'));
    writeFileSync(join(cwd, '.parlane', 'parlane.db'), 'not a database'.repeat(20));
    const { err, code } = await parlane('runs');
    expect(err).toMatch(/is not a Parlane store/);
    expect(code).toBe(2);
  });
});

describe('runs and resume', () => {
  it('list a stopped run, go on with it by any part of its name, and end with its verdict', async () => {
    const id = await stoppedRun(cases('question'));
    expect((await parlane('runs')).out).toMatch(/20261115-203100-abcd .* stopped .* 0 of 3 done, interrupted.*desk/);
    const { out, code } = await parlane('resume', 'abcd');
    expect(out).toContain('3 cases: 3 passed, 0 failed');
    expect(code).toBe(0);
    expect(JSON.parse((await parlane('runs', '--json')).out)).toMatchObject({
      runs: [{ id, status: 'complete', planned: 3 }],
    });
    expect((await parlane('resume')).err).toMatch(/No run is waiting/);
  });

  it('end with 100 when checks fail', async () => {
    await stoppedRun(cases('impossible'));
    expect((await parlane('resume')).code).toBe(100);
  });

  it('name the runs there are when one is asked for that is not', async () => {
    await stoppedRun(cases('x'));
    const { err, code } = await parlane('resume', 'nonsense');
    expect(err).toMatch(/There is no run "nonsense".*20261115-203100-abcd/);
    expect(code).toBe(2);
  });

  it('say that a run of a program is resumed by that program', async () => {
    await stoppedRun(cases('x'), {} as never);
    expect((await parlane('resume')).err).toMatch(/resumeRun\(\)/);
  });
});

describe('exit codes', () => {
  const totals = { planned: 4, passed: 4, failed: 0, errors: 0, skipped: 0, aborted: 0 };
  it('tell the most serious thing that applies', () => {
    expect(exitCodeOf({ totals, complete: true })).toBe(0);
    expect(exitCodeOf({ totals: { ...totals, failed: 1 }, complete: true })).toBe(100);
    expect(exitCodeOf({ totals: { ...totals, failed: 1, errors: 1 }, complete: true })).toBe(4);
    expect(exitCodeOf({ totals: { ...totals, errors: 1 }, complete: true }, { errors: 100 })).toBe(100);
    expect(exitCodeOf({ totals: { ...totals, aborted: 1 }, complete: true })).toBe(4);
    expect(exitCodeOf({ totals: { ...totals, errors: 1 }, complete: false })).toBe(3);
  });
});

describe('the launcher', () => {
  const root = join(import.meta.dirname, '../..');
  const old = 'Object.defineProperty(process.versions, "node", { value: "18.20.0" });';
  const launch = (
    from: string,
    args: string[],
    preload?: string,
  ): { status: number | null; stdout: string; stderr: string } => {
    const file = join(cwd, 'preload.cjs');
    if (preload !== undefined) writeFileSync(file, preload);
    return spawnSync(
      process.execPath,
      [...(preload === undefined ? [] : ['--require', file]), join(from, 'bin/parlane.js'), ...args],
      {
        encoding: 'utf8',
        cwd,
      },
    );
  };

  it('tells its version without loading anything', () => {
    expect(launch(root, ['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('runs a command and passes its exit code on', () => {
    expect(launch(root, ['runs'])).toMatchObject({ status: 0, stdout: 'No runs yet.\n', stderr: '' });
    expect(launch(root, ['resume']).status).toBe(2);
  });

  it('writes a project from the files that came with it, and finds nothing wrong with it', () => {
    const { status, stdout } = launch(root, ['init', '--json']);
    expect(JSON.parse(stdout).created).toEqual(expect.arrayContaining(['parlane.yaml', 'prompts/refund.md']));
    expect(status).toBe(0);
    expect(launch(root, ['check'])).toMatchObject({ status: 0, stdout: expect.stringContaining('18 cases') });
  });

  it('takes the Node of the repository when the system has an old one', () => {
    expect(launch(root, ['runs'], old)).toMatchObject({ status: 0, stdout: 'No runs yet.\n' });
    expect(launch(root, ['resume'], old).status).toBe(2);
  });

  it('says in an install which Node is needed', () => {
    const install = join(cwd, 'install');
    cpSync(join(root, 'bin'), join(install, 'bin'), { recursive: true });
    cpSync(join(root, 'package.json'), join(install, 'package.json'));
    const { status, stderr } = launch(install, ['runs'], old);
    expect(status).toBe(2);
    expect(stderr).toMatch(/needs Node 24 or newer, and this is Node 18\.20\.0/);
  });
});
