import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelRequest } from '../../domain/message.ts';
import type { Provider } from '../../domain/provider.ts';
import type { Outcome } from '../../domain/reply.ts';
import { realClock } from '../../platform/clock.ts';
import { resolveProvider } from '../resolve-provider.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlane-programs-'));
const made: Provider[] = [];
afterAll(async () => {
  await Promise.all(made.map((provider) => provider.cleanup?.()));
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const env = { ...process.env, PROGRAM_KEY: 'from-the-environment' };
const signal = new AbortController().signal;

function provider(id: string, config?: JsonObject): Provider {
  const options = config === undefined ? { id } : { id, config };
  const made1 = resolveProvider(options, { clock: realClock, env, basePath: folder });
  made.push(made1);
  return made1;
}

const chat = (prompt: string, context?: JsonObject): ModelRequest => ({
  kind: 'chat',
  prompt,
  ...(context ? { context } : {}),
});
const call = (id: string, prompt = 'hi', config?: JsonObject): Promise<Outcome> =>
  provider(id, config).call(chat(prompt, { vars: { who: 'Ada' } }), { signal });

describe('a module', () => {
  it('may be a class, made once with its options and called with prompt and context', async () => {
    file(
      'class.mjs',
      `export default class Mine {
        constructor(options) { this.options = options; this.calls = 0; }
        id() { return 'mine'; }
        async callApi(prompt, context) {
          this.calls += 1;
          return {
            output: prompt + ' ' + context.vars.who + ' ' + this.options.config.tone + ' ' + this.calls,
            tokenUsage: { total: 5, prompt: 2, completion: 3 }, cost: 0.002, metadata: { env: process.env.PROGRAM_KEY },
          };
        }
        async callEmbeddingApi(text) { return { embedding: [text.length, 1] }; }
      }`,
    );
    const mine = provider('file://class.mjs', { tone: 'kind' });
    expect(await mine.call(chat('hello', { vars: { who: 'Ada' } }), { signal })).toMatchObject({
      kind: 'reply',
      text: 'hello Ada kind 1',
      usage: { inputTokens: 2, outputTokens: 3 },
      costUsdMicros: 2000,
      metadata: { env: 'from-the-environment' },
    });
    expect(await mine.call(chat('hello', { vars: { who: 'Bob' } }), { signal })).toMatchObject({
      text: 'hello Bob kind 2',
    });
    expect(await mine.call({ kind: 'embedding', input: 'four' }, { signal })).toMatchObject({ embedding: [4, 1] });
    expect(await mine.call({ kind: 'classification', input: 'x' }, { signal })).toMatchObject({ code: 'program' });
  });

  it('may be a function, an object or a named export, in TypeScript and CommonJS too', async () => {
    file('function.ts', `export default async (prompt: string) => ({ output: { said: prompt } });`);
    file('object.cjs', `module.exports = { id: () => 'x', callApi: (prompt) => ({ output: prompt.length }) };`);
    file('named.js', `export const other = (prompt) => ({ output: 'other ' + prompt });`);
    expect(await call('file://function.ts')).toMatchObject({ output: { said: 'hi' }, text: '{"said":"hi"}' });
    expect(await call('./object.cjs')).toMatchObject({ output: 2 });
    expect(await call('file://named.js:other')).toMatchObject({ text: 'other hi' });
  });

  it('that throws, exits, returns nonsense or an error fails its own call with a clear message', async () => {
    file(
      'bad.mjs',
      `export default async (prompt) => {
        if (prompt === 'throw') throw new Error('no more tea');
        if (prompt === 'exit') process.exit(3);
        if (prompt === 'number') return 42;
        if (prompt === 'nothing') return undefined;
        if (prompt === 'error') return { error: 'quota is gone' };
        return { output: 'fine' };
      };`,
    );
    const bad = provider('file://bad.mjs');
    const outcome = async (prompt: string): Promise<Outcome> => bad.call(chat(prompt), { signal });
    expect(await outcome('throw')).toMatchObject({ code: 'program', message: 'file://bad.mjs: no more tea' });
    expect(await outcome('exit')).toMatchObject({ code: 'program', message: expect.stringContaining('exit code 3') });
    expect(await outcome('number')).toMatchObject({ code: 'program', message: expect.stringContaining('not 42') });
    expect(await outcome('nothing')).toMatchObject({ message: expect.stringContaining('"output" or "error"') });
    expect(await outcome('error')).toMatchObject({ code: 'program', message: 'file://bad.mjs: quota is gone' });
    expect(await outcome('good')).toMatchObject({ text: 'fine' });
  });

  it('that hangs fails by its time limit, and another call beside it does not', async () => {
    file('hang.mjs', `export default (prompt) => prompt === 'loop' ? (() => { for (;;); })() : { output: 'fine' };`);
    const hang = provider('file://hang.mjs', { timeout: 3000 });
    const [loop, fine] = await Promise.all([hang.call(chat('loop'), { signal }), hang.call(chat('go'), { signal })]);
    expect(loop).toMatchObject({ code: 'program', message: expect.stringContaining('within 3000 ms') });
    expect(fine).toMatchObject({ text: 'fine' });
  });

  it('is stopped by an abort', async () => {
    file('wait.mjs', `export default () => new Promise(() => {});`);
    const abort = new AbortController();
    const running = provider('file://wait.mjs').call(chat('x'), { signal: abort.signal });
    setImmediate(() => abort.abort());
    expect(await running).toMatchObject({ code: 'aborted' });
  });

  it('that is not there is told before anything runs', () => {
    expect(() => provider('file://missing.ts')).toThrow('there is no file');
  });
});

describe('python', () => {
  it('calls call_api, or the function named, async ones too', async () => {
    file(
      'provider.py',
      `import os
def call_api(prompt, options, context):
    return {"output": prompt + " " + context["vars"]["who"] + " " + os.environ["PROGRAM_KEY"] + " " + str(options["config"]["n"])}
async def other(prompt, options, context):
    return {"output": {"list": [1, 2]}}
def call_embedding_api(prompt, options):
    return {"embedding": [1.0, 2.0]}
def broken(prompt, options, context):
    return "only text"
`,
    );
    expect(await call('python:provider.py', 'hi', { n: 7 })).toMatchObject({ text: 'hi Ada from-the-environment 7' });
    expect(await call('file://provider.py:other')).toMatchObject({ output: { list: [1, 2] } });
    expect(await call('python:provider.py:broken')).toMatchObject({ code: 'program' });
    const embedded = await provider('python:provider.py').call({ kind: 'embedding', input: 'x' }, { signal });
    expect(embedded).toMatchObject({ embedding: [1, 2] });
  });

  it('says which interpreter is missing', async () => {
    file('some.py', 'def call_api(prompt, options, context):\n    return {"output": 1}\n');
    expect(await call('python:some.py', 'x', { pythonExecutable: 'python-nowhere' })).toMatchObject({
      code: 'program',
      message: expect.stringContaining('"python-nowhere" is not installed'),
    });
  });
});

describe('exec', () => {
  it('gives prompt, options and context as arguments and takes what is printed', async () => {
    file('print.sh', 'printf "\\033[31m%s\\033[0m|%s" "$1" "$3"');
    expect(await call('exec:sh print.sh', 'a "quoted" prompt')).toMatchObject({
      text: expect.stringMatching(/^a "quoted" prompt\|.*"who":"Ada"/),
    });
    expect(await call(`exec:sh -c 'echo "two words"'`)).toMatchObject({ text: 'two words' });
  });

  it('fails clearly when the command fails, is missing, hangs, or only complains', async () => {
    expect(await call("exec:sh -c 'echo sorry >&2; exit 4'")).toMatchObject({
      code: 'program',
      message: expect.stringContaining('code 4: sorry'),
    });
    expect(await call('exec:no-such-program')).toMatchObject({ message: expect.stringContaining('not installed') });
    expect(await call("exec:sh -c 'sleep 30'", 'x', { timeout: 50 })).toMatchObject({
      message: expect.stringContaining('within 50 ms'),
    });
    expect(await call("exec:sh -c 'echo hm >&2'")).toMatchObject({ message: expect.stringContaining('hm') });
    expect(() => provider('exec:')).toThrow('no command');
  });
});

describe('echo and sequence', () => {
  it('echo gives back the prompt for nothing', async () => {
    expect(await call('echo', 'as it was')).toMatchObject({ text: 'as it was', costUsdMicros: 0 });
  });

  it('sequence sends each input to its provider, with variables, and joins the answers', async () => {
    const config = { inputs: ['first {{prompt}}', 'second {{who}}'], provider: 'echo', separator: ' + ' };
    expect(await call('sequence', 'p', config)).toMatchObject({ text: 'first p + second Ada', costUsdMicros: 0 });
    const original = chat('p', { vars: {}, originalProvider: 'echo' });
    expect(await provider('sequence', { inputs: ['x'] }).call(original, { signal })).toMatchObject({ text: 'x' });
    expect(await call('sequence', 'p', { inputs: ['x'] })).toMatchObject({ code: 'program' });
    expect(() => provider('sequence', {})).toThrow('config.inputs');
  });
});
