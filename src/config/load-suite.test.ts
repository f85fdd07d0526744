import { afterEach, describe, expect, it } from 'vitest';
import { type Project, project, testsOf } from './fixtures/project.ts';
import type { LoadSuiteOptions } from './load-suite.ts';

const open: Project[] = [];
const made = (files: Record<string, string>): Project => {
  const fresh = project(files);
  open.push(fresh);
  return fresh;
};
const config = (text: string, more: Record<string, string> = {}): Project =>
  made({ 'promptfooconfig.yaml': text, ...more });
afterEach(async () => {
  for (const one of open.splice(0)) await one.remove();
});
const head = 'providers: [echo]\nprompts: [hi]\n';

describe('finding configs', () => {
  it('takes the first known name in the folder', async () => {
    const both = made({
      'promptfooconfig.json': '{"providers":["echo"],"prompts":["json"]}',
      'promptfooconfig.yml': head,
    });
    expect((await both.load()).prompts[0]?.raw).toBe('hi');
  });

  it('loads JSON, JavaScript and TypeScript configs, functions included', async () => {
    const json = made({ 'promptfooconfig.json': '{"providers":["echo"],"prompts":["a {{b}}"]}' });
    expect((await json.load()).prompts[0]?.raw).toBe('a {{b}}');
    const code = made({
      'promptfooconfig.ts':
        'export default async (): Promise<object> => ({ providers: ["echo"], prompts: ["p"], tests: [{ vars: { a: 1 }, assert: [{ type: "javascript", value: (o: string) => o === "p" }] }] });',
    });
    const suite = await code.load();
    const [test] = await testsOf(suite);
    expect(test?.assert?.[0]?.value).toBe(`file://${code.folder}/promptfooconfig.ts:tests.0.assert.0.value`);
  });

  it('takes paths, patterns and folders, and says what it did not find', async () => {
    const many = made({
      'a/promptfooconfig.yaml': head,
      'b/one.yaml': 'providers: [x]\nprompts: [two]\n',
      'b/two.yaml': 'providers: [y]\nprompts: [three]\n',
    });
    const suite = await many.load({ configs: ['a', 'b/*.yaml'] });
    expect(suite.prompts.map(({ raw }) => raw)).toEqual(['hi', 'two', 'three']);
    expect((await many.problems({ configs: ['c.yaml'] }))[0]).toMatchObject({
      file: 'c.yaml',
      message: 'there is no such config file',
    });
  });
});

