import { describe, expect, it } from 'vitest';
import { sampleRun } from '../../../test/support/sample-run.ts';
import type { Row } from '../../domain/row.ts';
import { isPromptName, redactColumns } from './redact-columns.ts';
import { redactText, rowRedactor } from './redact-row.ts';

const canary = 'canary-"7f3a\\9b';
const rows: Row[] = [];
for (const event of sampleRun({ lanes: [{ key: 'a', cases: 10, limit: 1, latencyMs: 1 }], failing: 0.5 })) {
  if (event.type === 'case-end') rows.push(event.row);
}

describe('redaction', () => {
  it('takes a known secret out wherever it stands, also inside JSON and addresses', () => {
    const redact = redactText([canary, 'ab']);
    const text = `${canary} ${JSON.stringify({ a: canary })} https://x/?k=${encodeURIComponent(canary)} ab`;
    expect(redact(text)).toBe('[redacted] {"a":"[redacted]"} https://x/?k=[redacted] ab');
  });

  it('knows keys by their shape', () => {
    const shapes = [
      'sk-proj-abcdefghijklmnopqrstuvwx',
      'AKIAIOSFODNN7EXAMPLE',
      'Bearer abcdefghijklmnopqrst',
      `ghp_${'a'.repeat(36)}`,
    ];
    for (const shape of shapes) expect(redactText()(`x ${shape} y`)).toBe('x [redacted] y');
    expect(redactText()('sk-learn and the task-force')).toBe('sk-learn and the task-force');
  });

  it('goes through every part of a row', () => {
    const redact = rowRedactor({ secrets: [canary] });
    for (const row of rows) {
      const hidden = {
        ...row,
        name: `n ${canary}`,
        output: { [canary]: canary },
        detail: { prompt: canary, conversation_history: [{ content: canary, tool_results: [{ deep: [canary] }] }] },
        verdict: {
          pass: false,
          score: 0,
          reason: canary,
          componentResults: [{ pass: false, score: 0, reason: canary }],
        },
        error: { code: 'x', message: canary },
      };
      const text = JSON.stringify(redact(hidden));
      expect(text).not.toContain('7f3a');
      expect(redact(hidden)).toMatchObject({ index: row.index, status: row.status, costUsdMicros: row.costUsdMicros });
    }
  });

  it('leaves out what people and models wrote, and keeps verdicts and numbers', () => {
    const redact = rowRedactor({ contents: true });
    for (const row of rows) {
      const text = JSON.stringify(redact(row));
      expect(text).not.toMatch(/manager about|money today|parcel never|state":"lost|Parcel desk|A-10/);
      expect(redact(row)).toMatchObject({ status: row.status, score: row.score, latencyMs: row.latencyMs });
    }
  });

  it('tells only the size of data, whose keys and numbers were written too', () => {
    const [row] = rows as [Row];
    const tool = { balance: 4711, 'Ann Smith': true, id: 'R-12' };
    const detail = {
      vars: { who: tool },
      final_state: { rooms: [tool] },
      conversation_history: [{ turn: 1, tool_results: [tool, null] }],
    };
    const hidden: Row = { ...row, output: tool, detail, verdict: { pass: true, score: 1, reason: '' } };
    const shown = rowRedactor({ contents: true })(hidden);
    expect(JSON.stringify(shown)).not.toMatch(/4711|Ann|balance|R-12/);
    const size = '[left out, 45 characters]';
    expect(shown).toMatchObject({ output: size, detail: { vars: { who: size } } });
    expect(shown.detail).toMatchObject({ conversation_history: [{ turn: 1, tool_results: [size, null] }] });
  });
});

describe('a redacted column', () => {
  it.each([
    ['formal', 'Be formal: {{q}}', true],
    ['Be formal: {{q}}', 'Be formal: {{q}}', false],
    ['Be formal', 'Be formal: {{q}}', false],
    ['Prompt 2 - Be formal: {{q}}', 'Be formal: {{q}}', false],
    ['v2: /home/ann/p.txt: Be', 'Something else', false],
    ['/home/ann/prompt.mjs', 'export default () => 1', false],
    ['C:\\work\\p.txt', 'Something else', false],
    ['tone/formal', 'Something else', true],
  ])('takes the label %j of the prompt %j for a name: %s', (label, template, named) => {
    expect(isPromptName(label, template)).toBe(named);
  });

  it('is numbered by its prompt, so that models are still told apart by theirs', () => {
    const columns = ['a', 'b'].flatMap((provider, at) =>
      ['x', 'name', 'y'].map((prompt, place) => ({ position: at * 3 + place, provider, prompt })),
    );
    const shown = redactColumns(columns, ({ prompt }) => prompt === 'name');
    expect(shown.map(({ prompt }) => prompt)).toEqual([...Array(2)].flatMap(() => ['prompt 1', 'name', 'prompt 2']));
  });
});
