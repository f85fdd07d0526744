import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Project, project } from '../config/fixtures/project.ts';
import type { Row } from '../domain/row.ts';
import { realClock } from '../platform/clock.ts';
import { configFiles } from '../platform/config-files.ts';
import { createHttpClient } from '../providers/http-client.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { type EvaluateOptions, evaluate } from './evaluate.ts';
import { openProject } from './project.ts';
import { rowsOf } from './read-run.ts';
import { retryRun } from './retry-run.ts';
import { runPlan } from './run-plan.ts';

const open: Project[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.remove();
});

/** Chooses the second answer, and writes down that it was asked. */
const grader =
  'import { appendFileSync } from "node:fs";\nexport default class { id() { return "grader"; } async callApi() { appendFileSync(new URL("./asked.txt", import.meta.url), "x"); return { output: "1" }; } }';
const config = (tests: number): string =>
  `providers: [echo]\nprompts: ["a {{x}}", "b {{x}}"]\nserialize: conversation\ndefaultTest: {assert: [{type: select-best, value: best, provider: file://grader.mjs}, {type: contains, value: z}]}\ntests:\n${Array.from({ length: tests }, (_, at) => `  - {vars: {x: z${at}}}`).join('\n')}`;

async function lab(tests: number) {
  const one = project({ 'promptfooconfig.yaml': config(tests), 'grader.mjs': grader, 'asked.txt': '' });
  open.push(one);
  const store = await openStore({ at: ':memory:' });
  const http = createHttpClient({ clock: realClock });
  const suite = await one.load({ env: {} });
  const parts = { store, clock: realClock, files: configFiles, code: one.code, http, env: {} };
  return {
    suite,
    store,
    parts,
    asked: () => readFileSync(join(suite.folder, 'asked.txt'), 'utf8').length,
    evaluate: (options: Partial<EvaluateOptions> = {}) => evaluate(suite, { ...parts, ...options }),
    close: async () => {
      await http.close();
      await store.close();
    },
  };
}

async function stored(store: Store): Promise<Row[]> {
  const [newest] = await store.runs();
  const run = newest === undefined ? undefined : await store.openRun(newest.id);
  const rows: Row[] = [];
  if (run !== undefined) for await (const row of rowsOf(run)) rows.push(row);
  return rows;
}
const verdicts = (rows: readonly Row[]) => rows.map(({ status, score }) => [status, score]);

describe('answers that are compared with each other', () => {
  it('have their comparison in the stored rows, in the events and in the totals alike', async () => {
    const bench = await lab(2);
    const told: string[] = [];
    const { totals, outcome } = await bench.evaluate({
      observers: [(event) => void (event.type === 'case-end' && told.push(event.status))],
    });
    expect(verdicts(await stored(bench.store))).toEqual([
      ['failed', 0],
      ['passed', 1],
      ['failed', 0],
      ['passed', 1],
    ]);
    expect([totals.passed, totals.failed, told.toSorted()]).toEqual([2, 2, ['failed', 'failed', 'passed', 'passed']]);
    expect(bench.asked()).toBe(2);
    const calls = outcome.efficiency?.lanes.map((lane) => lane.calls).toSorted((a, b) => a - b);
    expect(calls).toEqual([2, 4]);
    const run = await bench.store.openRun((await bench.store.runs())[0]?.id as never);
    const steps = await run?.steps(0 as never);
    expect(steps?.map(({ path }) => path.split('/')[0])).toEqual(['prompt', 'compare']);
    await bench.close();
  });

  it('are compared and paid once when the run is stopped in between and resumed', async () => {
    const bench = await lab(12);
    const stop = new AbortController();
    const first = await bench.evaluate({
      abortSignal: stop.signal,
      maxConcurrency: 1,
      progressCallback: (completed) => completed === 4 && stop.abort(),
    });
    expect(first.outcome.complete).toBe(false);
    const half = await stored(bench.store);
    expect(half.filter(({ provisional }) => provisional === true).length).toBeGreaterThan(0);
    expect(half.filter(({ provisional }) => provisional !== true).length % 2).toBe(0);
    const second = await bench.evaluate({ resume: first.outcome.run });
    expect(second.outcome.complete).toBe(true);
    expect(bench.asked()).toBe(12);
    expect(verdicts(await stored(bench.store))).toEqual(
      Array.from({ length: 12 }, () => [
        ['failed', 0],
        ['passed', 1],
      ]).flat(),
    );
    await bench.close();
  });

  it('are compared again, from the journal, when one of them is retried', async () => {
    const bench = await lab(1);
    const { outcome } = await bench.evaluate();
    const opened = await openProject({ ...bench.parts, suite: bench.suite, signal: new AbortController().signal });
    const host = { ...bench.parts, provider: opened.provider, runners: opened.runners };
    const again = await retryRun(
      outcome.run,
      { ...host, lanes: ({ onEvent }) => opened.lanes(onEvent) },
      { which: ({ index }) => index === 1 },
    );
    expect(again.totals).toMatchObject({ passed: 1, failed: 1, planned: 2 });
    expect(bench.asked()).toBe(1);
    await bench.close();
  });

  it('are compared in a project’s run too, with what is left when some are not chosen', async () => {
    const bench = await lab(1);
    for (const keep of [undefined, (one: { column: { position: number } }) => one.column.position === 0]) {
      const opened = await openProject({
        ...bench.parts,
        suite: bench.suite,
        signal: new AbortController().signal,
        ...(keep === undefined ? {} : { keep }),
      });
      const request = { name: 'x', snapshot: {}, cases: opened.cases(), planned: opened.planned };
      await runPlan(request, {
        ...bench.parts,
        provider: opened.provider,
        runners: opened.runners,
        lanes: ({ onEvent }) => opened.lanes(onEvent),
      });
      const rows = await stored(bench.store);
      if (keep === undefined)
        expect(verdicts(rows)).toEqual([
          ['failed', 0],
          ['passed', 1],
        ]);
      else
        expect(rows.map(({ status, error }) => [status, error?.message])).toEqual([
          ['error', expect.stringContaining('at least two')],
        ]);
    }
    await bench.close();
  });
});
