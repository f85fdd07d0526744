import { describe, expect, it } from 'vitest';
import { laneKey } from '../domain/ids.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from './efficiency-words.ts';
import { writeHtmlReport } from './html/html-report.ts';
import { textBuffer } from './observer.ts';
import type { RunReader } from './run-reader.ts';
import { liveState, reduceLive } from './terminal/live-state.ts';
import { summaryLines } from './terminal/summary.ts';

const openai = laneKey('openai:gpt-4.1:0123456789ab');
const anthropic = laneKey('anthropic:sonnet:0123456789ab');
const time = { atPace: 20_000, ramp: 12_000, rejected: 4_000, userCap: 0, idle: 300, drain: 31_000 };
const told: RunEfficiency = {
  makespanMs: 67_300,
  boundMs: 62_600,
  efficiency: 62_600 / 67_300,
  bindingTerm: 'requests',
  bindingLimit: openai,
  decidingLane: openai,
  lanes: [
    { lane: anthropic, calls: 3, timeMs: { ...time, ramp: 9 } },
    { lane: openai, calls: 80, timeMs: time },
  ],
};

describe('how close a run came, in words', () => {
  it('names the share, the least time, what binds and where the time of that lane went', () => {
    expect(efficiencyWords(told)).toBe(
      "93 % of what the limits allow (1:03 at best); openai:gpt-4.1's requests bind; its time: 20 s at pace, 12 s ramp, 4.0 s rejected, 31 s tail",
    );
  });

  it('never says all of it where something was lost', () => {
    expect(efficiencyWords({ ...told, efficiency: 0.9999 })).toMatch(/^99 % of/);
    expect(efficiencyWords({ ...told, efficiency: 1 })).toMatch(/^100 % of/);
  });

  it('says whose the binding limit is when it is not the lane itself', () => {
    const { bindingLimit: _, ...none } = told;
    const words = (more: Partial<RunEfficiency>): string => efficiencyWords({ ...none, ...more });
    expect(words({ bindingTerm: 'longest-case' })).toContain("; the longest case binds; openai:gpt-4.1's time: ");
    expect(words({ bindingTerm: 'one-by-one' })).toContain('; cases that run one by one bind; ');
    expect(words({ bindingTerm: 'concurrency', bindingLimit: 'global' })).toContain('; all calls in flight bind; ');
    expect(words({ bindingTerm: 'inputTokens', bindingLimit: 'group:account' })).toContain(
      "; group account's input tokens bind; ",
    );
  });

  it('says what the bound could not count', () => {
    const lanes = told.lanes.map((lane) => ({ ...lane, limitUnknown: true as const })).slice(0, 1);
    expect(efficiencyWords({ ...told, lanes, simplified: true })).toMatch(
      /; anthropic:sonnet never told its limit, which is not counted; the order within cases is not counted$/,
    );
  });

  it('stands in the summary of a complete run, and not in that of a stopped one', () => {
    const totals = { planned: 1, passed: 1, failed: 0, errors: 0, skipped: 0, aborted: 0 };
    const lines = (complete: boolean): string => {
      const state = liveState();
      reduceLive(state, { type: 'run-end', run: '1' as never, at: 5, totals, complete, efficiency: told });
      return summaryLines({ state, width: 80, exitCode: 0 }).join('\n');
    };
    expect(lines(true)).toContain('93 % of what the limits allow (1:03 at best)');
    expect(lines(false)).not.toContain('of what the limits allow');
  });

  it('stands in the report too, as text', async () => {
    const sink = textBuffer();
    const reader: RunReader = {
      info: async () => ({
        id: '1',
        title: '',
        startedAt: 0,
        durationMs: 1,
        totals: { planned: 1, passed: 1, failed: 0, errors: 0, skipped: 0, aborted: 0 },
        complete: true,
        columns: [],
        efficiency: { ...told, bindingLimit: 'group:<b>' },
      }),
      rows: async function* () {},
      events: async function* () {},
    };
    await writeHtmlReport(reader, sink);
    expect(sink.text()).toContain(
      '93 % of what the limits allow (1:03 at best); group &lt;b&gt;&#39;s requests bind; ',
    );
  });
});
