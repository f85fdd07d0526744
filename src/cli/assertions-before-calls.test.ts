import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/command-line.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-assertions-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const config = (text: string): void => writeFileSync(join(cwd, 'parlane.yaml'), text);
const parlane = (env: Record<string, string>, ...args: string[]) => commandLine({ cwd, env }, ...args);
const noRuns = async (): Promise<void> => expect((await parlane({}, 'runs')).out).toMatch(/No runs yet/);

const graded = `prompts: ["Say {{word}}"]
providers: [sim:instant]
tests:
  - {description: plain, vars: {word: apple}, assert: [{type: icontains, value: apple}]}
  - description: rated
    vars: {word: pear}
    assert:
      - {type: assert-set, assert: [{type: llm-rubric, value: kind}]}
      - {type: similar, value: a pear}
`;

describe('a grader that nobody could ask', () => {
  it.each(['check', 'eval', 'run', 'plan'])('keeps "%s" from starting, told at its assertion', async (command) => {
    config(graded);
    const { code, err } = await parlane({}, command);
    expect(err).toMatch(/parlane\.yaml:8:37 {2}"llm-rubric" names no grader.*OPENAI_API_KEY is not set/);
    expect(err).toMatch(/parlane\.yaml:9:9 {2}"similar" names no grader.*OPENAI_API_KEY is not set/);
    expect(err).toMatch(/set OPENAI_API_KEY, or name a grader: defaultTest/);
    expect(code).toBe(2);
    await noRuns();
  });

  it('matters only when a planned case needs it', async () => {
    config(graded);
    expect((await parlane({}, 'eval', '--filter-pattern', 'plain', '--no-write')).code).toBe(0);
    expect((await parlane({}, 'run', '--only', 'plain', '--no-forecast')).code).toBe(0);
    expect((await parlane({}, 'run', '--only', 'rated', '--no-forecast')).code).toBe(2);
  });

  it('is found in every row of a table', async () => {
    writeFileSync(join(cwd, 'table.csv'), 'word,__expected\nfig,icontains: fig\nkiwi,llm-rubric: kind\n');
    config('prompts: ["Say {{word}}"]\nproviders: [sim:instant]\ntests: file://table.csv\n');
    const { code, err } = await parlane({}, 'eval', '--no-write');
    expect(err).toMatch(/table\.csv:3:1 {2}\(row 2\): "llm-rubric" names no grader/);
    expect(code).toBe(2);
  });

  it('is no matter when the config names one that can be asked', async () => {
    config(`${graded}defaultTest: {options: {provider: "sim:judge?latency=0ms"}}\n`);
    expect((await parlane({}, 'check')).code).toBe(0);
    const { out, code } = await parlane({}, 'plan');
    expect(out).toMatch(/sim:judge\S* +- +~?3/);
    expect(code).toBe(0);
  });

  it('has its lane in the plan when its key is there', async () => {
    config(graded);
    const { out, code } = await parlane({ OPENAI_API_KEY: 'sk-test' }, 'plan', '--json');
    const lanes = (JSON.parse(out) as { lanes: { key: string }[] }).lanes.map((lane) => JSON.stringify(lane));
    expect(lanes.some((lane) => lane.includes('gpt-4.1'))).toBe(true);
    expect(lanes.some((lane) => lane.includes('text-embedding-3-large'))).toBe(true);
    expect(code).toBe(0);
  });

  it('is refused for checks of conversations as well', async () => {
    config(`conversations:
  - spec: order_desk
    scenarios: [{name: buys apples, variables: {client_name: Ada, goal: order apples}}]
    models: {agent: "sim:agent?latency=0ms", client: "sim:client?latency=0ms"}
    checks: [{type: llm-rubric, value: polite}]
`);
    for (const command of ['check', 'run']) {
      const { code, err } = await parlane({}, command);
      expect(err).toMatch(/parlane\.yaml:5:14 {2}"llm-rubric" needs a text model, and none is named/);
      expect(code).toBe(2);
    }
    await noRuns();
  });
});

