/**
 * How much memory a plan of 100,000 cases takes: read as a stream, run through lanes, journaled, graded, stored.
 * `--count=1000000` for the patient: every case must have exactly one row, or the run itself refuses to end.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '../src/domain/run-event.ts';
import { keepHeapSmall } from '../src/platform/heap.ts';
import { runPlan } from '../src/run/run-plan.ts';
import { openStore } from '../src/store/open-store.ts';
import { hostOf, promptCase } from '../test/support/run-harness.ts';

async function* casesOf(count: number) {
  for (let index = 0; index < count; index++)
    yield promptCase(index, { column: { position: 0, provider: 'ab'[index % 2] ?? '', prompt: 'q' } });
}

keepHeapSmall();

export const bench = {
  name: 'cases',
  async run({ args }: { readonly args: readonly string[] }) {
    const count = Number(args.find((arg) => arg.startsWith('--count='))?.split('=')[1] ?? 100_000);
    const home = mkdtempSync(join(tmpdir(), 'parlane-cases-'));
    const samples: { completed: number; rssMb: number }[] = [];
    let peak = 0;
    const observer = (event: RunEvent): void => {
      if (event.type !== 'case-end' || event.completed % 1_000 !== 0) return;
      const rssMb = Math.round(process.memoryUsage.rss() / 1024 / 1024);
      peak = Math.max(peak, rssMb);
      if (event.completed % 10_000 === 0) samples.push({ completed: event.completed, rssMb });
    };
    const from = performance.now();
    let firstMs = 0;
    const first = (event: RunEvent): void => {
      if (event.type === 'call-start' && firstMs === 0) firstMs = performance.now() - from;
    };
    try {
      const store = await openStore({ at: home });
      const { totals } = await runPlan(
        {
          name: 'cases',
          snapshot: {},
          cases: casesOf(count),
          planned: count,
          traits: { serial: false, stateful: false },
        },
        hostOf(store, { observers: [observer, first] }),
      );
      const seconds = (performance.now() - from) / 1000;
      await store.close();
      const figures = {
        cases: totals.passed,
        peakRssMb: peak,
        firstCallMs: Math.round(firstMs),
        casesPerSecond: Math.round(count / seconds),
        storeMb: Math.round(statSync(join(home, 'parlane.db')).size / 1024 / 1024),
      };
      return { name: 'cases', figures, cases: samples };
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};
