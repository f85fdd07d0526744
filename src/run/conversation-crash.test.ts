import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConversationCrashRig, type CrashReport } from '../../test/conversation/crash.ts';
import { inParallel } from '../../test/support/crash-rig.ts';

/** Real processes, real SIGKILL, real files, a tool server with its own books. More points are in `bench conversations`. */
const rig = new ConversationCrashRig();
let commits = 0;
beforeAll(async () => {
  commits = await rig.start();
});
afterAll(() => rig.close());

type Point = Parameters<typeof rig.crash>[0];

/** How writes are grouped depends on the machine: a process that was done before its point is killed earlier. */
async function crashAt(point: Point): Promise<CrashReport> {
  const report = await rig.crash(point);
  if (report.killed || point.commit === 1) return report;
  return crashAt({ ...point, commit: Math.floor(point.commit * 0.8) });
}

describe('kill -9 in mid-conversation', () => {
  it('at 30 points of model calls, tools, handoffs and scoring: resume goes on at that step, the transcript is the uninterrupted one, answered tools are not called again', async () => {
    // How many there are depends on how writes are grouped; a dozen different moments is the least that proves anything.
    expect(commits).toBeGreaterThan(12);
    const points = Array.from({ length: 30 }, (_, at) => ({
      commit: 2 + Math.floor((at / 30) * (commits - 2)),
      when: at % 2 === 0 ? ('after' as const) : ('before' as const),
    }));
    const reports: CrashReport[] = await inParallel(
      points.map((point) => () => crashAt(point)),
      3,
    );
    for (const [at, report] of reports.entries()) {
      expect(report, JSON.stringify(points[at])).toMatchObject({ calledAgain: [], sameTranscripts: true });
    }
    expect(reports.every(({ killed }) => killed)).toBe(true);
    const inFlight = reports.flatMap((report) => report.inFlight);
    expect(inFlight.some((path) => /\/0$/.test(path))).toBe(true);
    expect(inFlight.some((path) => /\/[1-9]$/.test(path))).toBe(true);
  }, 600_000);
});