describe('checks of a list of scenarios', () => {
  const list = (check: string): void =>
    writeFileSync(
      join(cwd, 'scenarios.yaml'),
      `- {name: ok, variables: {client_name: Ada, goal: order apples}}
- name: buys apples
  variables: {client_name: Ada, goal: order apples}
  checks:
    - ${check}
`,
    );
  const spec = ['scenarios.yaml', '--spec', 'order_desk'];

  it.each(['simulate', 'run', 'plan'])(
    'of an unknown type keep "%s" from starting, told at the check',
    async (command) => {
      list('{type: llm-rubrik, value: polite}');
      const { code, err } = await parlane({}, command, ...spec);
      expect(err).toMatch(
        /^scenarios\.yaml:5:(?:7|14) {2}unknown assertion type "llm-rubrik"\n[\s\S]*did you mean "llm-rubric"/m,
      );
      expect(code).toBe(2);
      await noRuns();
    },
  );

  it.each(['simulate', 'run', 'plan'])(
    'that nobody could grade keep "%s" from starting, with their cure',
    async (command) => {
      list('{type: llm-rubric, value: polite}');
      const { code, err } = await parlane({}, command, ...spec);
      expect(err).toMatch(/^scenarios\.yaml:5:7 {2}"llm-rubric" needs a text model, and none is named/m);
      expect(err).toMatch(/--judge-model for a list of scenarios/);
      expect(err).not.toMatch(/defaultTest/);
      expect(code).toBe(2);
      await noRuns();
    },
  );

  it('are made by the judge that is named', async () => {
    list('{type: llm-rubric, value: polite}');
    const judge = ['--judge-model', 'sim:judge?latency=0ms'];
    const models = ['--agent-model', 'sim:agent?latency=0ms', '--client-model', 'sim:client?latency=0ms'];
    const { code } = await parlane({}, 'simulate', ...spec, ...judge, ...models);
    expect([0, 100]).toContain(code);
  });
});

describe('code of the config that fails while a run goes on', () => {
  it('is not told as an error of a provider', async () => {
    config('prompts: [hi]\nproviders: [sim:instant]\ntests: [{options: {transform: "output.a.b"}}]\n');
    const { code, out } = await parlane({}, 'run', '--no-forecast');
    expect(out).toMatch(/exit code 4: complete, but some cases ended in errors of their checks or code/);
    expect(code).toBe(4);
  });

  it('leaves the errors of a provider to it', async () => {
    config(
      'prompts: [hi]\nproviders: ["sim:instant?error=100%"]\ntests: [{vars: {a: b}}]\nlanes: {"sim:instant?error=100%": {maxRetries: 0}}\n',
    );
    const { code, out } = await parlane({}, 'run', '--no-forecast');
    expect(out).toMatch(/exit code 4: complete, but some cases ended in errors of a provider/);
    expect(code).toBe(4);
  });
});

describe('an assertion of an unknown type', () => {
  const unknown = 'prompts: [hi]\nproviders: [sim:instant]\ntests: [{assert: [{type: contans, value: a}]}]\n';

  it('keeps a run from starting: it is a mistake in the config, not an error of a provider', async () => {
    config(unknown);
    const { code, err } = await parlane({}, 'run');
    expect(err).toMatch(/parlane\.yaml:3:\d+ {2}unknown assertion type "contans"\n[\s\S]*did you mean "contains"/);
    expect(code).toBe(2);
    await noRuns();
  });

  it('makes error rows in an eval, as in promptfoo', async () => {
    config(unknown);
    const { code, out } = await parlane({}, 'eval', '--no-write', '--no-table');
    expect(out).toMatch(/0 passed\W+0 failed\W+1 error/);
    expect(code).toBe(100);
  });
});
