import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-refusal-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
const parlane = (...args: string[]) => commandLine({ cwd }, ...args);
const places = (text: string): string[] => text.match(/^\S+:\d+:\d+ {2}.*$/gm) ?? [];

const broken = `promts: [hi]
prompts: ["Hello {{name}}", file://none.txt]
providers: [sim:instant, openia:gpt-4]
tests:
  - vars: {name: bob, text: file://nothere.txt}
    assert:
      - {type: foo, value: 1}
      - {type: regex, value: '('}
`;

describe('a config with many problems', () => {
  it.each(['run', 'plan', 'eval'])('is refused by "%s" with the list that check shows', async (command) => {
    write('parlane.yaml', broken);
    const checked = await parlane('check');
    const { code, err, out } = await parlane(command);
    expect(places(checked.err)).toHaveLength(6);
    expect(places(err)).toEqual(places(checked.err));
    expect(checked.out).toBe('6 problems.\n');
    expect(err).toMatch(/\n6 problems\. Nothing was run, nothing was spent\.\n$/);
    expect([code, out]).toEqual([2, '']);
  });

  it('says each spot once: what keeps a run from starting is no warning', async () => {
    write('parlane.yaml', 'prompts: [hi]\nproviders: [sim:instant]\ntests: [{assert: [{type: foo}]}]\n');
    const told = ['parlane.yaml:3:26  unknown assertion type "foo"'];
    expect(places((await parlane('check')).err)).toEqual(told);
    expect(places((await parlane('run')).err)).toEqual(told);
  });

  it('is broken to doctor by its first error, and the rest is a check away', async () => {
    write('parlane.yaml', broken);
    const { code, out } = await parlane('doctor');
    expect(out).toMatch(
      /config +broken +parlane\.yaml:2:29 +there is no prompt file none\.txt; see all: parlane check/,
    );
    expect(code).toBe(2);
  });
});

describe('checks of scenarios in a file of their own', () => {
  it.each(['check', 'run'])('are told by "%s" at their place in that file', async (command) => {
    const checks = 'checks: [{type: llm-rubrik, value: polite}, {type: llm-rubric, value: polite}]';
    write('scenarios.yaml', `- name: a\n  variables: {client_name: Ada, goal: apples}\n  ${checks}\n`);
    write(
      'parlane.yaml',
      'conversations: [{spec: order_desk, scenarios: scenarios.yaml, models: {agent: sim:agent, client: sim:client}}]\n',
    );
    const { code, err } = await parlane(command);
    expect(places(err)).toEqual([
      expect.stringMatching(/^scenarios\.yaml:3:19 {2}unknown assertion type "llm-rubrik"/),
      expect.stringMatching(/^scenarios\.yaml:3:47 {2}"llm-rubric" needs a text model/),
    ]);
    expect(code).toBe(2);
  });
});
