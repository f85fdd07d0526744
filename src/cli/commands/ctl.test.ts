import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commandLine, type Said } from '../../../test/support/command-line.ts';
import { type HeldServer, heldServer } from '../../../test/support/held-server.ts';

let cwd: string;
let server: HeldServer;
let run: Promise<Said>;
const parlane = (...args: string[]): Promise<Said> => commandLine({ cwd }, ...args);

/** Of its two cases one is done at once, and the other waits for a server. */
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-ctl-'));
  server = await heldServer();
  const held = { id: 'openai:gpt-5-mini', config: { apiBaseUrl: server.url, apiKey: 'k' } };
  const config = {
    description: 'fruit',
    prompts: ['Say {{w}}'],
    providers: ['echo', held],
    tests: [{ vars: { w: 'a' } }],
  };
  writeFileSync(join(cwd, 'parlane.yaml'), JSON.stringify(config));
  run = parlane('run', '--no-forecast');
  await server.asked;
  await vi.waitFor(async () => expect((await parlane('ctl', 'why', '1')).out).toContain('done'), { timeout: 5_000 });
});
afterAll(async () => {
  server.release();
  await run;
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

describe('parlane ctl', () => {
  it('begins with the run and how far it is', async () => {
    const { out } = await parlane('ctl');
    expect(out).toMatch(/^run 20\S+ {2}fruit: 1 of 2 cases done, 1 passed, 0 failed, 0 errors\n/);
    expect(out).toMatch(/\nopenai\S*gpt-5-mini.* 1\/\d+ in flight/);
    expect(JSON.parse((await parlane('ctl', '--json')).out)).toMatchObject({ run: expect.any(String), completed: 1 });
  });

  it('says how a case ended that is done, and where the calls of another are', async () => {
    expect((await parlane('ctl', 'why', '1')).out).toBe('#1 is done: passed. See it: parlane show 1\n');
    expect((await parlane('ctl', 'why', '2')).out).toMatch(/^#2 .*: on the wire in openai/);
  });

  it.each([
    [['why', '9999'], /The run has no case #9999/],
    [['cancel', '3'], /The run has no case #3/],
    [['why', '0'], /The run has no case #0/],
    [['cancel', '1'], /Case #1 has ended \(passed\)/],
    [['limit', 'openai', 'rpn=3'], /"rpn=3" is not a limit\. Write rpm, tpm/],
  ])('refuses %j and exits with 2', async (words, message) => {
    const { err, code } = await parlane('ctl', ...words);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });

  it("says the new limits, which it takes in the config's words and in shorter ones", async () => {
    const long = await parlane('ctl', 'limit', 'gpt-5', 'rpm=100', 'maxConcurrent=8', 'minGapMs=5');
    expect(long.out).toMatch(/^openai\S+: rpm is now 100, maxConcurrent is now 8, minGapMs is now 5\n$/);
    expect((await parlane('ctl', 'limit', 'gpt-5', 'concurrent=4')).out).toMatch(/: maxConcurrent is now 4\n$/);
  });
});
