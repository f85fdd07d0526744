/** What commands print into a pipe, and what they do when nobody reads it: `parlane runs | true`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { storedRun } from '../support/stored-runs.ts';

const launcher = join(import.meta.dirname, '../../bin/parlane.js');

let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-pipe-'));
  const tests = Array.from({ length: 60 }, (_, at) => `  - { vars: { q: ${at} } }`);
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `prompts: ["Say {{q}}"]\nproviders: ["sim:echo?latency=50ms"]\ntests:\n${tests.join('\n')}\n`,
  );
  const output = 'x'.repeat(400_000);
  await storedRun(cwd, { id: '20261115-100000-aaaa', createdAt: 1, statuses: ['passed', 'failed'], output });
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly err: string;
}

const start = (...args: readonly string[]) =>
  spawn(process.execPath, [launcher, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });

/** Runs a command whose reader is gone before it says a word. */
async function unread(...args: readonly string[]): Promise<Ended> {
  const child = start(...args);
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (piece) => {
    err += String(piece);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, err };
}

const newest = async () => {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const [run] = await store.runs();
  await store.close();
  return run;
};

describe('into a pipe', () => {
  it.each([
    ['show 1', /^ {2}x{400000}$/m],
    ['plan', /LANE +CASES +CALLS +TOKENS +BOUND BY +TIME +COST\n.*sim:echo\?latency=50ms/],
  ])('%s cuts and breaks nothing', async (line, whole) => {
    const child = start(...line.split(' '));
    let out = '';
    child.stdout.on('data', (piece) => {
      out += String(piece);
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(whole.test(out), out.slice(0, 2000)).toBe(true);
    expect(out).not.toContain('…');
  });
});

describe('when nobody reads any more', () => {
  it.each([
    ['runs'],
    ['show 1'],
    ['show 1 --json'],
    ['export --format jsonl'],
    ['export --format html -o -'],
    ['check'],
    ['--help'],
  ])('%s ends quietly', async (line) => {
    const { code, err } = await unread(...line.split(' '));
    expect(err).not.toMatch(/EPIPE|\n\s+at /);
    expect(code).toBe(0);
  });

  it('a run that tells its events stops as by Ctrl-C, saves itself, and can be resumed', async () => {
    const { code, err } = await unread('run', '--json', '--no-forecast');
    expect(err).toMatch(/^Nobody reads the output any more\. Stopping: nothing new starts\.\n$/);
    expect(code).toBe(3);
    expect(await newest()).toMatchObject({ status: 'suspended', stopReason: 'interrupted' });
  });

  it('a run that prints only its summary has come to its end, files included, and ends with its own exit code', async () => {
    const { code, err } = await unread('run', '--no-forecast', '-o', 'rows.jsonl');
    expect(err).toContain('Written: ');
    expect(err).not.toContain('EPIPE');
    expect(code).toBe(0);
    expect(await newest()).toMatchObject({ status: 'complete' });
  });
});
