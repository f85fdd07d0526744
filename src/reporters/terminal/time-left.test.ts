import { describe, expect, it } from 'vitest';
import { caseIndex, caseKey, type LaneKey, laneKey, runId } from '../../domain/ids.ts';
import type { Row } from '../../domain/row.ts';
import { type LiveState, liveState, reduceLive } from './live-state.ts';
import { laneTimeLeft, runTimeLeft } from './time-left.ts';

const [fast, slow, judge] = [laneKey('fast'), laneKey('slow'), laneKey('judge')];

const row = (index: number, column: number): Row => ({
  index: caseIndex(index),
  key: caseKey(`k${index}`),
  name: `case ${index}`,
  kind: 'prompt',
  column,
  repeat: 0,
  status: 'passed',
  score: 1,
  output: '',
  latencyMs: 0,
  queueMs: 0,
  backoffMs: 0,
  attempts: 1,
  costUsdMicros: 0,
});

interface Column {
  readonly lane: LaneKey;
  /** How many of its cases end within the ten seconds, evenly, and how many wait after them. */
  readonly ended: number;
  readonly waiting: number;
}

function endCase(state: LiveState, done: Row, at: number, completed: number, total: number): void {
  const { index, status } = done;
  reduceLive(state, { type: 'case-end', index, at, status, row: done, completed, total });
}

/** Ten seconds of a run: so many cases of `planned`, after those that ended `before`. */
function tenSeconds(planned: number, before: number, columns: readonly Column[]): LiveState {
  const state = liveState();
  reduceLive(state, { type: 'run-start', run: runId('1'), at: 1000, planned, resumed: before > 0 });
  const ends = columns.flatMap(({ lane, ended }, column) =>
    Array.from({ length: ended }, (_, at) => ({ lane, column, at: 1000 + (10_000 * (at + 1)) / ended })),
  );
  for (const [index, { lane, column, at }] of ends.toSorted((a, b) => a.at - b.at).entries()) {
    const call = { lane, call: index, index: caseIndex(index) };
    const begun = Math.max(1000, at - 250);
    const of = { position: column, provider: lane, prompt: 'p' };
    reduceLive(state, { type: 'case-start', index: call.index, name: '', at: begun, column: of });
    reduceLive(state, { type: 'call-queue', ...call, at: begun });
    reduceLive(state, { type: 'call-start', ...call, at: begun, attempt: 1 });
    reduceLive(state, { type: 'call-end', ...call, at, result: 'ok' });
    endCase(state, row(index, column), at, before + index + 1, planned);
  }
  for (const { lane, waiting } of columns)
    for (let more = 0; more < waiting; more++)
      reduceLive(state, { type: 'call-queue', lane, call: 10_000 + more, index: caseIndex(9999), at: 11_000 });
  return state;
}

const secondsLeft = (state: LiveState, key: LaneKey, expected: Parameters<typeof runTimeLeft>[1]): number => {
  const lane = state.lanes.get(key);
  return (lane === undefined ? Number.NaN : (laneTimeLeft(state, lane, expected) ?? Number.NaN)) / 1000;
};

describe('the time that is left', () => {
  it('counts all that a resumed run still has on a lane, not what waits there already', () => {
    const state = tenSeconds(300, 100, [
      { lane: fast, ended: 50, waiting: 0 },
      { lane: slow, ended: 40, waiting: 64 },
    ]);
    const open = new Map([
      [fast, { providers: new Set(['fast']), cases: 50 }],
      [slow, { providers: new Set(['slow']), cases: 150 }],
    ]);
    // 110 calls at four a second.
    expect(secondsLeft(state, slow, open)).toBeCloseTo(27.5, 0);
    expect((runTimeLeft(state, open) ?? 0) / 1000).toBeCloseTo(27.5, 0);
    expect(secondsLeft(state, fast, open)).toBe(0);
  });

  it('goes by the pace of this sitting alone', () => {
    const state = tenSeconds(300, 100, [{ lane: slow, ended: 40, waiting: 20 }]);
    expect(secondsLeft(state, slow, new Map())).toBeCloseTo(40, 0);
  });

  it('is nothing for a lane whose cases are done, however many others are not', () => {
    const state = tenSeconds(600, 0, [
      { lane: fast, ended: 150, waiting: 0 },
      { lane: slow, ended: 20, waiting: 64 },
    ]);
    const forecast = new Map([
      [fast, { providers: new Set(['fast']), cases: 150, calls: 170 }],
      [slow, { providers: new Set(['slow']), cases: 400, calls: 400 }],
      [judge, { providers: new Set<string>(), cases: 0, calls: 200 }],
    ]);
    expect(secondsLeft(state, fast, forecast)).toBe(0);
    // 380 calls at two a second.
    expect(secondsLeft(state, slow, forecast)).toBeGreaterThan(175);
    expect(secondsLeft(state, slow, forecast)).toBeLessThan(205);
  });

  it('counts a case among those of its column whoever was asked, also when nobody was', () => {
    const state = tenSeconds(100, 0, [{ lane: fast, ended: 10, waiting: 0 }]);
    for (let index = 10; index < 50; index++) endCase(state, row(index, 0), 11_000, index + 1, 100);
    expect(secondsLeft(state, fast, new Map([[fast, { providers: new Set(['fast']), cases: 50, calls: 50 }]]))).toBe(0);
  });
});
