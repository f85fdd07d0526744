import { describe, expect, it } from 'vitest';
import { sampleLanes, sampleRun } from '../../../test/support/sample-run.ts';
import type { Forecast } from '../../domain/forecast.ts';
import { laneKey } from '../../domain/ids.ts';
import type { Row } from '../../domain/row.ts';
import { forecastTable } from './forecast-table.ts';
import { liveState, reduceLive } from './live-state.ts';
import { colourStyle } from './style.ts';
import { type SummaryInput, summaryLines } from './summary.ts';
import { styledWidth } from './text-width.ts';
import { transcriptLines } from './transcript.ts';

const rows: Row[] = [];
const state = liveState();
for (const event of sampleRun({ lanes: sampleLanes, failing: 0.01 })) {
  reduceLive(state, event);
  if (event.type === 'case-end') rows.push(event.row);
}
const failed = (kind: Row['kind']): Row => {
  const found = rows.find((row) => row.kind === kind && row.status === 'failed');
  if (found === undefined) throw new Error('the sample has no such row');
  return found;
};
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

describe('the summary after a run', () => {
  const input = (more: Partial<SummaryInput> = {}): SummaryInput => ({
    state,
    width: 80,
    exitCode: 100,
    expectedMs: { low: 85_000, likely: 90_000, high: 95_000 },
    command: 'npx parlane',
    comparable: true,
    again: 'retry --run 42',
    ...more,
  });

  it.each([80, 160])('looks as agreed at %i columns', async (width) => {
    await expect(text(summaryLines(input({ width })))).toMatchFileSnapshot(`golden/summary-${width}.txt`);
  });

  it('offers a comparison only when there is something to compare with', () => {
    expect(text(summaryLines(input()))).toContain('npx parlane compare');
    expect(text(summaryLines(input({ comparable: false })))).not.toContain('npx parlane compare');
  });

  it('cuts nothing where there is no terminal', () => {
    expect(text(summaryLines(input({ width: Number.POSITIVE_INFINITY })))).not.toContain('…');
  });

  it('tells how far the forecast was off', () => {
    const took = state.now - state.startedAt;
    const around = (likely: number, by: number) => ({ low: likely - by, likely, high: likely + by });
    const words = (expectedMs: NonNullable<SummaryInput['expectedMs']>): string | undefined =>
      summaryLines(input({ expectedMs, width: 200 }))[1];
    expect(words(around(took, 0))).toContain('As expected');
    expect(words(around(took + 60_000, 61_000))).toContain('As expected (');
    expect(words(around(took + 60_000, 30_000))).toContain('1:00 earlier than expected.');
  });

  it('does not call a run expected that took longer than was told, however short it was', () => {
    const short = { ...state, startedAt: state.now - 400 };
    const expectedMs = { low: 100, likely: 200, high: 300 };
    expect(summaryLines(input({ state: short, expectedMs, width: 200 }))[1]).toContain('0.2 s later than expected');
  });

  it('says of a run with a cancelled case why it does not end with 0', () => {
    const words = (errors: number): string =>
      text(summaryLines(input({ state: { ...state, errors }, exitCode: 4, width: 200 })));
    expect(words(0)).toContain('(exit code 4: complete, but some cases were cancelled)');
    expect(words(2)).toContain('(exit code 4: complete, but some cases ended in errors of a provider)');
  });

  it('names the command that continues a stopped run, and what was left', () => {
    const stopped = { ...state, complete: false, stop: { reason: 'budget', until: undefined } as const, planned: 790 };
    const lines = summaryLines(
      input({ state: stopped, exitCode: 3, width: 100, resume: 'resume 42', comparable: false }),
    );
    expect(text(lines)).toContain('Stopped: the budget is used up. 10 cases open, nothing lost.\n');
    expect(lines.slice(-4)).toEqual([
      'Continue      npx parlane resume 42',
      'Look closer   npx parlane show 14',
      'Report        npx parlane export 42 --format html',
      '(exit code 3: incomplete: can be resumed)',
    ]);
  });

  it('neither cuts nor breaks a command, however narrow the terminal, and says where the runs are kept', () => {
    const run = '20261116-031542-9710';
    const lines = summaryLines(
      input({ state: { ...state, run }, width: 30, resume: `resume ${run}`, flags: '--store elsewhere' }),
    );
    expect(lines).toContain(`Continue      npx parlane resume ${run} --store elsewhere`);
    expect(lines).toContain(`Report        npx parlane export ${run} --format html --store elsewhere`);
  });

  it('stays within the terminal in colour too', () => {
    for (const line of summaryLines(input({ width: 60, style: colourStyle })))
      expect(styledWidth(line)).toBeLessThanOrEqual(60);
  });
});

