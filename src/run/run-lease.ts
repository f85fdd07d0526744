/** One process per run: whoever works on it is written down and seen again every few seconds. */
import { ParlaneError } from '../domain/errors.ts';
import type { RunOwner, RunStore } from '../store/store.ts';
import type { RunHost } from './run-plan.ts';

const beatMs = 5_000;

const busy = (run: string, owner: RunOwner): ParlaneError =>
  new ParlaneError(
    'run/busy',
    `The run ${run} is being worked on by process ${owner.pid} on ${owner.host}.`,
    'Wait for it or stop it first.',
    { run, pid: owner.pid, host: owner.host },
  );

/** Works on a run while nobody else does. */
export async function holdRun<T>(run: RunStore, host: RunHost, work: () => Promise<T>): Promise<T> {
  const { owner, clock } = host;
  if (owner === undefined) return work();
  const stamp = (): RunOwner => ({ ...owner, seenAt: clock.now() });
  const other = await run.claim(stamp(), (known) => !(host.ownerAlive?.(known) ?? false));
  if (other !== undefined) throw busy(run.id, other);
  let over = false;
  let cancel = (): void => {};
  const beat = (): void => {
    if (over) return;
    cancel = clock.at(clock.now() + beatMs, () => {
      run.change({ owner: stamp() }).then(beat, () => {});
    });
  };
  beat();
  try {
    return await work();
  } finally {
    over = true;
    cancel();
    await run.change({ owner: null }).catch(() => {});
  }
}
