import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRunner } from '../domain/code-runner.ts';
import type { Json } from '../domain/json.ts';
import type { Assertion, Verdict } from '../domain/verdict.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from '../platform/code-runner.ts';
import { realFiles } from '../platform/files.ts';
import { type Bench, checkOn, gradeOn } from './fixtures/grading-bench.ts';
import { findPattern, translatePattern } from './safe-regex.ts';
import { javascriptBody } from './user-code.ts';

let folder: string;
let code: ClosableCodeRunner;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlane-grading-'));
  code = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: folder, timeoutMs: 60_000, memoryMb: 128 });
});
afterAll(async () => {
  await code.close();
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return `file://${name}`;
};
const bench = (more: Bench = {}): Bench => ({
  ...more,
  ports: { code, files: realFiles, ...more.ports },
  options: { baseDir: folder, ...more.options },
});
const check = (output: Json, assertion: Assertion, more: Bench = {}): Promise<Verdict> =>
  checkOn(output, assertion, bench(more));
/** For code that never ends by itself: in the same processes as all other code, with little time. */
const hasty: Bench = {
  ports: { code: { run: (call, options) => code.run({ ...call, timeoutMs: 400 }, options) } },
};
const js = (value: string, more: Partial<Assertion> = {}): Assertion => ({ type: 'javascript', value, ...more });

describe('javascript assertions', () => {
  it.each([
    ['output.length > 2', true, 1],
    ['output.length > 5', false, 0],
    ['const n = output.length; n > 2', true, 1],
    ["const s = 'a;b'; s === 'a;b'", true, 1],
    ['0.7', true, 0.7],
    ['0', false, 0],
    ['if (output === "abc") {\n  return true;\n}\nreturn false;', true, 1],
    ['({ pass: true, score: 0.4, reason: "so" })', true, 0.4],
    ['Promise.resolve(true)', true, 1],
    ['context.vars.who === "Ada" && context.prompt === "What is it?"', true, 1],
    ['context.config.limit === 3', true, 1],
    ['context.providerResponse.cost === 0.002', true, 1],
  ] as const)('%j gives %s', async (value, pass, score) => {
    const subject = { vars: { who: 'Ada' }, reply: { costUsdMicros: 2000 } };
    expect(await check('abc', js(value, { config: { limit: 3 } }), { subject })).toMatchObject({ pass, score });
  });

  it('the output arrives as data', async () => {
    expect((await check({ n: 1 }, js('output.n === 1'))).pass).toBe(true);
  });

  it('templates in the code are filled in', async () => {
    expect((await check('abc', js('output === "{{want}}"'), { subject: { vars: { want: 'abc' } } })).pass).toBe(true);
  });

  it('a number passes when it reaches the threshold', async () => {
    expect((await check('abc', js('0.7', { threshold: 0.8 }))).pass).toBe(false);
    expect((await check('abc', js('0', { threshold: 0 }))).pass).toBe(true);
  });

  it('not- turns the answer around, not the score of a number', async () => {
    expect(await check('abc', js('true', { type: 'not-javascript' }))).toMatchObject({ pass: false, score: 0 });
    expect(await check('abc', js('0.7', { type: 'not-javascript' }))).toMatchObject({ pass: false, score: 0.7 });
  });

  it('named scores and parts of a result are kept', async () => {
    const value =
      '({pass: true, score: 1, reason: "r", namedScores: {tone: 0.5}, componentResults: [{pass: false, score: 0, reason: "p"}]})';
    const found = await gradeOn('abc', [js(value)], bench());
    expect(found.namedScores).toEqual({ tone: 0.5 });
    expect(found.componentResults?.map(({ reason }) => reason)).toEqual(['r', 'p']);
  });

  it('code that throws, is no code, or returns nonsense fails its check and says why', async () => {
    expect(await check('abc', js('JSON.parse(output).x'))).toMatchObject({
      pass: false,
      score: 0,
      reason: expect.stringContaining('threw'),
    });
    expect((await check('abc', js('output ==='))).error).toBeUndefined();
    expect(await check('abc', js('"yes"'))).toMatchObject({ pass: false, reason: expect.stringContaining('"yes"') });
    expect(await check('abc', js('undefined'))).toMatchObject({
      pass: false,
      reason: expect.stringContaining('undefined'),
    });
  });

  it('files decide as default export, as a named function and in CommonJS', async () => {
    const one = file('one.mjs', 'export default (output, context) => output === context.vars.want;');
    const two = file('two.cjs', 'module.exports = { strict: () => ({ pass: false, score: 0.1, reason: "strict" }) };');
    expect((await check('abc', js(one), { subject: { vars: { want: 'abc' } } })).pass).toBe(true);
    expect(await check('abc', js(`${two}:strict`))).toMatchObject({ pass: false, score: 0.1, reason: 'strict' });
  });

  it('a file that throws or is missing is an error of the check', async () => {
    expect(
      (await check('abc', js(file('bad.mjs', 'export default () => { throw new Error("boom"); };')))).error,
    ).toMatch(/boom/);
    expect((await check('abc', js('file://none.mjs'))).error).toMatch(/none\.mjs/);
  });

  it('bodies of one line get their return where it belongs', () => {
    expect(javascriptBody('a > 1;')).toBe('return a > 1');
    expect(javascriptBody('let x = 1; x')).toBe('let x = 1; return x');
    expect(javascriptBody('const s = "a;b"')).toBe('const s = "a;b"');
  });
});

describe('hostile code', () => {
  it.each([
    ['an endless loop', 'while (true) {}\nreturn true;', /gave no answer/],
    ['a promise that never ends', 'new Promise(() => {})', /gave no answer/],
    ['process.exit', 'process.exit(0);\nreturn true;', /gave no answer/],
    ['memory without end', 'const all = [];\nwhile (true) all.push(new Array(1e6).fill(1));', /gave no answer/],
    ['NaN', 'NaN', /not a score/],
    ['a score that is NaN', '({ pass: true, score: NaN, reason: "" })', /not one/],
    ['infinity', '1 / 0', /not a score/],
    ['a throw of null', 'if (output) {\n  throw null;\n}', undefined],
  ])('%s is the fate of its own row only', async (_about, value, error) => {
    const more = error?.source === 'gave no answer' ? hasty : {};
    const [bad, good] = await Promise.all([check('abc', js(value), more), check('abc', js('output === "abc"'))]);
    expect(bad.pass).toBe(false);
    if (error === undefined) expect(bad.error).toBeUndefined();
    else expect(bad.error).toMatch(error);
    expect(good.pass).toBe(true);
    expect((await check('abc', js('output === "abc"'))).pass).toBe(true);
  });

  it('tampering with the language is not seen by the next assertion', async () => {
    await check('abc', js('Array.prototype.includes = () => true;\nObject.prototype.hacked = 1;\nreturn true;'));
    expect((await check('abc', js('![1].includes(2) && ({}).hacked === undefined'))).pass).toBe(true);
  });

  it('a transform that throws, or gives nothing, is an error of its own check', async () => {
    const [thrown, nothing, fine] = await Promise.all([
      check('abc', { type: 'contains', value: 'a', transform: 'output.nothing.more' }),
      check('abc', { type: 'contains', value: 'a', transform: 'undefined' }),
      check('abc', { type: 'equals', value: 'ABC', transform: 'output.toUpperCase()' }),
    ]);
    expect(thrown.error).toMatch(/transform failed/);
    expect(nothing.error).toMatch(/returned undefined/);
    expect(fine.pass).toBe(true);
  });
});

describe('scripts as values', () => {
  it('a script may give the value to compare with, but not a verdict', async () => {
    const value = file('value.mjs', 'export default () => ["a", "b"]; export const verdict = () => true;');
    expect((await check('a b', { type: 'contains-all', value })).pass).toBe(true);
    expect((await check('a b', { type: 'contains-all', value: `${value}:verdict` })).error).toMatch(/gave a verdict/);
  });

  it('value files are data or text', async () => {
    file('schema.json', '{"type":"object","required":["a"]}');
    file('names.yaml', '- Ada\n- Bob\n');
    file('word.txt', ' hello \n');
    expect((await check('{"a":1}', { type: 'is-json', value: 'file://schema.json' })).pass).toBe(true);
    expect((await check('Ada Bob', { type: 'contains-all', value: 'file://names.yaml' })).pass).toBe(true);
    expect((await check('say hello', { type: 'contains', value: 'file://word.txt' })).pass).toBe(true);
    expect((await check('say hello', { type: 'contains-any', value: ['x', 'file://word.txt'] })).pass).toBe(true);
    expect((await check('x', { type: 'contains', value: 'file://nowhere.txt' })).error).toMatch(/no file/);
    expect((await check('x', { type: 'contains', value: 'file://picture.png' })).error).toMatch(/no file|ends in/);
  });

  it('context comes from a transform of the output', async () => {
    const answer = (): string => '1. A. So [Attributed]';
    const assertion = { type: 'context-recall', value: 'A', contextTransform: 'output.context' };
    const output = { context: 'A is so', answer: 'x' };
    expect((await check(output, assertion, { answer })).score).toBe(1);
    expect((await check(output, { ...assertion, contextTransform: 'output.nothing' }, { answer })).error).toMatch(
      /needs the context/,
    );
  });
});

describe('the scoring function', () => {
  const run = (name: string, more: Bench = {}): Promise<Verdict> =>
    gradeOn(
      'abc',
      [{ type: 'contains', value: 'a', metric: 'm' }],
      bench({ ...more, options: { scoringFunction: name } }),
    );

  it('has the last word over named scores and verdicts', async () => {
    const name = file(
      'score.mjs',
      'export default (scores, context) => ({ pass: false, score: scores.m / 4, reason: `${context.componentResults.length}` });',
    );
    expect(await run(name)).toMatchObject({ pass: false, score: 0.25, reason: '1' });
  });

  it('fails the case when it throws or returns something else', async () => {
    expect(await run(file('throws.mjs', 'export default () => { throw new Error("no"); };'))).toMatchObject({
      pass: false,
      score: 0,
    });
    expect(await run(file('wrong.mjs', 'export default () => 1;'))).toMatchObject({ pass: false, score: 0 });
    expect(await run('score')).toMatchObject({ pass: false, score: 0 });
  });

  it('is an error when it hangs', async () => {
    expect((await run(file('hangs.mjs', 'export default () => { while (true) {} };'), hasty)).error).toBeDefined();
  });
});

describe('python assertions', () => {
  const python = (value: string, more: Partial<Assertion> = {}): Assertion => ({ type: 'python', value, ...more });

  it.each([
    ['len(output) > 2', true, 1],
    ['0.25', true, 0.25],
    ["{'pass_': True, 'score': 0.5, 'reason': 'r', 'named_scores': {'m': 1}}", true, 0.5],
    ['if output == "abc":\n  return True\nreturn False', true, 1],
    ['"true"', true, 1],
    ['context["vars"]["who"] == "Ada"', true, 1],
  ] as const)('%j gives %s', async (value, pass, score) => {
    expect(await check('abc', python(value), { subject: { vars: { who: 'Ada' } } })).toMatchObject({ pass, score });
  });

  it('files have get_assert, and a result below the threshold does not pass', async () => {
    const name = file(
      'check.py',
      "def get_assert(output, context):\n    return {'pass': True, 'score': 0.4, 'reason': 'r'}\n\ndef boom(output, context):\n    raise ValueError('no')\n",
    );
    expect(await check('abc', python(name))).toMatchObject({ pass: true, score: 0.4 });
    expect(await check('abc', python(name, { threshold: 0.5 }))).toMatchObject({ pass: false, score: 0.4 });
    expect(await check('abc', python(`${name}:boom`))).toMatchObject({
      pass: false,
      score: 0,
      reason: expect.stringContaining('no'),
    });
  });

  it('an interpreter that is not there is an error that says so', async () => {
    const bare = createCodeRunner({ env: { PATH: folder }, cwd: folder });
    const found = await check('abc', python('True'), { ports: { code: bare } });
    await bare.close();
    expect(found.error).toMatch(/python/i);
  });

  it('code that fails, or returns nonsense, fails its check', async () => {
    expect(await check('abc', python('1 / 0'))).toMatchObject({ pass: false, score: 0 });
    expect(await check('abc', python('[1]'))).toMatchObject({
      pass: false,
      reason: expect.stringContaining('must return'),
    });
    expect((await check('abc', python('while True: pass\nreturn 1'), hasty)).error).toMatch(/gave no answer/);
  });
});

describe('regular expressions', () => {
  const signal = new AbortController().signal;
  const patient: CodeRunner = { run: (call, options) => code.run({ ...call, timeoutMs: 60_000 }, options) };
  const outcome = (pattern: string, text: string) => findPattern(pattern, text, patient, signal);

  it.each([
    ['^a.c$', 'abc'],
    ['^\\s+x', '\u00a0\u2003x'],
    ['a.b', 'a\u2028b'],
    ['[^\\s]+', '  '],
    ['\\d{2,3}', 'a12'],
    ['(?=.*\\d)(?=.*[a-z]).+', 'a1'],
    ['(\\w)\\1', 'hello'],
    ['(?<!x)y+', 'xy'],
    ['^.+$', '🙂'],
    ['^.{1}$', '🙂'],
    ['[[]a]*', '[a]]'],
    ['\\A+', 'AA'],
    ['\\/x+', '/xx'],
    ['{"a":\\s*1}', '{"a": 1}'],
    ['[\\b]?x', 'x'],
    ['(?:a|b)+c', 'abac'],
    ['x{,2}', 'x{,2}'],
    ['\\p+', 'ppp'],
    ['\\u0061+', 'aa'],
    ['[\\S\\s]*end', 'the end'],
  ])('%j on %j is what RegExp says', async (pattern, text) => {
    expect(await outcome(pattern, text)).toEqual({ kind: 'matched', found: new RegExp(pattern).test(text) });
  });

  it('a pattern with nested repetition is harmless where the linear engine can run it', async () => {
    expect(translatePattern('(a+)+$')).toBe('(a+)+$');
    expect(await outcome('(a+)+$', `${'a'.repeat(50_000)}b`)).toEqual({ kind: 'matched', found: false });
  });

  it('a bomb that needs backtracking ends after a second, as an error of its row', async () => {
    const bomb: Assertion = { type: 'regex', value: '^(?=(a+)+$)b' };
    const found = await check(`${'a'.repeat(40)}c`, bomb);
    expect(found.error).toMatch(/gave no answer/);
    expect((await check('abc', { type: 'regex', value: '(?=b)' })).pass).toBe(true);
  });

  it.each([
    ['abc', { type: 'regex', value: 'b.' }, true],
    ['abc', { type: 'not-regex', value: 'b.' }, false],
    ['abc', { type: 'regex', value: '^{{want}}' }, true],
    ['abc', { type: 'regex', value: '(' }, false],
    ['abc', { type: 'not-regex', value: '(' }, false],
  ] as const)('%s by %j: %s', async (output, assertion, pass) => {
    expect((await check(output, assertion, { subject: { vars: { want: 'a' } } })).pass).toBe(pass);
  });

  it('a pattern is needed', async () => {
    expect((await check('abc', { type: 'regex' })).error).toMatch(/needs a pattern/);
  });
});

describe('webhooks', () => {
  const post = (status: number, text: string) => async () => ({ status, text });
  const hook: Assertion = { type: 'webhook', value: 'https://checks.example/run' };

  it.each([
    ['{"pass": true}', 'webhook', true, 1],
    ['{"pass": false, "reason": "no"}', 'webhook', false, 0],
    ['{"pass": true, "score": 0.3}', 'webhook', true, 0.3],
    ['{"pass": true, "score": 0.3}', 'not-webhook', false, 0.7],
  ] as const)('%s by %s: %s', async (text, type, pass, score) => {
    expect(await check('x', { ...hook, type }, { ports: { post: post(200, text) } })).toMatchObject({ pass, score });
  });

  it('one that is down, answers with an error or with nonsense is no verdict', async () => {
    expect((await check('x', hook)).error).toMatch(/did not answer/);
    expect((await check('x', hook, { ports: { post: post(500, '') } })).error).toMatch(/answered 500/);
    expect((await check('x', { ...hook, type: 'not-webhook' }, { ports: { post: post(200, 'ok') } })).error).toMatch(
      /"pass"/,
    );
    expect((await check('x', { type: 'webhook', value: 'ftp://x' })).error).toMatch(/address/);
  });
});
