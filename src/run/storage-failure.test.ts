import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hostOf, mixedPlan, tableOf } from '../../test/support/run-harness.ts';
import { runId } from '../domain/ids.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { type RunOutcome, resumeRun, runPlan } from './run-plan.ts';

const home = mkdtempSync(join(tmpdir(), 'parlane-full-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const cases = mixedPlan(15);
const id = runId('r');

const start = (store: Store, events: RunEvent[] = []): Promise<RunOutcome> =>
  runPlan(
    { id, name: '', snapshot: {}, cases, settings: { serialize: 'conversation' } },
    hostOf(store, { observers: [(event) => events.push(event)] }),
  );

const fullDisk = Object.assign(new Error('database or disk is full'), { errcode: 13 });

const tableAfterResume = async (at: string): Promise<unknown> => {
  const store = await openStore({ at });
  if ((await store.openRun(id)) === undefined) await start(store);
  else await resumeRun(id, hostOf(store), cases);
  const run = await store.openRun(id);
  const table = run && (await tableOf(run));
  await store.close();
  return table;
};

describe('a store that fails', () => {
  it('at any write stops the run loudly, keeps what was committed, and can be resumed', async () => {
    let commits = 0;
    const whole = await openStore({ at: join(home, 'whole'), hooks: { after: (commit) => (commits = commit) } });
    const expected = await start(whole).then(async ({ run }) => tableOf((await whole.openRun(run)) as never));
    await whole.close();
    expect(commits).toBeGreaterThan(15);
    for (let failing = 1; failing <= commits; failing++) {
      const at = join(home, `n${failing}`);
      let broken = false;
      const store = await openStore({
        at,
        hooks: {
          before: (commit) => {
            if (broken || commit === failing) {
              broken = true;
              throw fullDisk;
            }
          },
        },
      });
      const events: RunEvent[] = [];
      const end = await start(store, events).catch((error: { code: string }) => error.code);
      await store.close();
      // The last commits come after the run was done: then all rows are on disk, as the table below shows.
      if (broken && typeof end !== 'string' && !end.complete) {
        expect(end).toMatchObject({ complete: false, stopReason: 'storage', error: { code: 'store/full' } });
        expect(events.filter(({ type }) => type === 'run-stop')).toMatchObject([{ reason: 'storage' }]);
      } else if (typeof end === 'string') {
        expect(end).toBe('store/full');
      }
      expect(await tableAfterResume(at), `failed at commit ${failing}`).toEqual(expected);
      rmSync(at, { recursive: true });
    }
  });

  it('because the disk is really full says so, and goes on once there is room', async () => {
    const small = join(home, 'small');
    mkdirSync(small);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=320k', 'tmpfs', small]).status === 0;
    const child = join(import.meta.dirname, '../../test/support/full-disk-child.ts');
    const command = `exec "${process.execPath}" --disable-warning=ExperimentalWarning "${child}" "${small}"`;
    try {
      // Where nothing can be mounted, a limit on the size of files does the same to SQLite.
      const { stdout, stderr } = spawnSync('sh', ['-c', mounted ? command : `ulimit -f 300; ${command}`], {
        encoding: 'utf8',
      });
      expect(`${stdout}${stderr}`.trim()).toMatch(mounted ? /^storage store\/full$/ : /^storage store\/(full|failed)$/);
      if (mounted) expect(spawnSync('mount', ['-o', 'remount,size=64m', small]).status).toBe(0);
      const store = await openStore({ at: small });
      expect(await resumeRun(runId('full'), hostOf(store), mixedPlan(300))).toMatchObject({ complete: true });
      await store.close();
    } finally {
      if (mounted) spawnSync('umount', [small]);
    }
  }, 60_000);
});