describe('merging several configs', () => {
  const merged = async (one: string, two: string, options: Partial<LoadSuiteOptions> = {}) =>
    made({ 'one.yaml': one, 'two.yaml': two }).load({ configs: ['one.yaml', 'two.yaml'], ...options });

  it('joins providers and prompts and keeps equal ones once', async () => {
    const suite = await merged('providers: [echo, a]\nprompts: [p]\n', 'providers: [echo, b]\nprompts: [p, q]\n');
    expect(suite.providers.map(({ id }) => id)).toEqual(['echo', 'a', 'b']);
    expect(suite.prompts.map(({ raw }) => raw)).toEqual(['p', 'q']);
  });

  it('joins tests, extensions and descriptions, and lays options and env over each other', async () => {
    const suite = await merged(
      'description: one\nproviders: [echo]\nprompts: [p]\ntests: [{vars: {a: 1}}]\nextensions: ["file://a.js:x"]\nevaluateOptions: {repeat: 2, maxConcurrency: 3}\nenv: {A: 1}',
      'description: two\nproviders: [echo]\nprompts: [p]\ntests: [{vars: {a: 2}}]\nextensions: ["file://b.js:x"]\nevaluateOptions: {repeat: 4}\nenv: {B: true}',
    );
    expect(suite.description).toBe('one, two');
    expect((await testsOf(suite)).map(({ vars }) => vars)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(suite.extensions).toEqual(['file://a.js:x', 'file://b.js:x']);
    expect(suite.evaluateOptions).toEqual({ repeat: 4, maxConcurrency: 3 });
    expect(suite.env).toEqual({ A: '1', B: 'true' });
  });

  it('merges default tests: vars, options and metadata over each other, assertions joined', async () => {
    const suite = await merged(
      `${head}defaultTest: {vars: {a: 1, b: 1}, options: {prefix: x}, assert: [{type: contains, value: a}]}`,
      `${head}defaultTest: {vars: {b: 2}, metadata: {m: 1}, assert: [{type: contains, value: b}]}`,
    );
    expect(suite.defaultTest).toMatchObject({
      vars: { a: 1, b: 2 },
      options: { prefix: 'x' },
      metadata: { m: 1 },
      assert: [
        { type: 'contains', value: 'a' },
        { type: 'contains', value: 'b' },
      ],
    });
  });
});

describe('text of the config', () => {
  it('follows $ref within the file and into others, but not inside tool parameters', async () => {
    const suite = await config(
      'providers:\n  - id: echo\n    config: {tools: [{function: {name: f, parameters: {$ref: "#/defs/x"}}}]}\nprompts: [p]\nassertionTemplates:\n  a: {type: contains, value: q}\ntests:\n  - assert: [{$ref: "#/assertionTemplates/a"}, {$ref: "more.yaml#/b"}]\n',
      { 'more.yaml': 'b: {type: equals, value: z}\n' },
    ).load();
    expect((await testsOf(suite))[0]?.assert).toEqual([
      { type: 'contains', value: 'q' },
      { type: 'equals', value: 'z' },
    ]);
    expect(JSON.stringify(suite.providers[0]?.config)).toContain('"$ref":"#/defs/x"');
  });

  it('does not follow $ref when PROMPTFOO_DISABLE_REF_PARSER is set', async () => {
    const suite = await config(`${head}metadata: {m: {$ref: "#/nowhere"}}`).load({
      env: { PROMPTFOO_DISABLE_REF_PARSER: '1' },
    });
    expect(suite.metadata).toEqual({ m: { $ref: '#/nowhere' } });
  });

  it('puts in {{ env.X }} when it loads and leaves every other template', async () => {
    const suite = await config(
      'env: {OWN: "{{ env.BASE }}/own"}\nproviders: [{id: "x:{{ env.NAME }}", config: {url: "{{ env.OWN }}", key: "{{ env.NONE }}", d: "{{ env.NONE | default(\'z\') }}"}}]\nprompts: ["{{ env.NAME }} {{ question }}"]\n',
    ).load({ env: { BASE: 'http://b', NAME: 'n' } });
    expect(suite.providers[0]).toMatchObject({
      id: 'x:n',
      config: { url: 'http://b/own', key: '{{ env.NONE }}', d: 'z' },
    });
    expect(suite.prompts[0]?.raw).toBe('n {{ question }}');
  });

  it('understands merge keys and aliases', async () => {
    const suite = await config(
      `_base: &base {threshold: 0.5}\n${head}tests:\n  - <<: *base\n    vars: {a: 1}\n`,
    ).load();
    expect((await testsOf(suite))[0]).toEqual({ threshold: 0.5, vars: { a: 1 } });
  });

  it('takes targets for providers, and only one of the two', async () => {
    expect((await config('targets: [echo]\nprompts: [p]\n').load()).providers[0]?.id).toBe('echo');
    const both = await config('targets: [echo]\nproviders: [echo]\nprompts: [p]\n').problems();
    expect(both[0]).toMatchObject({ line: 1, message: '"providers" and "targets" are the same thing' });
  });
});

describe('providers', () => {
  it('come as ids, maps with an id, maps by id, and files that hold one or many', async () => {
    const suite = await config(
      'providers:\n  - echo\n  - {id: "a:b", label: L, config: {t: 1}, delay: 5, prompts: [p]}\n  - "c:d": {config: {t: 2}}\n  - file://more.yaml\nprompts: [p]\n',
      { 'more.yaml': '- {id: "e:f", config: {tools: file://tools.json}}\n- id: g\n', 'tools.json': '[1]' },
    ).load();
    expect(suite.providers).toEqual([
      { name: 'echo', id: 'echo' },
      { name: 'L', id: 'a:b', label: 'L', config: { t: 1 }, prompts: ['p'], delay: 5 },
      { name: 'c:d', id: 'c:d', config: { t: 2 } },
      { name: 'e:f', id: 'e:f', config: { tools: [1] } },
      { name: 'g', id: 'g' },
    ]);
  });

  it('get names of their own when they are equal', async () => {
    const suite = await config('providers: [{id: a, config: {t: 1}}, {id: a, config: {t: 2}}]\nprompts: [p]\n').load();
    expect(suite.providers.map(({ name }) => name)).toEqual(['a', 'a#2']);
  });

  it('named on the command line take the settings of the config', async () => {
    const suite = await config('providers: [{id: "v:m", config: {t: 1}}, b]\nprompts: [p]\n').load({
      overrides: { providers: ['m', 'new'] },
    });
    expect(suite.providers).toEqual([
      { name: 'v:m', id: 'v:m', config: { t: 1 } },
      { name: 'new', id: 'new' },
    ]);
  });

  it('and prompts are filtered by a regular expression over id and label', async () => {
    const base = config(
      'providers: [{id: a, label: fast}, b]\nprompts: [{raw: p, label: short}, {raw: q, label: long}]\n',
    );
    const suite = await base.load({ overrides: { filterProviders: '^fa', filterPrompts: 'lo' } });
    expect([suite.providers.length, suite.prompts[0]?.raw]).toEqual([1, 'q']);
    expect((await base.problems({ overrides: { filterProviders: 'zzz' } }))[0]?.message).toBe(
      'no provider matches "zzz"',
    );
  });
});

describe('prompts', () => {
  const prompts = async (text: string, files: Record<string, string> = {}, env: Record<string, string> = {}) =>
    (await config(`providers: [echo]\nprompts: ${text}\n`, files).load({ env })).prompts;

  it('are texts, maps, a single text, or a map of paths to labels', async () => {
    expect(await prompts('["a {{b}}"]')).toEqual([{ raw: 'a {{b}}', label: 'a {{b}}' }]);
    expect(await prompts('[{raw: x, label: L, config: {t: 1}}]')).toEqual([{ raw: 'x', label: 'L', config: { t: 1 } }]);
    expect(await prompts('one text')).toEqual([{ raw: 'one text', label: 'one text' }]);
    expect(await prompts('{a.md: A}', { 'a.md': 'text' })).toEqual([{ raw: 'text', label: 'A' }]);
  });

  it('default to {{prompt}}', async () => {
    expect((await config('providers: [echo]\ntests: [{vars: {prompt: x}}]').load()).prompts[0]?.raw).toBe('{{prompt}}');
  });

  it('in text files are split at lines of ---, or at the separator that is set', async () => {
    const files = { 'p.txt': 'one\ntwo\n---\nthree\n===\nfour\n' };
    expect((await prompts('[file://p.txt]', files)).map(({ raw }) => raw)).toEqual(['one\ntwo', 'three\n===\nfour']);
    const other = await prompts('[file://p.txt]', files, { PROMPTFOO_PROMPT_SEPARATOR: '===' });
    expect(other.map(({ raw }) => raw)).toEqual(['one\ntwo\n---\nthree', 'four']);
  });

  it('in data files become JSON, with files inside them loaded', async () => {
    const files = {
      'p.json': '[{"role": "user", "content": "file://c.txt"}]',
      'c.txt': 'hello',
      'q.yaml': '- role: user\n  content: "{{x}}"\n',
    };
    const [json, yaml] = await prompts('[file://p.json, file://q.yaml]', files);
    expect(json?.raw).toBe('[{"role":"user","content":"hello"}]');
    expect(yaml?.raw).toBe('[{"role":"user","content":"{{x}}"}]');
  });

  it('come one per line from jsonl, one per row from csv, whole from md and j2', async () => {
    const files = {
      'p.jsonl': '{"a":1}\n{"a":2}\n',
      'p.csv': 'prompt,label\nhi {{x}},L\n',
      'p.j2': 'jinja',
      'p.md': '# m',
    };
    const all = await prompts('[file://p.jsonl, file://p.csv, file://p.j2, file://p.md]', files);
    expect(all.map(({ raw }) => raw)).toEqual(['{"a":1}', '{"a":2}', 'hi {{x}}', 'jinja', '# m']);
    expect(all[2]?.label).toBe('L');
  });

  it('come from every file of a pattern or folder', async () => {
    const files = { 'd/b.txt': 'B', 'd/a.txt': 'A' };
    expect((await prompts('["d/*.txt"]', files)).map(({ raw }) => raw)).toEqual(['A', 'B']);
    expect((await prompts('[file://d]', files)).map(({ raw }) => raw)).toEqual(['A', 'B']);
  });

  it('may be functions in code files', async () => {
    const [js, py] = await prompts('["file://f.js:make", "file://f.py:make"]', {
      'f.js': 'export const make = 1;',
      'f.py': 'x',
    });
    expect(js?.code).toMatchObject({ kind: 'file', language: 'javascript', functionName: 'make' });
    expect(py?.code).toMatchObject({ kind: 'file', language: 'python', functionName: 'make' });
  });

  it('that look like a path but are none stay text; a missing file:// is a problem with its place', async () => {
    expect((await prompts('["either/or"]'))[0]?.raw).toBe('either/or');
    const [problem] = await config('providers: [echo]\nprompts:\n  - ok\n  - file://gone.txt\n').problems();
    expect(problem).toMatchObject({ line: 4, column: 5, message: 'there is no prompt file gone.txt' });
  });
});

describe('tests', () => {
  const tests = async (text: string, files: Record<string, string> = {}, env: Record<string, string> = {}) =>
    testsOf(await config(`${head}tests: ${text}\n`, files).load({ env }));

  it('come from csv, json, jsonl and yaml files, and from patterns', async () => {
    const files = {
      't.csv': 'a,__expected\n1,contains: x\n',
      't.json': '[{"vars":{"a":"2"}}]',
      't.jsonl': '{"vars":{"a":"3"}}\n\n{"vars":{"a":"4"}}\n',
      'y/1.yaml': '- vars: {a: "5"}\n',
      'y/2.yaml': '- vars: {a: "6"}\n',
    };
    const all = await tests('[file://t.csv, t.json, file://t.jsonl, "y/*.yaml"]', files);
    expect(all.map(({ vars }) => vars?.['a'])).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(all[0]).toMatchObject({ description: 'Row #1', assert: [{ type: 'contains', value: 'x' }] });
  });

  it('of a single table, JSON or JSONL file are numbered in their descriptions', async () => {
    expect(
      (await tests('t.json', { 't.json': '[{"vars":{"a":1}},{"vars":{"a":2},"description":"own"}]' })).map(
        ({ description }) => description,
      ),
    ).toEqual(['Row #1', 'own']);
  });

  it('are made by JavaScript and Python, with a config when there is one', async () => {
    const files = {
      'g.mjs': 'export default async (config) => [{ vars: { a: config?.n ?? 0 } }];',
      'g.py':
        'def generate_tests(config=None):\n    return [{"vars": {"a": (config or {}).get("n", 7)}}]\n\ndef other():\n    return [{"vars": {"a": 9}}]\n',
    };
    const all = await tests(
      '["file://g.mjs", {path: "file://g.mjs", config: {n: 3}}, "file://g.py", "file://g.py:other"]',
      files,
    );
    expect(all.map(({ vars }) => vars?.['a'])).toEqual([0, 3, 7, 9]);
  });

  it('take their vars from files', async () => {
    const all = await tests('[{vars: "v*.yaml"}]', { 'v1.yaml': 'a: 1\n', 'v2.yaml': 'b: 2\n' });
    expect(all[0]?.vars).toEqual({ a: 1, b: 2 });
  });

  it('that say nothing are a problem', async () => {
    const [problem] = await config(`${head}tests:\n  - description: empty\n`).problems();
    expect(problem).toMatchObject({ line: 4, message: 'this test says nothing' });
  });

  it('keep file references of vars and code, and load those of test files', async () => {
    const files = {
      't.yaml':
        '- vars: {x: "file://v.txt"}\n  assert: [{type: is-json, value: file://s.json}, {type: javascript, value: file://c.js}]\n',
      's.json': '{"type":"object"}',
    };
    const [test] = await tests('[t.yaml]', files);
    expect(test?.vars).toEqual({ x: 'file://v.txt' });
    expect(test?.assert?.map(({ value }) => value)).toEqual([{ type: 'object' }, 'file://c.js']);
  });

  it('with a default test in a file', async () => {
    const suite = await config(`${head}defaultTest: file://d.yaml\n`, {
      'd.yaml': 'vars: {a: 1}\nassert: [{type: contains, value: x}]\n',
    }).load();
    expect(suite.defaultTest).toMatchObject({ vars: { a: 1 }, assert: [{ type: 'contains' }] });
  });

  it('of scenarios come in place, from files, and from patterns', async () => {
    const suite = await config(
      `${head}scenarios:\n  - {config: [{vars: {a: 1}}], tests: [{vars: {b: 1}}]}\n  - file://s.yaml\n`,
      {
        's.yaml': '- {config: [{vars: {a: 2}}], tests: t.yaml}\n',
        't.yaml': '- vars: {b: 2}\n',
      },
    ).load();
    expect(suite.scenarios).toEqual([
      { config: [{ vars: { a: 1 } }], tests: [{ vars: { b: 1 } }] },
      { config: [{ vars: { a: 2 } }], tests: [{ vars: { b: 2 } }] },
    ]);
  });

  it('from outputs that exist already are echoed and graded', async () => {
    const suite = await config(head).load({
      overrides: {
        graded: {
          outputs: ['one', { output: 'two', tags: ['a', 'b'] }],
          assertions: [{ type: 'equals', value: 'one' }],
        },
      },
    });
    expect(suite.providers[0]?.id).toBe('echo');
    expect((await testsOf(suite)).map(({ vars }) => vars)).toEqual([
      { output: 'one' },
      { output: 'two', tags: 'a, b' },
    ]);
  });
});

describe('own keys', () => {
  it('are read and checked strictly', async () => {
    const suite = await config(
      `${head}lanes: {echo: {rpm: 5, group: g}}\nserialize: conversation\nprices: {m: {input: 1, output: 2}}\nbudget: 2.5\nmaxWait: 15m\n`,
    ).load();
    expect(suite).toMatchObject({
      serialize: 'conversation',
      budgetUsd: 2.5,
      maxWaitMs: 900_000,
      lanes: { echo: { rpm: 5, group: 'g' } },
    });
    const [problem] = await config(`${head}lanes:\n  echo: {rpmm: 5}\n`).problems();
    expect(problem).toMatchObject({ line: 4, column: 10, message: 'unknown key "rpmm"' });
    expect(problem?.severity).toBeUndefined();
  });

  it('let a file hold conversations alone', async () => {
    const suite = await made({ 'parlane.yaml': 'conversations: [{name: c, scenarios: file://s.yaml}]\n' }).load();
    expect(suite.conversations).toEqual([{ name: 'c', scenarios: 'file://s.yaml' }]);
  });
});

describe('strictness', () => {
  it('warns of unknown keys with the nearest name, and refuses them when asked to be strict', async () => {
    const slip = config(`${head}test: [{vars: {a: 1}}]\n`);
    expect(await slip.problems()).toMatchObject([
      { severity: 'warning', line: 3, column: 1, hint: 'did you mean "tests"?' },
    ]);
    await expect(slip.load({ strict: true })).rejects.toThrow('problem');
  });

  it('lets unknown assertions through as warnings', async () => {
    const text = `${head}tests: [{assert: [{type: contians, value: x}]}]\n`;
    expect(await config(text).problems()).toMatchObject([{ severity: 'warning', hint: 'did you mean "contains"?' }]);
  });

  it('keeps quiet about keys that resemble nothing, unless it is strict', async () => {
    const note = config(`${head}tests: [{vars: {a: 1}, assert: [{type: contains, value: x, reasoning: because}]}]\n`);
    expect(await note.problems()).toEqual([]);
    expect(await note.problems({ strict: true })).toHaveLength(1);
  });
});
