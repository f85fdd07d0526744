import { describe, expect, it } from 'vitest';
import { sampleRun } from '../../../test/support/sample-run.ts';
import type { Row } from '../../domain/row.ts';
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
});
