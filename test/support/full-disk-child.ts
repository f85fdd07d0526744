/** Runs a plan in a place that is too small for it and says how it ended. */
import { writeSync } from 'node:fs';
import { runId } from '../../src/domain/ids.ts';
import { runPlan } from '../../src/run/run-plan.ts';
import { openStore } from '../../src/store/open-store.ts';
import { hostOf, mixedPlan } from './run-harness.ts';

const store = await openStore({ at: process.argv[2] ?? '' });
const outcome = await runPlan(
  { id: runId('full'), name: '', snapshot: {}, cases: mixedPlan(300), settings: { serialize: 'conversation' } },
  hostOf(store),
);
writeSync(1, `${outcome.stopReason ?? 'complete'} ${outcome.error?.code ?? ''}\n`);
await store.close();