describe('a case in the terminal', () => {
  it.each([80, 160])(
    'shows a conversation with folded tools and the check at its turn, at %i columns',
    async (width) => {
      const lines = transcriptLines(failed('conversation'), { width, command: 'npx parlane' });
      await expect(text(lines)).toMatchFileSnapshot(`golden/transcript-${width}.txt`);
    },
  );

  it('marks every line that a judge found something at, also when the check passed, and suggests the first', () => {
    const findings = [
      { turn: 3, what: 'promised money' },
      { turn: 2, what: 'looked it up twice' },
      { turn: 77, what: 'nowhere' },
    ];
    const shown = (pass: boolean): string =>
      text(
        transcriptLines(
          {
            ...failed('conversation'),
            verdict: {
              pass,
              score: 0,
              reason: 'Two faults',
              assertion: { type: 'judge', metric: 'judge' },
              metadata: { findings },
            },
          },
          { width: 100, command: 'npx parlane' },
        ),
      );
    for (const pass of [true, false]) {
      expect(shown(pass)).toMatch(/one moment please \(2\)\..*\n +<-- judge: looked it up twice\n {3}client/);
      expect(shown(pass)).toMatch(/You will get your money today\..*\n +<-- judge: promised money\n {3}client/);
      expect(shown(pass)).not.toContain('nowhere');
    }
    expect(shown(false)).toMatch(/FAILED {2}judge {3}Two faults \(turns 2, 3, 77\)/);
    expect(shown(false)).toContain('fork 410 --after 1');
  });

  it('tells a finding once, of whomever in the turn it was said', () => {
    const findings = [2, 2, 3].map((turn) => ({ turn, what: 'too slow' }));
    const verdict = { pass: false, score: 0, reason: 'Slow', metadata: { findings } };
    const lines = text(transcriptLines({ ...failed('conversation'), verdict }, { width: 100 }));
    expect(lines.match(/<-- check: too slow/g)).toHaveLength(2);
  });

  it('tells the error of a check once, and one of the case beside its checks', () => {
    const broken = { pass: false, score: 0, reason: 'x', error: 'no such type', assertion: { type: 'llm-rubrik' } };
    const row = { ...failed('prompt'), status: 'error', verdict: broken } as const;
    const shown = (message: string): string[] =>
      transcriptLines({ ...row, error: { code: 'c', message } }, { width: 100 }).filter((line) =>
        line.startsWith('ERROR'),
      );
    expect(shown('no such type')).toEqual(['ERROR   llm-rubrik   no such type']);
    expect(shown('No answer.')).toEqual(['ERROR   No answer.', 'ERROR   llm-rubrik   no such type']);
  });

  it('unfolds the tools, and shows one turn alone', () => {
    const lines = text(transcriptLines(failed('conversation'), { width: 80, unfold: true, turn: 2 }));
    expect(lines).toContain('"state": "lost"');
    expect(lines).not.toContain('Parcel desk, good morning');
  });

  it('shows prompt, output and checks of a prompt case', async () => {
    await expect(text(transcriptLines(failed('prompt'), { width: 80 }))).toMatchFileSnapshot(
      'golden/prompt-case-80.txt',
    );
  });

  it('lets nothing a model wrote steer the terminal, whatever shape the record has', () => {
    const nasty = '\u001b]0;owned\u0007\u001b[2Jhello\u009b31m';
    const history = [
      { turn: 1, speaker: 'agent_a', content: nasty, tool_calls: [{ function: { name: nasty, arguments: nasty } }] },
      { turn: 1, speaker: 'client', content: null },
      'not even an object',
      { turn: 2, speaker: 'agent_b', content: 'x', tool_calls: 'nonsense', tool_results: [nasty] },
    ];
    const row = {
      ...failed('conversation'),
      name: nasty,
      detail: { conversation: { conversation_history: history, error: nasty } },
    };
    for (const unfold of [true, false]) {
      const lines = text(transcriptLines(row, { width: 80, unfold }));
      expect(lines).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      expect(lines).toContain('hello');
      expect(lines).toContain('(b)');
    }
  });
});

describe('the forecast table', () => {
  const range = (low: number, likely = low, high = likely) => ({ low, likely, high });
  const forecast: Forecast = {
    cases: 18,
    lanes: [
      {
        lane: laneKey('sim:fast'),
        cases: 10,
        calls: range(12, 14, 18),
        tokens: range(3000, 4000, 5000),
        timeMs: range(1500, 2000, 2600),
        costUsdMicros: range(0),
        boundBy: 'conversation turns',
      },
      {
        lane: laneKey('openai:gpt-5-mini:9f2c41d0'),
        cases: 8,
        calls: range(8),
        tokens: range(9000, 11_000, 14_000),
        timeMs: range(9000, 12_000, 20_000),
        costUsdMicros: range(10_000, 20_000, 30_000),
        boundBy: '120 requests/min',
      },
      {
        lane: laneKey('sim:judge'),
        cases: 0,
        calls: range(2),
        tokens: range(500),
        timeMs: range(2000),
        costUsdMicros: null,
        boundBy: 'follows sim:fast',
      },
    ],
    timeMs: range(9000, 12_000, 20_000),
    costUsdMicros: range(10_000, 20_000, 30_000),
    decidedBy: laneKey('openai:gpt-5-mini:9f2c41d0'),
    basis: 'no past runs: lengths are guessed',
    pricesFrom: '2026-11-01',
  };

  it.each([80, 160])('looks as agreed at %i columns', async (width) => {
    await expect(text(forecastTable(forecast, { width }))).toMatchFileSnapshot(`golden/forecast-${width}.txt`);
  });

  it('never calls an unknown price nothing, and fits a narrow terminal', () => {
    const lines = forecastTable({ ...forecast, costUsdMicros: null }, { width: 60 });
    expect(text(lines)).toContain('unknown');
    expect(text(lines)).toContain('not fully known');
    for (const line of lines) expect(styledWidth(line)).toBeLessThanOrEqual(60);
  });
});
