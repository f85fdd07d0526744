/** The keys of the live view, in front of a run that is under way because its server does not answer yet. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { commandLine, testContext } from '../../test/support/command-line.ts';
import { type HeldServer, heldServer } from '../../test/support/held-server.ts';
import { runCommandLine } from './main.ts';

let cwd: string;
let held: HeldServer;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-keys-'));
  held = await heldServer();
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `prompts: ["Say {{word}}"]
providers: [sim:echo]
tests:
  - {description: apple, vars: {word: "apple\\x1b[2J"}, assert: [{type: icontains, value: apple}]}
  - {description: pear, vars: {word: pear}, assert: [{type: icontains, value: cherry}]}
conversations:
  - spec: order_desk
    scenarios: [{name: buys apples, variables: {client_name: Ada, goal: order two boxes of apples}}]
    models:
      agent: "sim:agent?latency=0ms"
      client: {id: "localai:chat:m", config: {apiBaseUrl: "${held.url}"}}
    max_turns: 1
`,
  );
});
afterEach(async () => {
  await held.close();
  rmSync(cwd, { recursive: true, force: true });
});

interface Watched {
  readonly ended: Promise<void>;
  readonly opened: string[];
  type(keys: string): void;
  /** Waits for this among all that has been written since the last key. */
  sees(what: RegExp): Promise<void>;
}

/** Starts the run on a screen of 100 x 30 with a keyboard, and leaves it when the server has been asked. */
async function watch(hasBrowser: boolean, ...args: readonly string[]): Promise<Watched> {
  const { context, said } = testContext({ cwd });
  const opened: string[] = [];
  let written = '';
  let press = (_keys: string): void => {};
  const screen = {
    columns: () => 100,
    rows: () => 30,
    write: (text: string) => {
      written += text;
    },
    keys: (hear: (keys: string) => void) => {
      press = hear;
      return () => {
        press = () => {};
      };
    },
  };
  const openFile = async (path: string): Promise<boolean> => {
    opened.push(path);
    return hasBrowser;
  };
  const ended = runCommandLine(args, { ...context, env: { NO_COLOR: '1' }, screen, openFile });
  await Promise.race([held.asked, ended.then(() => Promise.reject(new Error(`ended before it asked: ${said.err}`)))]);
  return {
    ended,
    opened,
    type: (keys) => {
      written = '';
      press(keys);
    },
    sees: (what) =>
      vi.waitFor(() => expect(stripVTControlCharacters(written)).toMatch(what), { timeout: 10_000, interval: 20 }),
  };
}

describe('a key in the live view', () => {
  it('opens a case that is running, with what is journaled of it so far', async () => {
    const { type, sees, ended } = await watch(false, 'run', '--no-forecast');
    await sees(/\[q\] stop and save/);
    type('c');
    await sees(/1 running, then the latest that ended[\s\S]*> running #3 buys apples/);
    type('\r');
    await sees(/#3 buys apples {3}running {3}1 turn, [\s\S]* 1 agent {3}\S[\s\S]*client {2}\.\.\.[\s\S]*LANE +LIVE/);
    const shown = await commandLine({ cwd }, 'show', 'buys apples');
    expect(shown.out).toMatch(/^#3 buys apples {3}running {3}1 turn, [\s\S]* 1 agent {3}\S[\s\S]*It is running;/);
    held.release();
    await ended;
  });

  it('opens a case that has ended as show does, with nothing in it that steers the terminal', async () => {
    const { type, sees, ended } = await watch(false, 'run', '--no-forecast');
    await sees(/last {3}FAILED #2 pear/);
    type('\r');
    await sees(/#2 pear {3}failed[\s\S]*prompt[\s\S]*Say pear[\s\S]*output[\s\S]*FAILED {2}icontains "cherry"/);
    type('\u001bcjj');
    await sees(/> passed {2}#1 apple/);
    type('\r');
    await sees(/#1 apple {3}passed[\s\S]*Say apple[\s\S]*PASSED/);
    held.release();
    await ended;
  });

  it('writes the report so far, opens it, says where it is, and it goes with its run', async () => {
    const { type, sees, ended, opened } = await watch(true, 'run', '--no-forecast');
    await sees(/last {3}FAILED #2 pear/);
    type('o');
    await sees(/Report so far, opened in the browser: \S+\.html/);
    const [path = ''] = opened;
    expect(path.startsWith(join(cwd, '.parlane', 'report-'))).toBe(true);
    expect(readFileSync(path, 'utf8')).toMatch(/^<!doctype html>[\s\S]*pear/i);
    expect(statSync(path).mode & 0o077).toBe(0);
    held.release();
    await ended;
    expect((await commandLine({ cwd }, 'runs', 'delete', 'latest')).out).toMatch(/is deleted/);
    expect(existsSync(path)).toBe(false);
  });

  it('tells where the report is when there is no browser, also for a run that is not kept', async () => {
    writeFileSync(
      join(cwd, 'promptfooconfig.yaml'),
      `prompts: ["Say {{word}}"]
providers: [{id: "localai:chat:m", config: {apiBaseUrl: "${held.url}"}}]
tests: [{vars: {word: pear}}]
`,
    );
    const { type, sees, ended, opened } = await watch(false, 'eval', '-c', 'promptfooconfig.yaml', '--no-write');
    await sees(/\[q\] stop and save/);
    type('o');
    await sees(/Report so far: \S+report\.html/);
    expect(opened[0]?.startsWith(tmpdir())).toBe(true);
    expect(existsSync(join(cwd, '.parlane'))).toBe(false);
    rmSync(join(opened[0] ?? '', '..'), { recursive: true });
    held.release();
    await ended;
  });

  it('pauses a lane, lets it go on, and changes its limit', async () => {
    const { type, sees, ended } = await watch(false, 'run', '--no-forecast');
    await sees(/localai:m|localai:chat:m/);
    type('p');
    await sees(/choose a lane with up\/down, then p/);
    type('kp');
    await sees(/> localai\S* .*paused by you/);
    type('p');
    await sees(/> localai\S* .*(?:answering|slots|first)/);
    type('+');
    await sees(/> localai\S* +1\/\d+/);
    held.release();
    await ended;
  });
});
