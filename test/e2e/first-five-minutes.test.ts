import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { heldServer } from '../support/held-server.ts';
import { inTerminal, type OnScreen } from '../support/pseudo-terminal.ts';
import { terminalScreen } from '../support/terminal-screen.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-minutes-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]): Promise<OnScreen> => inTerminal({ cwd }, ...args);

/** One after the other, as a person would: each step stands on the one before. */
describe('the first five minutes in a terminal', () => {
  it('init writes a project that needs no account', async () => {
    const { code, text } = await parlane('init', '--yes');
    expect(text).toMatch(/No account, no API key[\s\S]*created {2}parlane\.yaml[\s\S]*Next: {2}npx parlane run/);
    expect(code).toBe(0);
  });

  it('run forecasts, shows the lanes live, and sums up what failed and what to do next', async () => {
    const { code, text, raw } = await parlane('run');
    expect(text).toMatch(/parlane\.yaml {2}ok {2}\(16 test cases \+ 2 conversations\)/);
    expect(text).toMatch(/LANE +CASES +CALLS[\s\S]*Expected finish in about .*, decided by/);
    expect(text).toMatch(/\[q\] stop and save/);
    expect(raw).toContain('\u001b[?25h');
    expect(text).toMatch(/18 cases in .* 16 passed +2 failed +0 errors +\$0\.00/);
    expect(text).toMatch(/(?:than|As) expected/);
    expect(text).toMatch(/\d+ % of what the limits allow \(.* at best\);[\s\S]* binds?;[\s\S]* time: /);
    expect(text).toMatch(/FAILED +#8 +refund\/over-limit/);
    expect(text).toMatch(/FAILED +#18 +scenario\/angry-client/);
    expect(text).toMatch(/Look closer +npx parlane show/);
    expect(text).toMatch(/exit code 100: some checks failed/);
    expect(code).toBe(100);
  });

  it('show tells a conversation turn by turn and how to try again', async () => {
    const { code, text } = await parlane('show', '18');
    expect(text).toMatch(/#18 scenario\/angry-client +failed +4 turns/);
    expect(text).toMatch(/3 agent +> lookup_order\(id: "A-1007"\)/);
    expect(text).toMatch(/you will get your money back today[\s\S]*?<-- judge: This goes against "never promises that/);
    expect(text).toMatch(/FAILED +judge[\s\S]* \(turn 3\)/);
    expect(text).toMatch(/Try again from here: +npx parlane fork 18 --after 2/);
    expect(code).toBe(0);
  });

  it('fork keeps two turns, plays on three times with the better prompt, and says what became of it', async () => {
    const { code, text } = await parlane('fork', '18', '--after', '2', '--agent-prompt', 'prompts/refund-v2.md');
    expect(text).toMatch(/Kept turns 1-2 \(recorded\)\. Playing on from turn 3/);
    expect(text).toMatch(/3 tries: 3 passed, 0 failed\. +Was: 0 of 1\. +npx parlane show 18f1/);
    expect(code).toBe(0);
    const shown = await parlane('show', '18f1');
    expect(shown.text).toMatch(/#18f1 scenario\/angry-client +passed[\s\S]*a manager decides/);
  });

  it('run passes with the better prompt in the config', async () => {
    const path = join(cwd, 'parlane.yaml');
    const better = readFileSync(path, 'utf8')
      .replace('prompts/refund.md', 'prompts/refund-v2.md')
      .replace('spec: refund ', 'spec: refund-v2 ');
    writeFileSync(path, better);
    const { code, text } = await parlane('run');
    expect(text).toMatch(/18 cases in .* 18 passed +0 failed +0 errors/);
    expect(code).toBe(0);
  });

  it('compare says what got better and that it may be chance', async () => {
    const { code, text } = await parlane('compare');
    expect(text).toMatch(/18 cases in both[\s\S]*better +2 +#8, #18[\s\S]*worse +0[\s\S]*same +16/);
    expect(text).toMatch(/89 % -> 100 %[\s\S]*p = 0\.50/);
    expect(code).toBe(0);
  });

  it('doctor looks at keys and storage', async () => {
    const { code, text } = await parlane('doctor');
    expect(text).toMatch(/sim:fast +ready +needs no key[\s\S]*storage +ok +\.parlane/);
    expect(code).toBe(0);
  });

  it('plan tells what another model would take, and sends nothing', async () => {
    const env = { OPENAI_API_KEY: 'sk-of-nobody' };
    const { code, text } = await inTerminal({ cwd, env }, 'plan', '--set', 'providers[0]=openai:gpt-5-mini');
    expect(text).toMatch(/openai:gpt-5-mini +8[\s\S]*\$0\.\d+/);
    expect(text).toMatch(/Nothing was sent\./);
    expect(code).toBe(0);
  });
});

describe('a person at the terminal', () => {
  let here: string;
  beforeEach(() => {
    here = mkdtempSync(join(tmpdir(), 'parlane-person-'));
  });
  afterEach(() => rmSync(here, { recursive: true, force: true }));
  const config = (providers: string): void =>
    writeFileSync(
      join(here, 'parlane.yaml'),
      `prompts: ["Say {{n}}"]\nproviders: [${providers}]\ntests: [{vars: {n: 1}}, {vars: {n: 2}}, {vars: {n: 3}}]\n`,
    );

  it('is asked about money, and a no spends nothing', async () => {
    config('"sim:fast?price=100000/100000"');
    const type = { after: /Start it\?/, keys: 'n' };
    const { code, text } = await inTerminal({ cwd: here, type }, 'run');
    expect(text).toMatch(/expected to cost about \$[\s\S]*Nothing was run, nothing was spent/);
    expect(code).toBe(2);
  });

  it('stops a run with a key, is told how to go on, and watches it go on', async () => {
    config('"sim:fast?latency=400ms&concurrency=1"');
    const type = { after: /\[q\] stop and save/, keys: 'q' };
    const stopped = await inTerminal({ cwd: here, type }, 'run', '--no-forecast');
    expect(stopped.text).toMatch(/Stopped[\s\S]*npx parlane resume/);
    expect(stopped.code).toBe(3);
    const { code, text } = await inTerminal({ cwd: here }, 'resume');
    expect(text).toMatch(/\[q\] stop and save[\s\S]*3 cases: 3 passed.* 0 open/);
    expect(code).toBe(0);
  });

  it('opens a running case, opens the report, reads the help and stops, all by keys', async () => {
    const held = await heldServer();
    const browser = join(here, 'browser.sh');
    writeFileSync(
      browser,
      `#!/bin/sh\nprintf %s "$1" > '${here}/opened.tmp' && mv '${here}/opened.tmp' '${here}/opened'\n`,
    );
    chmodSync(browser, 0o700);
    config(`{id: "localai:chat:m", config: {apiBaseUrl: "${held.url}"}}`);
    const type = [
      { after: /\[c\]ases[\s\S]*\[q\]/, keys: '?' },
      { after: /in an open case:/, keys: 'c' },
      { after: /> running #1/, keys: '\u001b[B\r' },
      { after: /#2 .*running[\s\S]*Say 2[\s\S]*\[enter\/esc\] close/, keys: '\u001b' },
      { after: /3 running/, keys: 'o' },
      { after: /Report so far, opened in the browser: /, keys: 'q' },
    ];
    const seen = await inTerminal({ cwd: here, type, env: { BROWSER: browser } }, 'run', '--no-forecast');
    await held.close();
    const { code, text, raw } = seen;
    expect(text).toMatch(/Stopped[\s\S]*npx parlane resume/);
    expect(code).toBe(3);
    const opened = await vi.waitFor(() => readFileSync(join(here, 'opened'), 'utf8'), { timeout: 5_000 });
    expect(readFileSync(fileURLToPath(opened), 'utf8')).toMatch(/^<!doctype html>/i);
    const screen = terminalScreen(40);
    screen.write(raw);
    const left = screen.text();
    expect(left, 'nothing of the view is left').not.toMatch(/ gone |LANE +LIVE|\[q\]/);
    expect(left).toMatch(/Report so far, .*\n\s*Stopping: nothing new starts/);
  });

  it('stops at once with the second press, and has the cursor back', async () => {
    const held = await heldServer();
    config(`{id: "localai:chat:m", config: {apiBaseUrl: "${held.url}"}}`);
    const type = { after: /\[q\] stop and save/, keys: 'qq' };
    const { code, raw, text } = await inTerminal({ cwd: here, type }, 'run', '--no-forecast');
    await held.close();
    expect(code).toBe(130);
    expect(text).toMatch(/Ended at once; what is recorded is kept\. Go on with: npx parlane resume 20\S+/);
    expect(raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(raw.lastIndexOf('\u001b[?25l'));
  });
});
