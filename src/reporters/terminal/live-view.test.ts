import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleLanes, sampleRun } from '../../../test/support/sample-run.ts';
import { caseIndex, laneKey, runId } from '../../domain/ids.ts';
import type { LaneSnapshot, WaitCause } from '../../domain/lane.ts';
import type { Row } from '../../domain/row.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { type FrameInput, liveFrame } from './live-frame.ts';
import { type LiveState, liveState, reduceLive } from './live-state.ts';
import { plainReporter } from './plain-lines.ts';
import { colourStyle } from './style.ts';
import { summaryLines } from './summary.ts';
import { styledWidth } from './text-width.ts';
import { runTimeLeft } from './time-left.ts';
import { transcriptLines } from './transcript.ts';

const startedAt = Date.UTC(2026, 10, 15, 10, 0, 0);

function played(untilMs: number, more: readonly RunEvent[] = []): LiveState {
  const state = liveState();
  for (const event of sampleRun({ lanes: sampleLanes })) {
    if (event.at > startedAt + untilMs) break;
    reduceLive(state, event);
  }
  for (const event of more) reduceLive(state, event);
  return state;
}

function row(kind: Row['kind']): Row {
  for (const event of sampleRun({ lanes: sampleLanes }))
    if (event.type === 'case-end' && event.row.kind === kind) return event.row;
  throw new Error('the sample has no such row');
}

const frame = (state: LiveState, width: number, more: Partial<FrameInput> = {}): string[] =>
  liveFrame({ state, width, height: 40, title: 'refund-bot', keys: true, expectedUsdMicros: 3_200_000, ...more });

const snapshot = (key: string, cause: WaitCause): LaneSnapshot => ({
  key: laneKey(key),
  queue: 122,
  inFlight: 7,
  maxConcurrentConfig: 512,
  maxConcurrentDynamic: 8,
  rpm: 150,
  tpm: undefined,
  nextReqAt: 0,
  nextTokAt: 0,
  blockedUntil: 0,
  timer: undefined,
  minGapMs: 0,
  pacePerMinute: 148,
  started: 100,
  ended: 93,
  rejections: 0,
  cause,
});

