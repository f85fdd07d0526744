import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemText } from '../domain/problem.ts';
import { realFiles } from '../platform/files.ts';
import { memoryFiles } from './files.ts';
import { loadScenarios } from './load-scenarios.ts';
import { loadSpecification } from './load-specification.ts';
import { parseSource, strictJson } from './source-document.ts';
import { PromptSpecificationManager } from './specification-manager.ts';
import { renderTemplate, requiredVariables } from './template.ts';

const told = (problems: readonly Parameters<typeof problemText>[0][]): string[] => problems.map(problemText);

const minimal = `name: desk
version: "1"
agents:
  agent: {name: Agent, prompt: "Hello {{ who }}", tools: [end_call]}
  client: {name: Client, prompt: "Hi", tools: []}
`;

describe('a template', () => {
  it('puts values in once and never renders a value as a template', () => {
    expect(renderTemplate('Say {{ a }}', { a: '{{ b }}{% for x in y %}', b: 'secret' })).toBe(
      'Say {{ b }}{% for x in y %}',
    );
  });

  it('prints lists and objects as JSON and still lets them be taken apart', () => {
    const values = { list: [1, 'б'], map: { a: { b: null } } };
    expect(renderTemplate('{{ list }} {{ map }} {{ list[1] }}{% for x in list %}<{{ x }}>{% endfor %}', values)).toBe(
      '[1,"б"] {"a":{"b":null}} б<1><б>',
    );
  });

  it('refuses an unknown variable, also in a condition, and names all of them', () => {
    expect(() => renderTemplate('{{ a }}{% if b %}{{ c.d }}{% endif %}', { a: 1 })).toThrow(
      'unknown variables "b", "c"',
    );
  });

  it('refuses an unknown field of a known variable', () => {
    expect(() => renderTemplate('{{ a.b }}', { a: {} })).toThrow(/undefined/);
  });

  it('allows a variable to be absent where the author says so', () => {
    expect(renderTemplate('{{ a | default("x") }}{% if b is defined %}{{ b }}{% endif %}', {})).toBe('x');
  });

  it('knows loop, set and macro names from free ones', () => {
    const text = '{% set n = start %}{% for item in items %}{{ loop.index }}{{ item }}{{ n }}{% endfor %}';
    expect(requiredVariables(text)).toEqual(['start', 'items']);
  });

  it('leaves text without tags exactly as it is', () => {
    expect(renderTemplate('100 % {sure} שלום 你好 🙂', {})).toBe('100 % {sure} שלום 你好 🙂');
  });

  it('cannot include other files', () => {
    expect(() => requiredVariables('{% include "/etc/passwd" %}')).toThrow('cannot include');
  });
});

