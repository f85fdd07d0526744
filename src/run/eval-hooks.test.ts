import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { project } from '../config/fixtures/project.ts';
import type { JsonObject } from '../domain/json.ts';
import { realClock } from '../platform/clock.ts';
import { configFiles } from '../platform/config-files.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { openStore } from '../store/open-store.ts';
import { runEval } from './fixtures/eval-lab.ts';
import { openProject } from './project.ts';
import { findRun, runPlan } from './run-plan.ts';

const base: JsonObject = { providers: ['echo'], prompts: ['say {{x}}'], tests: [{ vars: { x: 'a' } }] };

describe('hooks around an eval', () => {
  it('may change prompts, tests and defaults before the plan is made', async () => {
    const hook = `export function beforeAll(context) {
      const { suite } = context;
      suite.prompts.push({ raw: 'shout {{x}}', label: 'loud' });
      suite.tests.push({ vars: { x: 'b' } });
      suite.defaultTest = { assert: [{ type: 'contains', value: ' a' }] };
      return context;
    }`;
    const { rows, columns } = await runEval({ ...base, extensions: ['file://h.mjs:beforeAll'] }, { 'h.mjs': hook });
    expect(columns.map(({ prompt }) => prompt.label)).toEqual(['say {{x}}', 'loud']);
    expect(rows.map(({ output, status }) => [output, status])).toEqual([
      ['say a', 'passed'],
      ['shout a', 'passed'],
      ['say b', 'failed'],
      ['shout b', 'failed'],
    ]);
  });

  it('see every result, the metrics of the columns and the totals at the end', async () => {
    const hook = `import { writeFileSync } from 'node:fs';
    export function afterAll(context) {
      const { results, prompts, stats, evalId } = context;
      writeFileSync(new URL('./seen.json', import.meta.url), JSON.stringify({ evalId, stats, score: prompts[0].metrics.score, outputs: results.map((r) => [r.response.output, r.success, r.vars.x]) }));
    }`;
    let seen: JsonObject = {};
    const { outcome } = await runEval(
      {
        ...base,
        tests: [{ vars: { x: 'a' } }, { vars: { x: 'b' }, assert: [{ type: 'equals', value: 'no' }] }],
        extensions: ['file://h.mjs:afterAll'],
      },
      { 'h.mjs': hook },
      {},
      (_, folder) => {
        seen = JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8')) as JsonObject;
      },
    );
    expect(seen).toMatchObject({
      evalId: outcome.run,
      stats: { successes: 1, failures: 1, errors: 0 },
      score: 1,
      outputs: [
        ['say a', true, 'a'],
        ['say b', false, 'b'],
      ],
    });
  });

  it('lose no row when the last of them fails: it is a warning', async () => {
    const warnings: string[] = [];
    const { rows } = await runEval(
      { ...base, extensions: ['file://h.mjs:afterAll'] },
      { 'h.mjs': 'export function afterAll() { throw new Error("no mail"); }' },
      { observers: [(event) => void (event.type === 'warning' && warnings.push(event.message))] },
    );
    expect(rows).toHaveLength(1);
    expect(warnings.join()).toContain('no mail');
  });

  it('may add metadata to a response, and one handler gets all of them by name', async () => {
    const hook = `export default (name, context) => {
      if (name !== 'afterEach') return undefined;
      context.result.response.metadata.seen = context.result.vars.x + '/' + context.result.prompt.raw;
      return context;
    }`;
    const { rows } = await runEval({ ...base, extensions: ['file://h.mjs'] }, { 'h.mjs': hook });
    expect(rows[0]?.detail).toMatchObject({ response: { metadata: { seen: 'a/say a' } } });
  });
});

describe('hooks of a project', () => {
  it('change its plan and see its results as in an eval', async () => {
    const hook = `import { writeFileSync } from 'node:fs';
    export default (name, context) => {
      if (name === 'beforeAll') return { suite: { ...context.suite, tests: [{ vars: { x: 'q' } }] } };
      if (name === 'afterAll') writeFileSync(new URL('./seen.json', import.meta.url), JSON.stringify(context.results.map((r) => r.response.output)));
    };`;
    const one = project({
      'promptfooconfig.yaml': JSON.stringify({ ...base, extensions: ['file://h.mjs'] }),
      'h.mjs': hook,
    });
    const store = await openStore({ at: ':memory:' });
    const http = createHttpClient({ clock: realClock });
    const { signal } = new AbortController();
    const parts = { clock: realClock, files: configFiles, code: one.code, http, env: {}, signal };
    const opened = await openProject({ ...parts, suite: await one.load() });
    const request = { name: 'x', snapshot: {}, cases: opened.cases(), planned: opened.planned };
    const { run } = await runPlan(request, {
      ...opened,
      store,
      clock: realClock,
      lanes: ({ onEvent }) => opened.lanes(onEvent),
    });
    expect(await opened.finished(await findRun(store, run), 1)).toBeUndefined();
    expect(JSON.parse(readFileSync(join(one.folder, 'seen.json'), 'utf8'))).toEqual(['say q']);
    await http.close();
    await store.close();
    await one.remove();
  });
});

describe('derived metrics', () => {
  const config: JsonObject = {
    ...base,
    prompts: ['{{x}}'],
    tests: ['a', 'b', 'b', 'c'].map((x) => ({
      vars: { x },
      assert: [
        { type: 'equals', value: 'b', metric: 'hit' },
        { type: 'javascript', value: 'output < "c"', metric: 'low' },
      ],
    })),
    derivedMetrics: [
      { name: 'rate', value: 'hit / __count' },
      { name: 'twice', value: 'rate * 2' },
      { name: 'coded', value: 'file://m.mjs:metric' },
      { name: 'wrong', value: 'nothing / 0' },
    ],
  };

  it('are computed per column from its named scores, later ones from earlier ones', async () => {
    const warnings: string[] = [];
    const { completed } = await runEval(
      config,
      { 'm.mjs': 'export const metric = (scores) => scores.low - scores.hit;' },
      {
        observers: [(event) => void (event.type === 'warning' && warnings.push(event.message))],
      },
    );
    expect(completed).toMatchObject([
      { metrics: { namedScores: { hit: 2, low: 3, rate: 0.5, twice: 1, coded: 1, wrong: 0 } } },
    ]);
    expect(warnings.join()).toContain('wrong');
  });

  it('leave progress alone: it tells the plan’s index, the step and the column’s metrics so far', async () => {
    const told: unknown[][] = [];
    await runEval(
      { ...config, derivedMetrics: [] },
      {},
      {
        maxConcurrency: 1,
        progressCallback: (completed, total, index, step, metrics) =>
          told.push([
            completed,
            total,
            index,
            step.testIdx,
            step.vars['x'],
            step.provider.id,
            metrics['testPassCount'],
          ]),
      },
    );
    expect(told.map(([completed, total]) => [completed, total])).toEqual([1, 2, 3, 4].map((done) => [done, 4]));
    const steps = told.map(([, , index, testIdx, word, provider]) => [index, testIdx, word, provider]);
    expect(steps.toSorted()).toEqual(['a', 'b', 'b', 'c'].map((word, at) => [at, at, word, 'echo']));
    expect(told.at(-1)?.[6]).toBe(2);
  });
});
