import { describe, expect, it } from 'vitest';
import type { Column } from '../domain/case.ts';
import { caseIndex, caseKey, laneKey } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import { columnAt } from './column-label.ts';
import { jsonEvents } from './json/json-events.ts';
import { textBuffer } from './observer.ts';
import { type LiveState, liveState, reduceLive } from './terminal/live-state.ts';
import { failureText } from './terminal/panels.ts';
import { summaryLines } from './terminal/summary.ts';

const columns: readonly Column[] = [
  { position: 0, provider: 'strict one', prompt: '/home/ann/prompts/formal.txt: Be formal' },
  { position: 1, provider: 'strict one', prompt: 'Be\nshort' },
];

/** A case of each column: the model is asked, then the judge, and it fails. */
function graded(tested: readonly Column[]): LiveState {
  const state = liveState();
  for (const column of tested) {
    const index = caseIndex(column.position);
    const at = 1 + column.position;
    const failed = { status: 'failed', verdict: { pass: false, score: 0, reason: 'no' } } as const;
    const row = { index, key: caseKey('k'), name: 'case', column: column.position, ...failed } as unknown as Row;
    reduceLive(state, { type: 'case-start', index, name: 'case', at, column });
    for (const lane of ['sim:model', 'sim:judge'])
      reduceLive(state, { type: 'call-start', lane: laneKey(lane), call: at, index, at, attempt: 1 });
    reduceLive(state, { type: 'case-end', index, at, status: 'failed', row, completed: at, total: 2 });
  }
  return state;
}

describe('what a failed case has tested', () => {
  it('is its column, whoever was called last', () => {
    const state = graded(columns.slice(0, 1));
    const lines = summaryLines({ state, width: 120, exitCode: 100 }).join('\n');
    expect(lines).toContain('#1 case  strict one  no');
    expect(state.failures.map((each) => failureText(each, state, {}))).toEqual(['#1 case (strict one): no']);
  });

  it('names the prompt where there are several, by its file instead of its folders', () => {
    const state = graded(columns);
    const told = state.failures.map((each) => failureText(each, state, {}));
    expect(told).toEqual(['#1 case (strict one, formal.txt: Be formal): no', '#2 case (strict one, Be short): no']);
  });

  it('is unknown where a run has no such column', () => {
    expect(columnAt(columns, 0)).toBe('strict one, formal.txt: Be formal');
    expect(columnAt(columns, 7)).toBeUndefined();
  });

  it('is not repeated in every line of events', () => {
    const sink = textBuffer();
    const [column] = columns as [Column];
    jsonEvents({ sink }).observe({ type: 'case-start', index: caseIndex(0), name: 'case', at: 1, column });
    expect(JSON.parse(sink.text())).toEqual({ type: 'case-start', index: 0, name: 'case', at: 1 });
  });
});
