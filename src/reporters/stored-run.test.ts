import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { hostOf, mixedPlan } from '../../test/support/run-harness.ts';
import { compareRuns } from '../compare/compare-runs.ts';
import { runSide } from '../compare/run-side.ts';
import { readRun } from '../run/read-run.ts';
import { runPlan } from '../run/run-plan.ts';
import { openStore } from '../store/open-store.ts';
import { writeCsv } from './csv/csv-rows.ts';
import { writeHtmlReport } from './html/html-report.ts';
import { writeJunit } from './junit/junit-xml.ts';
import { textBuffer } from './observer.ts';
import type { RunReader } from './run-reader.ts';
import { liveFrame } from './terminal/live-frame.ts';
import { liveState, reduceLive } from './terminal/live-state.ts';
import { summaryLines } from './terminal/summary.ts';
import { transcriptLines } from './terminal/transcript.ts';

it('a run out of the real engine and store is shown, exported and compared with the same numbers everywhere', async () => {
  const store = await openStore({ at: ':memory:' });
  const state = liveState();
  const request = { name: 'desk', snapshot: {}, cases: mixedPlan(30) };
  const host = hostOf(store, { observers: [(event) => reduceLive(state, event)] });
  const { run, totals } = await runPlan(request, host);
  const stored = await store.openRun(run);
  if (stored === undefined) throw new Error('no run');
  const reader: RunReader = readRun(stored);

  expect(state).toMatchObject({ passed: totals.passed, failed: totals.failed, errors: totals.errors, complete: true });
  expect(liveFrame({ state, width: 80, height: 30 }).join('\n')).toContain('30/30');
  expect(summaryLines({ state, width: 80, exitCode: 0 })[0]).toMatch(/^30 cases in /);

  const [csv, junit, html] = [textBuffer(), textBuffer(), textBuffer()];
  await writeCsv(reader, csv);
  await writeJunit(reader, junit);
  await writeHtmlReport(reader, html);
  const rows = parse(csv.text(), { columns: true }) as Record<string, string>[];
  expect(rows.filter(({ status }) => status === 'passed')).toHaveLength(totals.passed);
  expect(junit.text()).toContain(`tests="30" failures="${totals.failed}"`);
  expect(html.text()).toContain('<title>desk, run');

  const side = runSide('run');
  for await (const row of reader.rows()) {
    side.add(row);
    expect(transcriptLines(row, { width: 80 }).length).toBeGreaterThan(1);
  }
  expect(compareRuns(side.build(), side.build())).toMatchObject({ inBoth: 30, better: [], worse: [], verdict: 'same' });
});
