import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../../test/support/command-line.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-check-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
};

/** The problems as `file:line:column message`, and what the command ended with. */
async function check(env: Record<string, string> = {}): Promise<{ code: number; told: string[]; hints: string }> {
  const { code, out } = await commandLine({ cwd, env }, 'check', '--json');
  const { problems } = JSON.parse(out) as {
    problems: { file: string; line: number; column: number; message: string; hint?: string }[];
  };
  return {
    code,
    told: problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`),
    hints: problems.map(({ hint }) => hint ?? '').join('\n'),
  };
}

describe('parlane check', () => {
  it('finds assertions that could never be checked and files that are not there', async () => {
    write(
      'parlane.yaml',
      `prompts: ["Say {{word}} {{text}}"]
providers: [echo]
tests:
  - vars: {word: apple, text: file://novar.txt}
    assert:
      - {type: regex, value: '('}
      - {type: javascript, value: 'output ==='}
      - {type: python, value: file://none.py}
      - {type: not-is-json, value: file://none.json}
      - {type: contains}
      - {type: assert-set, assert: [{type: regex, value: '['}]}
      - {type: contains-any, value: [a, file://list.txt]}
      - {type: contains, value: a, transform: 'output.'}
`,
    );
    const { code, told } = await check();
    expect(told).toEqual([
      'parlane.yaml:4:31 there is no file novar.txt',
      expect.stringMatching(/^parlane\.yaml:6:30 not a regular expression: /),
      'parlane.yaml:7:35 not valid JavaScript: Unexpected end of input',
      'parlane.yaml:8:31 there is no file none.py',
      'parlane.yaml:9:36 there is no file none.json',
      'parlane.yaml:10:9 "contains" needs a value',
      expect.stringMatching(/^parlane\.yaml:11:58 not a regular expression: /),
      'parlane.yaml:12:41 there is no file list.txt',
      expect.stringMatching(/^parlane\.yaml:13:47 the transform is not valid JavaScript: /),
    ]);
    expect(code).toBe(2);
  });

  it('finds prompts that are no templates at their place, which a run refuses and an eval makes errors of', async () => {
    write('long.txt', 'First: {{name}}\n---\nSecond,\nsays {{ name | shuot }}\n');
    write('shout.js', 'module.exports = (text) => text.toUpperCase();');
    write(
      'parlane.yaml',
      `prompts:
  - "Hello {{name}"
  - {label: b, raw: "{% if name %}x"}
  - file://long.txt
  - '[{"role": "user", "content": "{{ name | nope }}"}]'
  - "{{ name | shout }} {{ name | upper | load }} {{ half open"
providers: [echo]
nunjucksFilters: {shout: ./shout.js}
tests: [{vars: {name: '"Ann"'}}]
`,
    );
    const { code, told, hints } = await check();
    expect(told).toEqual([
      'long.txt:4:16 there is no filter "shuot"',
      'parlane.yaml:2:18 not a template: expected variable end',
      'parlane.yaml:3:21 not a template: expected elif, else, or endif, got end of file',
      'parlane.yaml:5:46 there is no filter "nope"',
    ]);
    expect(hints).toContain('did you mean "shout"?');
    expect(code).toBe(2);
    const ran = await commandLine({ cwd }, 'run');
    expect(ran).toMatchObject({ code: 2, out: '' });
    for (const one of told) expect(ran.err).toContain(one.replace(' ', '  '));
    const rows = await commandLine({ cwd }, 'eval', '--no-write', '--no-progress-bar');
    expect(rows).toMatchObject({ code: 100 });
    expect(rows.out).toContain('The template cannot be rendered: [Line 1, Column 13] expected variable end');
    expect(rows.out).toContain('6 cases: 2 passed, 0 failed, 4 errors');
    expect(rows.out).not.toContain('unknown path');
  });

  it('tells of a table with a head alone that there are no tests, not what follows from it', async () => {
    write('t.csv', 'name,__expected\n');
    write('parlane.yaml', 'prompts: ["Hello {{name}}"]\nproviders: [echo]\ntests: file://t.csv\n');
    const { code, told } = await check();
    expect(told).toEqual(['t.csv:1:1 this table has no rows below its head: there are no tests in it']);
    expect(code).toBe(2);
    const ran = await commandLine({ cwd }, 'run');
    expect(ran.err).toContain(told[0]?.slice('t.csv:1:1 '.length));
    expect(ran).toMatchObject({ code: 2, out: '' });
  });

  it('has nothing against values that are filled in later, files that are there, and code of any form', async () => {
    write('wanted.json', '{}');
    write('texts/a.txt', 'a');
    write(
      'parlane.yaml',
      `prompts: ["Say {{word}} {{text}}"]
providers: [echo]
tests:
  - vars: {word: apple, text: file://texts/*.txt}
    assert:
      - {type: regex, value: '{{word}}('}
      - {type: contains, value: 'file://{{word}}.txt'}
      - {type: is-json, value: file://wanted.json}
      - {type: javascript, value: 'const n = output.length; n > 2'}
      - type: javascript
        value: |
          // a whole body
          return output.length > 2; // and why
`,
    );
    expect(await check()).toMatchObject({ code: 0, told: [] });
  });

  it('tells wrong providers, specifications and scenario files together, each at its place', async () => {
    write(
      'parlane.yaml',
      `prompts: ["Say {{word}}"]
providers:
  - opnai:gpt-4.1
  - sim:fast?rmp=3
  - {id: "nonsense:model", label: mine}
tests: [{vars: {word: apple}}]
conversations:
  - spec: ordr_desk
    scenarios: nowhere.yaml
    models: {agent: "simm:agent"}
  - spec: order_desk
    scenarios: [{nme: buys apples}]
`,
    );
    const { code, told, hints } = await check();
    expect(told).toEqual([
      'parlane.yaml:3:5 unknown provider "opnai:gpt-4.1"',
      'parlane.yaml:4:5 sim: there is no setting "rmp"',
      'parlane.yaml:5:10 unknown provider "nonsense:model"',
      expect.stringMatching(/^parlane\.yaml:8:11 There is no prompt specification "ordr_desk"/),
      'parlane.yaml:9:16 There is no scenario file nowhere.yaml',
      'parlane.yaml:10:21 unknown provider "simm:agent"',
      expect.stringMatching(/^parlane\.yaml:12:16 "name" is missing/),
      expect.stringMatching(/^parlane\.yaml:12:16 unknown key "nme"/),
    ]);
    expect(hints).toMatch(/Did you mean openai:gpt-4\.1\?\nDid you mean rpm\?/);
    expect(code).toBe(2);
  });

  it('goes on behind a key that stands twice, and into files of tests', async () => {
    write('more.yaml', '- vars: {word: plum}\n  assert: [{type: regex, value: "["}]\n');
    write('table.csv', 'word,__expected\nfig,regex: ok\nkiwi,regex: (\n');
    write(
      'parlane.yaml',
      `prompts: ["Say {{word}}"]
prompts: ["Say {{word}} now"]
providers: [nonsense]
tests:
  - vars: {word: apple}
    assert: [{type: contans, value: a}]
  - file://more.yaml
  - file://table.csv
`,
    );
    const { code, told } = await check();
    expect(told).toEqual([
      expect.stringMatching(/^more\.yaml:2:33 not a regular expression/),
      'parlane.yaml:2:1 the key "prompts" stands here twice',
      'parlane.yaml:3:13 unknown provider "nonsense"',
      'parlane.yaml:6:21 unknown assertion type "contans"',
      expect.stringMatching(/^table\.csv:3:1 \(row 2\): not a regular expression/),
    ]);
    expect(code).toBe(2);
  });

  it('warns of a latency assertion that answers from the cache would turn into an error', async () => {
    const config = (more: string): void =>
      write(
        'parlane.yaml',
        `prompts: [hello]\nproviders: [echo]\ntests: [{assert: [{type: latency, threshold: 1000}]}]\n${more}`,
      );
    config('');
    const { code, told, hints } = await check();
    expect(told).toEqual([expect.stringMatching(/^parlane\.yaml:3:26 an answer from the cache has no latency/)]);
    expect(hints).toContain('--no-cache');
    expect(code).toBe(0);
    config('evaluateOptions: {cache: false}\n');
    expect((await check()).told).toEqual([]);
  });
});
