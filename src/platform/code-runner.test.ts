import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeCall, CodeOutcome, UserCode } from '../domain/code-runner.ts';
import type { Json } from '../domain/json.ts';
import { type ClosableCodeRunner, createCodeRunner, scrubbedEnvironment } from './code-runner.ts';

let folder: string;
let runner: ClosableCodeRunner;

const { signal } = new AbortController();
const run = (call: CodeCall, timeoutMs?: number): Promise<CodeOutcome> =>
  runner.run({ ...call, ...(timeoutMs === undefined ? {} : { timeoutMs }) }, { signal });
const returned = (value: unknown): CodeOutcome => ({ kind: 'returned', value });

const parameters = ['output', 'context'];
const body = (text: string): string => (text.includes('\n') ? text : `return ${text}`);
const js = (text: string, ...args: Json[]): CodeCall => ({
  code: { kind: 'inline', language: 'javascript', body: body(text), parameters },
  args,
});
const python = (text: string, ...args: Json[]): CodeCall => ({
  code: { kind: 'inline', language: 'python', body: body(text), parameters },
  args,
});
const inFile = (path: string, functionName?: string): UserCode => ({
  kind: 'file',
  language: path.endsWith('.py') ? 'python' : 'javascript',
  path,
  ...(functionName === undefined ? {} : { functionName }),
});
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlane-code-'));
  const env = scrubbedEnvironment({ ...process.env, SECRET_KEY: 'canary' }, { GIVEN: 'yes' });
  runner = createCodeRunner({ env, cwd: folder, timeoutMs: 60_000 });
});
afterAll(async () => {
  await runner.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('JavaScript in its own process', () => {
  it('evaluates one line as an expression and several lines as a body', async () => {
    expect(await run(js('output.length > 3', 'abcd'))).toEqual(returned(true));
    expect(await run(js('const n = output.length;\nreturn n * 2;', 'abc'))).toEqual(returned(6));
  });

  it('gives NaN, undefined and resolved promises back as they are', async () => {
    expect(await run(js('NaN'))).toEqual(returned(Number.NaN));
    expect(await run(js('undefined'))).toEqual(returned(undefined));
    expect(await run(js('Promise.resolve({ pass: true })'))).toEqual(returned({ pass: true }));
  });

  it('calls a named or default export of a module, TypeScript included', async () => {
    const module = file('fns.ts', 'export default (a: string) => a + "!";\nexport const twice = (a: string) => a + a;');
    expect(await run({ code: inFile(module), args: ['x'] })).toEqual(returned('x!'));
    expect(await run({ code: inFile(module, 'twice'), args: ['x'] })).toEqual(returned('xx'));
  });

  it('finds imports that leave their ending out', async () => {
    file('beside.ts', 'export const n: number = 7;');
    const module = file('importer.ts', 'import { n } from "./beside";\nexport default () => n;');
    expect(await run({ code: inFile(module), args: [] })).toEqual(returned(7));
  });

  it('reads a config object and keeps its functions callable by name', async () => {
    const module = file('config.cjs', 'module.exports = async () => ({ a: 1, list: [{ fn: (x) => x + 1 }] });');
    const name = `file://${module}:list.0.fn`;
    expect(await run({ code: inFile(module), args: [], mode: 'read' })).toEqual(
      returned({ a: 1, list: [{ fn: name }] }),
    );
    expect(await run({ code: inFile(module, 'list.0.fn'), args: [41] })).toEqual(returned(42));
  });

  it('says which file or function is missing', async () => {
    const gone = await run({ code: inFile(join(folder, 'gone.js')), args: [] });
    expect(gone).toMatchObject({ kind: 'threw', message: expect.stringContaining('no such file') });
    const module = file('value.mjs', 'export const other = 1;');
    const absent = await run({ code: inFile(module, 'fn'), args: [] });
    expect(absent).toMatchObject({ kind: 'threw', message: expect.stringContaining('"fn"') });
  });

  it('gives the code no keys, only what the config allows', async () => {
    expect(await run(js('[process.env.SECRET_KEY ?? null, process.env.GIVEN]'))).toEqual(returned([null, 'yes']));
  });
});

describe('hostile code is one call’s failure', () => {
  it('kills an endless loop at its limit and serves the next call', async () => {
    const [looping, next] = await Promise.all([run(js('while (true);\nreturn 1'), 150), run(js('1 + 1'))]);
    expect(looping).toEqual({
      kind: 'broke',
      cause: 'timeout',
      message: 'the code did not finish within 150 ms',
    });
    expect(next).toEqual(returned(2));
  });

  it('gives up a promise that never settles without hurting others', async () => {
    const [hanging, next] = await Promise.all([run(js('new Promise(() => {})'), 100), run(js('Promise.resolve(3)'))]);
    expect(hanging).toMatchObject({ kind: 'broke', cause: 'timeout' });
    expect(next).toEqual(returned(3));
  });

  it('blames only the guilty one when calls were in flight together', async () => {
    const outcomes = await Promise.all([
      run(js('new Promise((resolve) => setTimeout(() => resolve("slow"), 120))')),
      run(js('new Promise((resolve) => setTimeout(() => { while (true); }, 20))'), 300),
    ]);
    expect(outcomes[0]).toEqual(returned('slow'));
    expect(outcomes[1]).toMatchObject({ kind: 'broke', cause: 'timeout' });
  });

  it.each([
    ['process.exit', 'process.exit(3)', { kind: 'broke', cause: 'exit' }],
    ['throwing null', 'throw null;\nreturn 1', { kind: 'threw' }],
    ['a rejected promise', 'Promise.reject(new Error("no"))', { kind: 'threw' }],
    ['a value that refers to itself', 'const a = {}; a.a = a;\nreturn a', { kind: 'broke', cause: 'uncloneable' }],
    ['broken syntax', 'output ===', { kind: 'threw' }],
  ])('survives %s', async (_name, code, outcome) => {
    expect(await run(js(code))).toMatchObject(outcome);
    expect(await run(js('"alive"'))).toEqual(returned('alive'));
  });

  it('does not let a changed prototype reach the next call', async () => {
    expect(await run(js('Object.prototype.evil = 1;\nreturn "done"'))).toEqual(returned('done'));
    expect(await run(js('({}).evil === undefined'))).toEqual(returned(true));
  });

  it('stops a memory hog', async () => {
    const small = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: folder, memoryMb: 64 });
    const hog = await small.run(js('const a = [];\nwhile (true) a.push(new Array(1e5).fill(Math.random()));'), {
      signal,
    });
    await small.close();
    expect(hog).toEqual({ kind: 'broke', cause: 'memory', message: 'the code ran out of memory' });
  });

  it('ends a looping call at once when it is aborted, and all calls when it is closed', async () => {
    const stop = new AbortController();
    const other = createCodeRunner({ env: scrubbedEnvironment(process.env), cwd: folder });
    await other.run(js('1'), { signal });
    const looping = other.run(js('while (true);\nreturn 1'), { signal: stop.signal });
    stop.abort();
    expect(await looping).toMatchObject({ cause: 'aborted' });
    const second = other.run(js('while (true);\nreturn 1'), { signal });
    await other.close();
    expect(await second).toMatchObject({ cause: 'aborted' });
  });
});

