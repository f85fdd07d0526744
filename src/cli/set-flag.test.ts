import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-set-'));
  writeFileSync(
    join(cwd, 'parlane.yaml'),
    `prompts: ["Say {{word}}"]
providers: [sim:instant]
tests:
  - vars: {word: apple}
    asert: my own note
    assert: [{type: icontains, value: apple}]
conversations:
  - spec: order_desk
    scenarios: [{name: buys apples, variables: {client_name: Ada, goal: order apples}}]
    models: {agent: "sim:agent?latency=0ms", client: "sim:client?latency=0ms"}
`,
  );
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

describe('--set', () => {
  it.each([
    ['run', 'provders[0]=sim:fast', /unknown key "provders"\n +did you mean "providers"\?/],
    ['plan', 'conversations[0].spc=foo', /unknown key "spc"\n +did you mean "spec"\?/],
    ['plan', 'tests[0].descripton=foo', /unknown key "descripton"\n +did you mean "description"\?/],
    ['run', 'evaluateOptions.repeet=2', /unknown key "repeet"\n +did you mean "repeat"\?/],
    ['run', 'zebra=1', /unknown key "zebra"/],
    ['plan', 'tests[0].assert=foo', /assert: expected a list/],
    ['run', 'tests[0].assert[0].type=contans', /there is no assertion "contans"\n +did you mean "contains"\?/],
  ])('keeps "%s" from starting when %s is a typo', async (command, set, message) => {
    const { code, err } = await commandLine({ cwd }, command, '--set', set);
    expect(err).toMatch(message);
    expect(err).toContain(`--set ${set}`);
    expect(err).toMatch(/Nothing was run, nothing was spent/);
    expect(code).toBe(2);
    expect((await commandLine({ cwd }, 'runs')).out).toBe('No runs yet.\n');
  });

  it('takes keys that are known and not yet in the file, and the other name of providers', async () => {
    const sets = ['targets[0]=sim:echo', 'tests[0].vars.more=1', 'lanes.sim.rpm=600', 'evaluateOptions.repeat=2'];
    const { code, out } = await commandLine({ cwd }, 'plan', ...sets.flatMap((set) => ['--set', set]));
    expect(out).toMatch(/sim:echo +2/);
    expect(out).not.toMatch(/sim:instant/);
    expect(code).toBe(0);
  });
});