describe('the live view', () => {
  it.each([80, 160])('looks as agreed at %i columns', async (width) => {
    const lines = frame(played(72_000), width);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/live-${width}.txt`);
  });

  it.each([80, 160])('shows a finished lane, the failures and the chosen lane at %i columns', async (width) => {
    const state = played(150_000);
    const lines = frame(state, width, { panel: 'failures', selected: laneKey('http:my-agent') });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/live-failures-${width}.txt`);
  });

  it.each([80, 160])('shows the running and the latest cases with the marked one at %i columns', async (width) => {
    const state = played(72_000);
    const marked = state.ended.at(-2)?.index ?? caseIndex(0);
    const lines = frame(state, width, { panel: 'cases', marked });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/live-cases-${width}.txt`);
  });

  it.each([80, 160])('shows an open case above the lanes at %i columns', async (width) => {
    const opened = {
      lines: transcriptLines(row('conversation'), { width, unfoldBy: 'u', unfinished: 'running' }),
      top: 2,
    };
    const lines = frame(played(72_000), width, { height: 24, opened });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/live-open-${width}.txt`);
  });

  it('keeps the marked failure in sight in a list longer than its room', () => {
    const state = played(150_000);
    for (const { index } of state.failures) {
      const lines = frame(state, 120, { height: 20, panel: 'failures', marked: index });
      expect(lines.find((line) => line.startsWith('> '))).toContain(`#${index + 1} `);
    }
    expect(state.failures.length).toBeGreaterThan(10);
  });

  it('lists warnings, the latest first, and only so many', () => {
    const warn = (at: number): RunEvent => ({ type: 'warning', at: startedAt + at, message: `warning ${at}` });
    const state = played(
      5_000,
      Array.from({ length: 300 }, (_, at) => warn(5_000 + at)),
    );
    expect(state.log.length).toBeLessThanOrEqual(200);
    const lines = frame(state, 80, { panel: 'log' });
    const at = lines.indexOf('300 warnings, the latest first');
    expect(lines.slice(at + 1, at + 3)).toEqual(['  0:05  warning 5299', '  0:05  warning 5298']);
    expect(frame(played(5_000), 80, { panel: 'log' })).toContain('no warnings so far');
  });

  it('says one cause for every way a lane can wait', () => {
    const key = 'openai:gpt-5-mini:9f2c41d0';
    const now = startedAt + 72_000;
    const words = (cause: WaitCause): string =>
      frame(played(72_000), 120, { snapshots: [snapshot(key, cause)] })[4] ?? '';
    expect(words({ kind: 'closed', reason: 'the key is not valid' })).toContain('closed: the key is not valid');
    expect(words({ kind: 'parked', until: now + 3_600_000, reason: 'daily quota' })).toContain('parked for 1:00:0');
    expect(words({ kind: 'rate-limited', until: now + 17_000, resource: 'tokens' })).toContain(
      '429, tokens: waits 17 s',
    );
    expect(words({ kind: 'backing-off', until: now + 3_000 })).toContain('errors: tries again in 3.');
    expect(words({ kind: 'paused' })).toContain('paused by you');
    expect(words({ kind: 'serial-gate', heldBy: caseIndex(6) })).toContain('one by one: #7 first');
    expect(words({ kind: 'tokens', until: now + 300 })).toMatch(/token pace: next start in 0\.\d s/);
    expect(words({ kind: 'requests', until: now + 300 })).toMatch(/pacing: next start in 0\.\d s/);
    expect(words({ kind: 'concurrency' })).toContain('all 8 slots busy');
    expect(words({ kind: 'finding-pace', atOnce: 4 })).toContain('finding its pace: 4 at a time for now');
    expect(words({ kind: 'cut-back', atOnce: 2 })).toContain('cut back: 2 at a time for now');
    expect(words({ kind: 'global-cap' })).toContain('waits for the global limit');
    expect(words({ kind: 'slow-answers' })).toContain('answering: 1.8 s a call');
    expect(words({ kind: 'nothing-left' })).toContain('answering');
    expect(frame(played(72_000), 120).join('\n')).toMatch(/judge:gpt-5 .* follows the others/);
    expect(words({ kind: 'concurrency' })).toMatch(/8\/8 +122 +\d+\/150 req\/m/);
  });

  it('never draws a line wider or a frame taller than the terminal, whatever is in it', () => {
    const nasty = '\u001b[2J漢字👩‍👩‍👧‍👦\u202e'.repeat(12);
    const more: RunEvent[] = [
      { type: 'case-start', index: caseIndex(9000), name: nasty, at: startedAt + 72_000 },
      { type: 'case-progress', index: caseIndex(9000), at: startedAt + 72_000, note: nasty },
      { type: 'warning', at: startedAt + 72_000, message: nasty },
      { type: 'lane-close', lane: laneKey(`${nasty}:x`), at: startedAt + 72_000, reason: nasty },
    ];
    const state = played(72_000, more);
    const sizes = fc.record({ width: fc.integer({ min: 40, max: 220 }), height: fc.integer({ min: 6, max: 60 }) });
    const panels = fc.constantFrom('none', 'failures', 'cases', 'log', 'help');
    const long = { ...row('conversation'), name: nasty, output: nasty.repeat(40) };
    const tops = fc.option(fc.constantFrom(0, 3, 1_000, Number.POSITIVE_INFINITY), { nil: undefined });
    fc.assert(
      fc.property(sizes, panels, fc.boolean(), tops, ({ width, height }, panel, colour, top) => {
        const style = colour ? { style: colourStyle } : {};
        const opened =
          top === undefined ? {} : { opened: { lines: transcriptLines(long, { width: width + 20, ...style }), top } };
        const lines = frame(state, width, { height, panel, ...style, ...opened, title: nasty });
        expect(lines.length).toBeLessThan(height);
        for (const line of lines) {
          expect(styledWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toContain('\u001b[2J');
        }
      }),
      { numRuns: 200, seed: 11 },
    );
  });

  it('says the same with and without colour', () => {
    const state = played(72_000);
    const coloured = frame(state, 120, { style: colourStyle }).join('\n');
    expect(coloured).toContain('\u001b[');
    expect(coloured.replace(/\u001b\[[0-9;]*m/g, '')).toBe(frame(state, 120).join('\n'));
  });

  it('puts finished lanes on one line above eight, and counts what has no room', () => {
    const lanes = Array.from({ length: 30 }, (_, at) => ({
      key: `sim:${at}`,
      cases: 5 + at,
      limit: 2,
      latencyMs: 500,
    }));
    const state = liveState();
    for (const event of sampleRun({ lanes })) {
      if (event.at > startedAt + 4_000) break;
      reduceLive(state, event);
    }
    const short = liveFrame({ state, width: 80, height: 24 });
    expect(short.join('\n')).toMatch(/and \d+ more: .*running/);
    const tall = liveFrame({ state, width: 80, height: 90 });
    expect(tall.length).toBeGreaterThan(60);
  });

  it('knows how long it takes, and says nothing while it cannot know', () => {
    expect(runTimeLeft(played(500), new Map())).toBeUndefined();
    const truth = [...sampleRun({ lanes: sampleLanes })].at(-1)?.at ?? 0;
    const state = played(100_000);
    const left = runTimeLeft(state, new Map()) ?? 0;
    const really = truth - state.now;
    expect(left).toBeGreaterThan(really * 0.5);
    expect(left).toBeLessThan(really * 2);
  });

  it('counts on from what earlier sittings have brought, and tells open cases from cancelled ones', async () => {
    const state = liveState();
    const soFar = { planned: 610, passed: 400, failed: 60, errors: 1, skipped: 0, aborted: 149, open: 148 };
    const start = { type: 'run-start', run: runId('7'), at: startedAt, planned: 610, resumed: true } as const;
    reduceLive(state, { ...start, soFar });
    const shown = (): string => liveFrame({ state, width: 100, height: 24 })[1] ?? '';
    expect(shown()).toMatch(/ 462\/610 {3}400 ok {2}60 fail {2}1 err {2}0 running {2}1 cancelled$/);
    const plain: string[] = [];
    const ticker = { now: () => startedAt, every: () => () => {} };
    const lines = plainReporter({ sink: { write: (line) => plain.push(line) }, ticker });
    lines.observe({ ...start, soFar });
    await lines.finish();
    expect(plain).toEqual([expect.stringContaining('462/610  ok 400 fail 60 err 1 ')]);
    reduceLive(state, {
      type: 'run-end',
      run: start.run,
      at: startedAt,
      totals: { ...soFar, passed: 401, aborted: 148, open: 147 },
      complete: false,
    });
    expect(shown()).toMatch(/ 463\/610 {3}401 ok .* 1 cancelled {2}147 open$/);
    const summary = summaryLines({ state, width: 100, exitCode: 3 }).join('\n');
    expect(summary).toMatch(/401 passed .* 1 cancelled {3}147 open/);
    expect(summary).toContain('147 cases open, nothing lost.');
  });

  it('counts a call that is requeued or aborted once, and forgets it', () => {
    const lane = laneKey('a');
    const call = { lane, call: 1, index: caseIndex(0) };
    const state = liveState();
    reduceLive(state, { type: 'run-start', run: runId('1'), at: 1000, planned: 1, resumed: false });
    reduceLive(state, { type: 'call-queue', ...call, at: 1000 });
    reduceLive(state, { type: 'call-start', ...call, at: 1100, attempt: 1 });
    reduceLive(state, { type: 'call-requeue', ...call, at: 1200, notBefore: 5000, reason: 'rate-limited' });
    expect(state.lanes.get(lane)).toMatchObject({ inFlight: 0, queued: 1, rejections: 1 });
    reduceLive(state, { type: 'call-end', ...call, at: 1300, result: 'aborted' });
    expect(state.lanes.get(lane)).toMatchObject({ inFlight: 0, queued: 0, ended: 1 });
    expect(state.lanes.get(lane)?.starts.size).toBe(0);
  });

  it('keeps a bounded list of failures however many there are', () => {
    const state = liveState();
    for (const event of sampleRun({
      lanes: [{ key: 'a', cases: 600, limit: 10, latencyMs: 10 }],
      failing: 1,
      erring: 0,
    })) {
      reduceLive(state, event);
    }
    expect(state.failureCount).toBe(600);
    expect(state.failures.length).toBeLessThanOrEqual(200);
    expect(state.live.size).toBe(0);
  });
});
