/** Code and patterns of an eval's tests that go wrong: that row only, in time, with a clear message. */
import { describe, expect, it } from 'vitest';
import { startFaultServer } from '../../src/testing/index.ts';
import { at, EvalPlace } from '../support/eval-process.ts';

const bomb = `${'a'.repeat(60)}!`;
/** An assertion of one expression, or of statements when they take several lines. */
const expression = (code: string): object => ({ type: 'javascript', value: code });
const script = (code: string): object => expression(`const on = 1;\n${code}`);

/** Each is the assertion of one row, between rows that are fine; what the row must say. */
const hostile: readonly (readonly [name: string, assertion: object, says: RegExp])[] = [
  ['an endless loop', script('while (true) {}'), /did not finish|timed out/i],
  ['a promise that never settles', script('return new Promise(() => {})'), /did not finish|timed out/i],
  ['process.exit', script('process.exit(0)'), /end|exit/i],
  ['throw null', script('throw null'), /null/],
  ['not a number', script('return Number.NaN'), /NaN|number/i],
  ['a rejected promise', script('return Promise.reject(new Error("on purpose"))'), /on purpose/],
  ['a syntax error', script('return ((('), /./],
];

describe.concurrent('hostile tests of an eval', { timeout: 120_000 }, () => {
  it('fail their own rows only', async () => {
    await using server = await startFaultServer({});
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      evaluateOptions: { timeoutMs: 2_500 },
      tests: hostile.flatMap(([name, assertion]) => [
        { vars: { x: name }, assert: [assertion] },
        { vars: { x: `after ${name}` }, assert: [expression('output.includes("after")')] },
      ]),
    });
    expect((await place.eval(['-j', '1'])).code).toBe(100);
    for (const [position, [name, , says]] of hostile.entries()) {
      const [bad, good] = place.rows().slice(position * 2);
      expect([name, bad?.success, bad?.error]).toEqual([name, false, expect.stringMatching(says)]);
      expect([name, good?.success, good?.error]).toEqual([name, true, undefined]);
    }
  });

  it('cannot change what other rows’ code sees', async () => {
    await using server = await startFaultServer({});
    using place = new EvalPlace();
    const tamper =
      'Object.prototype.pass = true; Array.prototype.includes = () => true; String.prototype.includes = () => true; globalThis.left = 1; return true;';
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      tests: [
        { vars: { x: 'one' }, assert: [script(tamper)] },
        { vars: { x: 'two' }, assert: [expression('output.includes("nowhere")')] },
        { vars: { x: 'three' }, assert: [{ type: 'contains', value: 'nowhere' }] },
      ],
    });
    expect((await place.eval(['-j', '1'])).code).toBe(100);
    expect(place.rows().map(({ success }) => success)).toEqual([expect.any(Boolean), false, false]);
  });

  it('with memory without bounds cost their own row', async () => {
    await using server = await startFaultServer({});
    using place = new EvalPlace();
    const hog = 'const kept = []; for (;;) kept.push(new Array(1e6).fill(Math.random()));';
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      tests: [{ assert: [script(hog)] }, { vars: { x: 'after' }, assert: [expression('output.includes("after")')] }],
    });
    expect((await place.eval(['-j', '1'])).code).toBe(100);
    expect(place.rows().map(({ success }) => success)).toEqual([false, true]);
    expect(place.rows()[0]?.error).toMatch(/memory|ended|did not finish/i);
  });

  it('cannot stop the run with a pattern that explodes', async () => {
    await using server = await startFaultServer({ replies: bomb });
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      tests: [
        { assert: [{ type: 'regex', value: '^(a+)+$' }] },
        { assert: [{ type: 'regex', value: '^(?=(a+)+$)(a+)+\\1$' }] },
        { assert: [{ type: 'regex', value: '^a+!$' }] },
      ],
    });
    expect((await place.eval()).code).toBe(100);
    expect(place.rows().map(({ success }) => success)).toEqual([false, false, true]);
  });

  it('with a transform that throws are errors with the author’s own words', async () => {
    await using server = await startFaultServer({});
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['{{x}}'],
      tests: [
        { vars: { x: 'bad' }, options: { transform: '(() => { throw new Error("no such field") })()' } },
        { vars: { x: 'good' }, options: { transform: 'output.toUpperCase()' } },
      ],
    });
    expect((await place.eval()).code).toBe(100);
    expect(place.rows()).toMatchObject([
      { failureReason: 2, error: expect.stringContaining('no such field') },
      { success: true, response: { output: 'ECHO: GOOD' } },
    ]);
  });

  it('see none of the keys in the environment', async () => {
    await using server = await startFaultServer({});
    using place = new EvalPlace();
    place.config({
      providers: [at(server.url, 'a')],
      prompts: ['hi'],
      tests: [{ assert: [expression('process.env.OPENAI_API_KEY === undefined')] }],
    });
    expect((await place.eval([], { OPENAI_API_KEY: 'sk-secret' })).code).toBe(0);
  });
});