describe('other languages', () => {
  it('runs Python expressions, bodies and files', async () => {
    expect(await run(python('len(output) > 2', 'abc'))).toEqual(returned(true));
    const body = "x = output.upper()\nif x:\n    print('noise')\nreturn {'pass': True, 'text': x}";
    expect(await run(python(body, 'abc'))).toEqual(returned({ pass: true, text: 'ABC' }));
    const path = file('check.py', 'async def get_assert(output, context):\n    return context["vars"]["n"] + 1\n');
    expect(await run({ code: inFile(path, 'get_assert'), args: ['x', { vars: { n: 1 } }] })).toEqual(returned(2));
  });

  it('keeps a Python exit, error and loop to their own call', async () => {
    expect(await run(python('__import__("sys").exit(4)'))).toMatchObject({ kind: 'threw' });
    expect(await run(python('1/0'))).toMatchObject({
      kind: 'threw',
      message: expect.stringContaining('ZeroDivisionError'),
    });
    expect(await run(python('while True:\n    pass\nreturn 1'), 300)).toMatchObject({
      kind: 'broke',
      cause: 'timeout',
    });
    expect(await run(python('float("nan")'))).toEqual(returned(Number.NaN));
  });

  it('says so when an interpreter is not installed', async () => {
    const env = { ...scrubbedEnvironment(process.env), PROMPTFOO_RUBY: 'no-such-ruby' };
    const other = createCodeRunner({ env, cwd: folder });
    const outcome = await other.run(
      { code: { kind: 'inline', language: 'ruby', body: '1', parameters: [] }, args: [] },
      { signal },
    );
    await other.close();
    expect(outcome).toMatchObject({ cause: 'no-interpreter', message: expect.stringContaining('no-such-ruby') });
  });
});
