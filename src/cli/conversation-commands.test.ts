import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine, type Said } from '../../test/support/command-line.ts';
import { resultValidator } from '../conversation/result-schema.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-simulate-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));
const parlane = (...args: string[]): Promise<Said> => commandLine({ cwd }, ...args);
const write = (name: string, content: unknown): void =>
  writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
const example = join(import.meta.dirname, '..', '..', 'examples', 'order-desk');
const fast = ['--agent-model', 'sim:agent?latency=0ms', '--client-model', 'sim:client?latency=0ms'];

describe('parlane simulate', () => {
  it('plays the shipped example offline and writes results of the contract in scenario order', async () => {
    cpSync(example, cwd, { recursive: true });
    const said = await parlane(
      'simulate',
      'scenarios.yaml',
      '--spec',
      'order_desk',
      '--repeat',
      '2',
      '--judge-model',
      'sim:judge?latency=0ms',
      ...fast,
      '-o',
      'results.json',
    );
    expect(said.err).not.toContain('bug');
    expect([0, 100]).toContain(said.code);
    const written = JSON.parse(readFileSync(join(cwd, 'results.json'), 'utf8'));
    expect(written).toMatchObject({
      batch_id: expect.any(String),
      status: 'completed',
      total_scenarios: 8,
      use_tools: true,
      prompt_spec_name: 'order_desk',
    });
    expect(written.results.map(({ scenario }: { scenario: string }) => scenario)).toEqual([
      'milk and bread',
      'milk and bread',
      'loose words',
      'loose words',
      'старый клиент',
      'старый клиент',
      'by the script',
      'by the script',
    ]);
    const faultsOf = resultValidator();
    for (const result of written.results) expect(faultsOf(result)).toEqual([]);
    expect(said.out).toContain('pass^k');
    expect(said.out).toMatch(/limits +\d+ % of what the limits allow/);
    const summary = await parlane('summary', '--json');
    expect(JSON.parse(summary.out)).toMatchObject({
      planned: 8,
      scored: 8,
      run: written.batch_id,
      efficiency: { makespanMs: expect.any(Number), bindingTerm: expect.any(String) },
    });
  });

  it('says which conversations did not pass and why, and what one can do next', async () => {
    const checks = [{ type: 'contains', value: 'never said' }];
    write('s.json', [
      { name: 'one', variables: {}, max_turns: 2 },
      { name: 'two', variables: {}, max_turns: 2, checks },
    ]);
    const said = await parlane('simulate', 's.json', '--no-tools', ...fast);
    expect(said.code).toBe(100);
    expect(said.out).toMatch(/FAILED +#2 two +.*never said[\s\S]*Look closer +npx parlane show 2[\s\S]*exit code 100/);
    const [, again = ''] = /Run it again +npx parlane (retry --run \S+)/.exec(said.out) ?? [];
    expect((await parlane(...again.split(' '))).out).toMatch(/1 case in .* 1 failed/);
  });

  it('writes its files again when a batch that was stopped is played to its end', async () => {
    write(
      's.json',
      ['one', 'two', 'three'].map((name) => ({ name, variables: {}, max_turns: 2 })),
    );
    const priced = ['--agent-model', 'sim:agent?latency=0ms&price=10/10', '--client-model', 'sim:client?latency=0ms'];
    const stopped = await parlane('simulate', 's.json', '--no-tools', ...priced, '--budget', '0.02', '-o', 'r.json');
    expect(stopped.code).toBe(3);
    expect(stopped.out).toMatch(/Continue +npx parlane resume 20\S+ --budget 0\.\d+/);
    const written = () => JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8'));
    expect(written().status).not.toBe('completed');

    const resumed = await parlane('resume', '--budget', '5');
    expect(resumed.err).toContain('Written: r.json');
    expect(written()).toMatchObject({ status: 'completed', summary: { planned: 3 } });
    const ends = written().results.map((one: { scenario: string; status: string }) => [one.scenario, one.status]);
    expect(ends).toEqual(['one', 'two', 'three'].map((name) => [name, 'completed']));

    await parlane('resume', '--errors-too', '-o', 'report.html');
    expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('plays without tools, and says which models play when none is named', async () => {
    write('s.json', [{ name: 'hello', variables: {}, max_turns: 1 }]);
    const said = await parlane('simulate', 's.json', '--no-tools', '--json');
    expect(said.err).toContain('sim:agent');
    expect(JSON.parse(said.out)).toMatchObject({
      status: 'completed',
      use_tools: false,
      prompt_spec_name: 'default_prompts',
      summary: { planned: 1 },
    });
    expect(said.code).toBe(0);
  });

  it('tells every problem of the scenarios at once with its place, and runs nothing', async () => {
    write('s.yaml', '- name: a\n  max_turns: 0\n- name: b\n  variables: {SEED: 1.5}\n  scrpt: [x]\n');
    const said = await parlane('simulate', 's.yaml');
    expect(said.code).toBe(2);
    expect(said.err).toMatch(/\nNothing was run, nothing was spent\.\n$/);
    for (const part of ['s.yaml:2:14', 's.yaml:4:21', 's.yaml:5:3', 'did you mean "script"?', 'nothing was spent'])
      expect(said.err).toContain(part);
  });

  it('tells every problem of a specification with its place', async () => {
    mkdirSync(join(cwd, 'prompts'));
    write(
      'prompts/mine.yaml',
      'name: mine\nversion: 1\nagents:\n  agent: {name: A, prompt: x, tools: [teleport], handoffs: {agent: y}}\n  client: {name: C, prompt: "file:../../etc/passwd"}\n',
    );
    write('s.json', [{ name: 'a', variables: {} }]);
    const said = await parlane('simulate', 's.json', '--spec', 'mine');
    expect(said.code).toBe(2);
    for (const part of ['unknown tool "teleport"', 'hands over to itself', 'outside']) expect(said.err).toContain(part);
  });

  it.each([
    [['simulate', 'absent.yaml'], 'There is no file "absent.yaml"'],
    [['simulate', 's.json', '--max-turns', '0'], '--max-turns is "0"'],
    [['simulate', 's.json', '--repeat', 'many'], '--repeat is "many"'],
    [['simulate', 's.json', '--budget', '-1'], '--budget'],
    [['simulate', 's.json', '--spec', 'order_dest'], 'did you mean "order_desk"?'],
    [['simulate', 's.json', '--agent-model', 'opnai:x'], 'Unknown provider "opnai:x"'],
    [['simulate', 's.json', '-o', 'results.docx'], '.json, .ndjson or .csv'],
    [['import', 's.json'], 'Which format?'],
    [['import', 's.json', '--format', 'xml'], '"xml" is not a format'],
    [['specs', 'burn'], '"burn" cannot be done'],
    [['summary'], 'no runs'],
  ])('answers %j with one clear message and exit code 2', async (args, message) => {
    write('s.json', [{ name: 'a', variables: {} }]);
    const said = await parlane(...args);
    expect(said.err).toContain(message);
    expect(said.code).toBe(2);
  });

  it('exits with 100 when a check failed', async () => {
    write('s.json', [
      { name: 'a', variables: {}, script: ['hello'], checks: [{ type: 'contains', value: 'never said' }] },
    ]);
    expect((await parlane('simulate', 's.json', ...fast)).code).toBe(100);
  });
});

describe('parlane import and summary', () => {
  it('bring in trajectories and give their counts, pass^k and pass@k', async () => {
    const traj = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: '###STOP###' },
    ];
    write(
      't.json',
      [0, 1].flatMap((task) =>
        [0, 1].map((trial) => ({ task_id: task, trial, reward: task === 0 || trial === 0 ? 1 : 0, info: {}, traj })),
      ),
    );
    const imported = await parlane('import', 't.json', '--format', 'tau-bench', '--json');
    expect(imported.code).toBe(0);
    const { run } = JSON.parse(imported.out);
    const said = JSON.parse((await parlane('summary', run, '--json')).out);
    expect(said).toMatchObject({ planned: 4, scored: 4, successes: 3, pass_hat_k: [0.75, 0.5], pass_at_k: [0.75, 1] });
    expect((await parlane('summary', run)).out).toContain('3 of 4 scored');
  });
});

describe('parlane specs', () => {
  it('lists, checks, copies, shows, changes and deletes', async () => {
    expect((await parlane('specs')).out).toContain('order_desk');
    expect((await parlane('specs', 'check', 'order_desk')).out).toContain('ok');
    expect((await parlane('specs', 'duplicate', 'order_desk', 'my_desk')).out).toContain('my_desk.yaml');
    expect(
      JSON.parse((await parlane('specs', 'list', '--json')).out).specifications.map(
        ({ name }: { name: string }) => name,
      ),
    ).toEqual(['default_prompts', 'my_desk', 'order_desk']);
    expect((await parlane('specs', 'show', 'my_desk')).out).toContain('name: my_desk');
    write(
      'new.yaml',
      'name: my_desk\nversion: "2"\nagents:\n  agent: {name: A, prompt: a}\n  client: {name: C, prompt: c}\n',
    );
    expect((await parlane('specs', 'update', 'my_desk', 'new.yaml')).code).toBe(0);
    expect((await parlane('specs', 'create', 'other', 'new.yaml')).code).toBe(0);
    expect((await parlane('specs', 'delete', 'my_desk')).code).toBe(0);
    expect((await parlane('specs', 'delete', 'default_prompts')).code).toBe(2);
  });
});