describe('a placed document', () => {
  it('finds duplicate keys in JSON and YAML with their place', () => {
    expect(told(parseSource('a.json', '{\n  "x": 1,\n  "x": 2\n}', strictJson).problems)).toEqual([
      'a.json:3:3  the key "x" stands here twice (keep one)',
    ]);
    expect(told(parseSource('a.yaml', 'x: 1\ny: {z: 1, z: 2}\n', strictJson).problems)).toEqual([
      'a.yaml:2:11  the key "z" stands here twice (keep one)',
    ]);
  });

  it('refuses prototype keys', () => {
    expect(parseSource('a.json', '{"__proto__": {"a": 1}}', strictJson).problems).toHaveLength(1);
  });

  it('refuses a document nested thousands deep before composing it', () => {
    for (const text of [
      '['.repeat(10_000),
      `${'- '.repeat(10_000)}x`,
      Array.from({ length: 5000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
    ]) {
      expect(parseSource('a.yaml', text, strictJson).problems[0]?.message).toContain('nested deeper');
    }
  });

  it('says where JSON breaks', () => {
    const [problem] = parseSource('a.json', '[\n  {"a": 1,}\n]', strictJson).problems;
    expect(problem).toMatchObject({ line: 2, column: 11 });
  });

  it('accepts JSON indented by tabs', () => {
    expect(parseSource('a.json', '{\n\t"a":\n\t\t[1]\n}', strictJson)).toMatchObject({
      value: { a: [1] },
      problems: [],
    });
  });
});

describe('a prompt specification', () => {
  it('loads into a snapshot whose hash depends on the content alone', async () => {
    const files = memoryFiles();
    const yaml = await loadSpecification('p/desk.yaml', minimal, files);
    const json = await loadSpecification(
      'p/desk.json',
      JSON.stringify({
        version: '1',
        agents: {
          client: { prompt: 'Hi', name: 'Client', tools: [] },
          agent: { tools: ['end_call'], prompt: 'Hello {{ who }}', name: 'Agent' },
        },
        name: 'desk',
      }),
      files,
    );
    expect(yaml.snapshot?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(json.snapshot?.hash).toBe(yaml.snapshot?.hash);
    const changed = await loadSpecification('p/desk.yaml', minimal.replace('Hello', 'hello'), files);
    expect(changed.snapshot?.hash).not.toBe(yaml.snapshot?.hash);
  });

  it('reports every problem at once, each with its place and a hint', async () => {
    const text = `name: desk
version: "1"
colour: red
agents:
  agent:
    name: Agent
    prompt: "file:../secret.txt"
    tools: [find_product, end_call]
    handoffs: {suport: x, agent: y, client: z}
  support: {name: S, prompt: "file:absent.md", tools: []}
  client: {name: C, prompt: "Hi {{ a", tools: [], promt: x}
tools:
  lookup: {description: d, parameters: {type: object}, backend: {static: 1, module: "a.ts"}}
end_marker: thanks
`;
    const { problems } = await loadSpecification('p/desk.yaml', text, memoryFiles());
    expect(told(problems).sort()).toEqual(
      [
        'p/desk.yaml:3:1  unknown key "colour" (known: name, version, description, entry, agents, tools, world, end_marker, first_speaker, judge)',
        'p/desk.yaml:11:51  unknown key "promt" (did you mean "prompt"?)',
        'p/desk.yaml:7:13  the prompt file "../secret.txt" lies outside the specification\'s folder (move it beside the specification)',
        'p/desk.yaml:8:13  unknown tool "find_product" (did you mean "find_products"?)',
        'p/desk.yaml:9:16  hands over to "suport", which does not exist (did you mean "support"?)',
        'p/desk.yaml:9:27  "agent" hands over to itself',
        'p/desk.yaml:9:37  nobody can hand over to "client"',
        'p/desk.yaml:10:3  nobody hands over to "support" (name it in the "handoffs" of an agent that "agent" reaches)',
        'p/desk.yaml:10:30  the prompt file "absent.md" does not exist',
        'p/desk.yaml:11:29  the prompt is not a template: expected variable end',
        'p/desk.yaml:13:65  a backend has one kind, this one has static and module (static, script, state, http, module or replay)',
        'p/desk.yaml:13:85  a module backend is written "file.ts#function"',
        'p/desk.yaml:14:13  "thanks" could be an ordinary word (put it in brackets, for example "[END_OF_CALL]")',
      ].sort(),
    );
  });

  it('names the keys that are known wherever one is not', async () => {
    const text = `name: desk
version: "1"
agents:
  agent: {name: A, prompt: a, tools: [look], model: {provider: x, warmth: 1}}
  client: {name: C, prompt: c}
tools:
  look: {description: d, backend: {state: {do: list, at: goods, search: {kind: kind}}, faults: {rate: 1}}}
`;
    const { problems } = await loadSpecification('p/desk.yaml', text, memoryFiles());
    expect(told(problems).filter((one) => one.includes('unknown key'))).toEqual([
      'p/desk.yaml:4:67  unknown key "warmth" (known: provider, model, temperature)',
      'p/desk.yaml:7:74  unknown key "kind" (known: by, in)',
      'p/desk.yaml:7:97  unknown key "rate" (known: errorRate, delayMs, malformedRate)',
    ]);
  });

  it('needs an entry agent and a client', async () => {
    const { problems } = await loadSpecification(
      'd.yaml',
      'name: d\nversion: 1\nagents:\n  helper: {name: H, prompt: x}\n',
      memoryFiles(),
    );
    expect(told(problems)).toEqual([
      'd.yaml:4:3  the entry agent "agent" does not exist (add an agent "agent", or name the first one by "entry")',
      'd.yaml:4:3  the agent "client" is missing (it plays the caller)',
    ]);
  });
});

describe('the PromptSpecificationManager', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parlane-specs-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('ships default_prompts and order_desk, and both load', async () => {
    const manager = new PromptSpecificationManager(realFiles, join(folder, 'none'));
    expect((await manager.list()).map(({ name, shipped }) => [name, shipped])).toEqual([
      ['default_prompts', true],
      ['order_desk', true],
    ]);
    expect((await manager.snapshot()).specification.name).toBe('default_prompts');
    expect(Object.keys((await manager.snapshot('order_desk')).specification.agents)).toEqual([
      'agent',
      'catalogue_lookup',
      'flow_manager',
      'support',
      'client',
      'evaluator',
    ]);
  });

  it('creates, updates, duplicates and deletes specifications of the user', async () => {
    const manager = new PromptSpecificationManager(realFiles, join(folder, 'prompts'));
    const content = {
      name: 'mine',
      version: '1',
      agents: { agent: { name: 'A', prompt: 'a' }, client: { name: 'C', prompt: 'c' } },
    };
    await manager.create('mine', content);
    await expect(manager.create('mine', content)).rejects.toThrow('already');
    const before = await manager.snapshot('mine');
    await manager.update('mine', { ...content, version: '2' });
    expect((await manager.snapshot('mine')).hash).not.toBe(before.hash);
    expect(before.specification.version).toBe('1');
    await manager.duplicate('mine', 'copy');
    expect((await manager.get('copy')).text).toContain('name: copy');
    await manager.delete('copy');
    await expect(manager.get('copy')).rejects.toThrow('There is no prompt specification "copy"');
    expect((await manager.list()).map(({ name }) => name)).toEqual(['default_prompts', 'mine', 'order_desk']);
  });

  it('never deletes the default nor a shipped one, and never writes what does not load', async () => {
    const manager = new PromptSpecificationManager(realFiles, join(folder, 'prompts'));
    await expect(manager.delete('default_prompts')).rejects.toThrow('cannot be deleted');
    await expect(manager.delete('order_desk')).rejects.toThrow('cannot be deleted');
    await expect(manager.create('../evil', {})).rejects.toThrow('cannot name');
    await expect(manager.create('broken', { name: 'broken' })).rejects.toThrow('"version" is missing');
    expect((await manager.list()).map(({ name }) => name)).not.toContain('broken');
  });

  it('reads prompt files inside its folder and refuses a link that leads out of it', async () => {
    const inside = join(folder, 'linked');
    await mkdir(inside, { recursive: true });
    await writeFile(join(folder, 'outside.md'), 'secret');
    await writeFile(join(inside, 'agent.md'), 'From a file.');
    await symlink(join(folder, 'outside.md'), join(inside, 'link.md'));
    await writeFile(join(inside, 'good.yaml'), minimal.replace('"Hello {{ who }}"', '"file:agent.md"'));
    await writeFile(join(inside, 'bad.yaml'), minimal.replace('"Hello {{ who }}"', '"file:link.md"'));
    const manager = new PromptSpecificationManager(realFiles, inside);
    expect((await manager.snapshot('good')).specification.agents['agent']?.prompt).toBe('From a file.');
    expect((await manager.validate('bad')).problems[0]?.message).toContain('outside');
  });
});

describe('a scenario file', () => {
  it('holds scenarios in any script, as YAML or JSON', () => {
    const names = ['Заказ печени', '订购牛奶', 'طلب حليب', 'הזמנה', 'order 🥛'];
    const json = loadScenarios('s.json', JSON.stringify(names.map((name) => ({ name, variables: { goal: name } }))));
    const yaml = loadScenarios(
      's.yaml',
      names.map((name) => `- name: ${name}\n  variables: {goal: "${name}"}\n`).join(''),
    );
    expect(json.scenarios.map(({ name }) => name)).toEqual(names);
    expect(yaml).toEqual(json);
  });

  it('reports every problem at once, each with its place', async () => {
    const { snapshot } = await loadSpecification('desk.yaml', minimal, memoryFiles());
    if (snapshot === undefined) throw new Error('the fixture loads');
    const text = `- name: one
  variables: {who: x, SEED: 1.5}
  max_turns: 0
- name: two
  variables: {}
  max_turn: 3
  script: ["hello", {say: "{{ nobody }}"}, {model: 0}]
- variables: {who: y}
  timeout_sec: -1
`;
    expect(told(loadScenarios('s.yaml', text, { specification: snapshot.specification }).problems)).toEqual([
      's.yaml:3:14  "max_turns": too small: expected number to be >=1',
      's.yaml:2:29  SEED must be an integer, not 1.5',
      's.yaml:7:52  "script.2.model": too small: expected number to be >=1',
      's.yaml:6:3  unknown key "max_turn" (did you mean "max_turns"?)',
      's.yaml:5:14  scenario 2 ("two") lacks the variable "who", which the prompt of "agent" uses',
      's.yaml:5:14  scenario 2 ("two") lacks the variable "nobody", which its script uses',
      's.yaml:8:3  "name" is missing',
      's.yaml:9:16  "timeout_sec": too small: expected number to be >0',
    ]);
  });

  it('names scenario 17 of 20 when only that one lacks a variable', async () => {
    const { snapshot } = await loadSpecification('desk.yaml', minimal, memoryFiles());
    if (snapshot === undefined) throw new Error('the fixture loads');
    const list = Array.from({ length: 20 }, (_, at) => ({
      name: `s${at + 1}`,
      variables: at === 16 ? {} : { who: 'x' },
    }));
    const { problems } = loadScenarios('s.json', JSON.stringify(list, null, 2), {
      specification: snapshot.specification,
    });
    expect(problems.map(({ message }) => message)).toEqual([
      'scenario 17 ("s17") lacks the variable "who", which the prompt of "agent" uses',
    ]);
  });

  it('refuses an empty list and anything that is not a list', () => {
    expect(loadScenarios('s.yaml', '[]').problems).toHaveLength(1);
    expect(loadScenarios('s.yaml', 'a: 1').problems).toHaveLength(1);
    expect(loadScenarios('s.yaml', '').problems).toHaveLength(1);
  });
});
