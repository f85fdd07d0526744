/** A process that runs or resumes a plan and may kill itself at a commit: the other half of `crash-rig.ts`. */
import { writeSync } from 'node:fs';
import { runId } from '../../src/domain/ids.ts';
import { resumeRun, runPlan } from '../../src/run/run-plan.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { CrashOrder } from './crash-rig.ts';
import { httpProvider } from './http-provider.ts';
import { hostOf, mixedPlan } from './run-harness.ts';

const order = JSON.parse(process.argv[2] ?? '') as CrashOrder;
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
let commits = 0;
const hooks = {
  before: (commit: number) => {
    if (order.kill?.when === 'before' && commit === order.kill.commit) die();
  },
  after: (commit: number) => {
    commits = commit;
    if (order.kill?.when === 'after' && commit === order.kill.commit) die();
  },
};
const store = await openStore({ at: order.at, hooks });
const host = hostOf(store, {
  provider: (name) => httpProvider(name, order.url),
  // Told to the parent at once: what was told must survive.
  observers: [
    (event) => {
      if (event.type === 'case-end') writeSync(1, `row ${event.index}\n`);
    },
  ],
});
const cases = mixedPlan(order.cases);
if (order.resume) await resumeRun(runId(order.run), host, cases);
else
  await runPlan(
    { id: runId(order.run), name: '', snapshot: {}, cases, settings: { serialize: order.serialize } },
    host,
  );
await store.close();
writeSync(1, `commits ${commits}\n`);
process.exit(0);
