import { afterEach, describe, expect, it } from 'vitest';
import { type Project, project } from '../config/fixtures/project.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import { realClock } from '../platform/clock.ts';
import { configFiles } from '../platform/config-files.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { openStore } from '../store/open-store.ts';
import { type EvaluateOptions, evaluate } from './evaluate.ts';

const open: Project[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.remove();
});

async function run(config: string, files: Record<string, string> = {}, options: Partial<EvaluateOptions> = {}) {
  const one = project({ 'promptfooconfig.yaml': config, ...files });
  open.push(one);
  const store = await openStore({ at: ':memory:' });
  const http = createHttpClient({ clock: realClock });
  const env = { KEY: 'canary' };
  const suite = await one.load({ env });
  const result = await evaluate(suite, {
    store,
    clock: realClock,
    files: configFiles,
    code: one.code,
    http,
    env,
    ...options,
  });
  const rows: Row[] = [];
  for await (const { row } of result.rows()) rows.push(row);
  await http.close();
  await store.close();
  return { ...result, rows };
}
const prompts = (rows: readonly Row[]): unknown[] => rows.map(({ detail }) => (detail as JsonObject)['prompt']);
const head = 'providers: [echo]\nprompts: ["say {{x}}"]\n';

describe('an eval', () => {
  it('gives every case a row with its verdict', async () => {
    const { rows, totals, outcome } = await run(
      `${head}tests: [{vars: {x: a}, assert: [{type: contains, value: a}]}, {vars: {x: b}, assert: [{type: equals, value: c}]}]`,
    );
    expect(rows.map(({ status, output, score }) => [status, output, score])).toEqual([
      ['passed', 'say a', 1],
      ['failed', 'say b', 0],
    ]);
    expect([totals.passed, totals.failed, outcome.complete]).toEqual([1, 1, true]);
  });

  it('makes a row of an unknown assertion type an error and pays nothing for it', async () => {
    const { rows } = await run(`${head}tests: [{vars: {x: a}, assert: [{type: contians, value: a}]}, {vars: {x: b}}]`);
    expect(rows.map(({ status, attempts }) => [status, attempts > 0])).toEqual([
      ['error', false],
      ['passed', true],
    ]);
  });

  it('makes no call when the output is given', async () => {
    const { rows } = await run(
      `${head}tests: [{vars: {x: a}, providerOutput: given, assert: [{type: equals, value: given}]}]`,
    );
    expect(rows).toMatchObject([{ status: 'passed', attempts: 0, output: 'given' }]);
  });

  it('transforms by the provider first, then by the test; a transform that throws is its own row only', async () => {
    const { rows } = await run(
      'providers: [{id: echo, transform: output + "!"}]\nprompts: ["say {{x}}"]\ntests: [{vars: {x: a}, options: {transform: output.toUpperCase()}}, {vars: {x: b}, options: {transform: output.no.such}}, {vars: {x: c}}]',
    );
    expect(rows.map(({ status, output }) => [status, output])).toEqual([
      ['passed', 'SAY A!'],
      ['error', null],
      ['passed', 'say c!'],
    ]);
  });

  it('keeps registers per column, and never renders what a model said', async () => {
    const { rows } = await run(
      'providers: [echo]\nprompts: ["one {{x}}", "two {{x}} {{kept}}"]\ntests: [{vars: {x: a}, options: {storeOutputAs: kept, transform: \'"{" + "{ env.KEY }}"\'}}, {vars: {x: b}}]',
    );
    expect(prompts(rows)).toEqual(['one a', 'two a ', 'one b', 'two b {{ env.KEY }}']);
  });

  it('gives a prompt the exchanges of its own conversation', async () => {
    const { rows } = await run(
      'providers: [echo]\nprompts: ["{% for e in _conversation %}[{{ e.output }}]{% endfor %}{{x}}"]\ntests: [{vars: {x: a}, metadata: {conversationId: k}}, {vars: {x: b}, metadata: {conversationId: other}}, {vars: {x: c}, metadata: {conversationId: k}}]',
    );
    expect(prompts(rows)).toEqual(['a', 'b', '[a]c']);
  });

  it('calls prompt functions, loads vars from files and runs transformVars once', async () => {
    const { rows } = await run(
      'providers: [echo]\nprompts: ["file://p.mjs:make"]\ntests: [{vars: {x: file://v.txt}, options: {transformVars: "{ ...vars, y: 2 }"}}]',
      {
        'p.mjs': 'export const make = ({ vars, provider }) => `${provider.id} ${vars.x} ${vars.y} {{x}}`;',
        'v.txt': 'text\n',
      },
    );
    expect(prompts(rows)).toEqual(['echo text 2 text']);
  });

  it('runs hooks around cases: one may change the test, another add scores', async () => {
    const hooks =
      'export const beforeEach = ({ test }) => ({ test: { ...test, vars: { ...test.vars, x: "hooked" } } });\nexport const afterEach = (context) => { context.result.namedScores.extra = 0.5; context.result.metadata.note = "n"; return context; };';
    const { rows } = await run(
      `${head}extensions: ["file://h.mjs:beforeEach", "file://h.mjs:afterEach"]\ntests: [{vars: {x: a}}]`,
      { 'h.mjs': hooks },
    );
    expect(rows[0]).toMatchObject({
      output: 'say hooked',
      verdict: { namedScores: { extra: 0.5 } },
      detail: { metadata: { note: 'n' } },
    });
  });

  it('compares the columns of a test once all of them are there, and counts again', async () => {
    const { rows, totals } = await run(
      'providers: [echo]\nprompts: ["a {{x}}", "b {{x}}"]\ntests: [{vars: {x: z}, assert: [{type: starts-with, value: b, weight: 1}, {type: contains, value: z}, {type: max-score}], threshold: 0}]',
    );
    expect(rows.map(({ status }) => status)).toEqual(['failed', 'passed']);
    expect([totals.passed, totals.failed]).toEqual([1, 1]);
  });

  it('tells progress with the plan’s index, and repeats and filters as asked', async () => {
    const seen: number[] = [];
    const { rows } = await run(
      `${head}tests: [{vars: {x: a}}, {vars: {x: b}}, {vars: {x: c}}]`,
      {},
      {
        repeat: 2,
        filters: { range: '1:3' },
        progressCallback: (_done, total, index) => void seen.push(total * 100 + index),
      },
    );
    expect(rows.map(({ output, repeat }) => `${String(output)}${repeat}`)).toEqual([
      'say b0',
      'say b1',
      'say c0',
      'say c1',
    ]);
    expect(seen.toSorted()).toEqual([400, 401, 402, 403]);
  });

  it('refuses a plan without cases and a provider that does not exist, before anything is sent', async () => {
    await expect(run(`${head}tests: [{vars: {x: a}}]`, {}, { filters: { pattern: 'none' } })).rejects.toThrow(
      'nothing to run',
    );
    await expect(run('providers: [nowhere:x]\nprompts: [p]\n')).rejects.toThrow('Unknown provider');
  });
});
