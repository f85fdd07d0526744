/** A process that runs a batch of conversations and may kill itself at a commit. */
import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/open-store.ts';
import { type CrashOrder, crashBatch, crashProcessor } from './crash-world.ts';

const order = JSON.parse(process.argv[2] ?? '') as CrashOrder;
let commits = 0;
const dieAt = (when: 'before' | 'after', commit: number): void => {
  if (order.kill?.when === when && commit === order.kill.commit) process.kill(process.pid, 'SIGKILL');
};
const hooks = {
  before: (commit: number) => dieAt('before', commit),
  after: (commit: number) => {
    commits = commit;
    dieAt('after', commit);
  },
};
const store = await openStore({ at: order.at, hooks });
const processor = crashProcessor(store, order.folder);
const job = await processor.create(crashBatch);
await processor.run(job.batch_id);
await store.close();
writeSync(1, `commits ${commits}\n`);
process.exit(0);
