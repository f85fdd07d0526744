import { describe, expect, it } from 'vitest';
import type { Row } from '../domain/row.ts';
import { realClock } from '../platform/clock.ts';
import { evaluate } from './evaluate-config.ts';
import { withFunctions } from './in-process.ts';

const rowsOf = async (result: { rows(): AsyncIterable<{ row: Row }> }): Promise<Row[]> => {
  const rows: Row[] = [];
  for await (const { row } of result.rows()) rows.push(row);
  return rows;
};

describe('a config written down in a program', () => {
  it('runs in one line', async () => {
    const result = await evaluate({
      prompts: ['say {{x}}'],
      providers: ['echo'],
      tests: [{ vars: { x: 'a' }, assert: [{ type: 'contains', value: 'a' }] }],
    });
    expect(result.totals).toMatchObject({ planned: 1, passed: 1 });
    expect(await result.toEvaluateSummary()).toMatchObject({
      version: 3,
      results: [{ success: true, response: { output: 'say a' } }],
      stats: { successes: 1 },
    });
  });

  it('may hold functions as providers, prompts, assertions, transforms, filters and metrics; they run right here', async () => {
    const seen: string[] = [];
    const result = await evaluate({
      prompts: [({ vars }: { vars: { x: string } }) => `made ${vars.x} {{ x | loud }}`],
      providers: [
        (prompt: string, context: { vars: { x: string } }) => {
          seen.push(prompt);
          return { output: `${prompt}/${context.vars.x}`, tokenUsage: { total: 3, prompt: 2, completion: 1 } };
        },
        { id: () => 'mine', label: 'second', callApi: async (prompt: string) => ({ output: prompt.toUpperCase() }) },
      ],
      nunjucksFilters: { loud: (text: string) => `${text}!` },
      tests: [
        {
          vars: { x: 'a' },
          options: { transform: (output: string) => `<${output}>` },
          assert: [
            { type: 'javascript', metric: 'm', value: (output: string) => output.startsWith('<') && seen.length === 1 },
          ],
        },
      ],
      derivedMetrics: [{ name: 'twice', value: ({ m }: { m: number }) => m * 2 }],
    });
    const rows = await rowsOf(result);
    expect(rows.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(rows.map(({ output, status }) => [output, status])).toEqual([
      ['<made a a!/a>', 'passed'],
      ['<MADE A A!>', 'passed'],
    ]);
    expect(rows[0]?.usage).toMatchObject({ inputTokens: 2, outputTokens: 1 });
    expect(result.columns.map(({ provider }) => provider.id)).toEqual(['function:0', 'mine']);
    expect((await result.prompts())[0]).toMatchObject({ metrics: { namedScores: { m: 1, twice: 2 } } });
  });

  it('makes a function that throws or answers nothing its own row’s error', async () => {
    const result = await evaluate({
      prompts: ['{{x}}'],
      providers: [
        (prompt: string) => {
          if (prompt === 'b') throw new Error('broken pipe');
          return prompt;
        },
      ],
      tests: [{ vars: { x: 'a' } }, { vars: { x: 'b' } }],
    });
    const rows = await rowsOf(result);
    expect(rows.map(({ status }) => status)).toEqual(['passed', 'error']);
    expect(rows[1]?.error?.message).toContain('broken pipe');
  });

  it('tells progress and stops, resumable, when it is aborted', async () => {
    const stop = new AbortController();
    const told: [number, number, string][] = [];
    const result = await evaluate(
      {
        prompts: ['{{x}}'],
        providers: [async (prompt: string) => prompt],
        tests: Array.from({ length: 30 }, (_, at) => ({ vars: { x: `v${at}` } })),
      },
      {
        maxConcurrency: 1,
        abortSignal: stop.signal,
        progressCallback: (completed, total, _index, step) => {
          told.push([completed, total, String(step.vars['x'])]);
          if (completed === 3) stop.abort();
        },
      },
    );
    expect(result.outcome).toMatchObject({ complete: false, stopReason: 'interrupted' });
    expect(told[0]).toEqual([1, 30, 'v0']);
    expect(result.totals.planned).toBe(30);
    expect(result.totals.passed).toBeLessThan(30);
  });

  it('is checked like a file: an unknown place is told', async () => {
    await expect(evaluate({ prompts: ['x'], providers: ['no-such-vendor:x'], tests: [{}] })).rejects.toThrow();
  });

  it('calls no function of it once the eval was stopped', async () => {
    let called = 0;
    const code = withFunctions(
      { run: () => Promise.reject(new Error('not a file')), close: async () => {} },
      { code: new Map([['/f.mjs', () => called++]]), providers: new Map() },
      realClock,
    );
    const call = { code: { kind: 'file', language: 'javascript', path: '/f.mjs' }, args: [] } as const;
    expect(await code.run(call, { signal: AbortSignal.abort() })).toMatchObject({ kind: 'broke', cause: 'aborted' });
    expect(called).toBe(0);
  });
});
