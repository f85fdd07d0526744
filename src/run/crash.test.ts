import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashReport, CrashRig, inParallel, type KillPoint } from '../../test/support/crash-rig.ts';

/** Real processes, real SIGKILL, real files, a server with its own books. The full count is in `bench crash`. */
let rig: CrashRig;
const commits = { global: 0, conversation: 0 };
beforeAll(async () => {
  rig = await CrashRig.start();
  for (const serialize of ['global', 'conversation'] as const)
    commits[serialize] = await rig.baseline({ cases: 21, serialize });
});
afterAll(() => rig[Symbol.asyncDispose]());

/** Dozens of processes one after another: a busy machine may take its time. */
const patience = 600_000;

const spread = (count: number, last: number): number[] =>
  Array.from({ length: count }, (_, at) => 1 + Math.floor(((at + 0.5) * last) / count));

const whole: Partial<CrashReport> = { lostRows: [], paidAgain: [], unmarked: [], sameTable: true };

describe.each(['global', 'conversation'] as const)('kill -9 with serialize: %s', (serialize) => {
  const crash = (kills: readonly KillPoint[]) => () => rig.crash({ cases: 21, serialize, kills });

  /** How writes are grouped depends on the machine: a process that was done before its point is killed earlier. */
  const crashAt = async (point: KillPoint & { commit: number }): Promise<CrashReport> => {
    const report = await crash([point])();
    if (report.killed === 1 || point.commit === 1) return report;
    return crashAt({ ...point, commit: Math.floor(point.commit * 0.8) });
  };

  it(
    'before or after any commit loses nothing, pays nothing answered again, and resume gives the uninterrupted table',
    async () => {
      const points = spread(24, commits[serialize]).map(
        (commit, at) => ({ commit, when: at % 2 ? 'before' : 'after' }) as const,
      );
      const reports = await inParallel(
        points.map((point) => () => crashAt(point)),
        3,
      );
      for (const [at, report] of reports.entries()) {
        expect(report, JSON.stringify(points[at])).toMatchObject(whole);
        expect(report.marked).toBeLessThanOrEqual(report.inFlight);
      }
      expect(reports.every(({ killed }) => killed === 1)).toBe(true);
      expect(reports.some(({ inFlight }) => inFlight > 0)).toBe(true);
    },
    patience,
  );

  it(
    'during a resume, and again, changes nothing either',
    async () => {
      const points = spread(4, commits[serialize] * 0.8).map((commit): KillPoint[] => [
        { commit, when: 'after' },
        { commit: 3 + (commit % 5), when: 'before' },
        { commit: 2 + (commit % 7), when: 'after' },
      ]);
      const reports = await inParallel(points.map(crash), 3);
      for (const [at, report] of reports.entries()) expect(report, JSON.stringify(points[at])).toMatchObject(whole);
    },
    patience,
  );
});
