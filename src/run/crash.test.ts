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
const patience = 180_000;

const spread = (count: number, last: number): number[] =>
  Array.from({ length: count }, (_, at) => 1 + Math.floor(((at + 0.5) * last) / count));

const whole: Partial<CrashReport> = { lostRows: [], paidAgain: [], unmarked: [], sameTable: true };

describe.each(['global', 'conversation'] as const)('kill -9 with serialize: %s', (serialize) => {
  const crash = (kills: readonly KillPoint[]) => () => rig.crash({ cases: 21, serialize, kills });

  it(
    'before or after any commit loses nothing, pays nothing answered again, and resume gives the uninterrupted table',
    async () => {
      const points = spread(24, commits[serialize]).map(
        (commit, at): KillPoint => ({ commit, when: at % 2 ? 'before' : 'after' }),
      );
      const reports = await inParallel(
        points.map((point) => crash([point])),
        3,
      );
      for (const [at, report] of reports.entries()) {
        expect(report, JSON.stringify(points[at])).toMatchObject(whole);
        expect(report.marked).toBeLessThanOrEqual(report.inFlight);
      }
      expect(reports.filter(({ killed }) => killed === 1).length).toBeGreaterThan(20);
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
