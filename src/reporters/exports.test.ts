import { parse } from 'csv-parse/sync';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { type SampleOptions, sampleReader, sampleRun } from '../../test/support/sample-run.ts';
import type { Row } from '../domain/row.ts';
import { csvCell, writeCsv } from './csv/csv-rows.ts';
import { annotation, githubAnnotations } from './github/github-annotations.ts';
import { jsonEvents } from './json/json-events.ts';
import { writeJsonRows } from './json/json-rows.ts';
import { writeJunit } from './junit/junit-xml.ts';
import { textBuffer } from './observer.ts';

const nasty = '=cmd|calc\u0000\u001b[2J<b>"x", \'y\'</b>]]>&amp;\n::error::%25 漢字 👩‍👩‍👧';
const small: SampleOptions = {
  lanes: [
    { key: 'a', cases: 30, limit: 4, latencyMs: 100 },
    { key: 'b', cases: 20, limit: 4, latencyMs: 100 },
  ],
  failing: 0.4,
  erring: 0.1,
};
const withNasty: SampleOptions = {
  ...small,
  row: (index, row) => (index === 3 ? { ...row, name: nasty, output: nasty, status: 'failed' } : row),
};

async function written(write: (sink: ReturnType<typeof textBuffer>) => Promise<void>): Promise<string> {
  const sink = textBuffer();
  await write(sink);
  return sink.text();
}

describe('CSV', () => {
  it('keeps a spreadsheet from running what a model wrote', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r'])
      expect(csvCell(`${start}1+1`).replaceAll('"', '')).toBe(`'${start}1+1`);
    expect(csvCell(-1.5)).toBe('-1.5');
    expect(csvCell('a "b", c')).toBe('"a ""b"", c"');
  });

  it('has one row a case, in plan order, that any reader takes apart again', async () => {
    const text = await written((sink) => writeCsv(sampleReader(withNasty), sink));
    const rows = parse(text, { columns: true }) as Record<string, string>[];
    expect(rows).toHaveLength(50);
    expect(rows.map((row) => Number(row['case']))).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    expect(rows[3]).toMatchObject({ name: `'${nasty}`, output: `'${nasty}`, provider: 'a', status: 'failed' });
  });
});

describe('JUnit', () => {
  it('is valid XML with the run in numbers, failures and errors told apart', async () => {
    const text = await written((sink) => writeJunit(sampleReader(withNasty), sink));
    expect(XMLValidator.validate(text)).toBe(true);
    const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(text);
    const cases = testsuites.testsuite.testcase as Record<string, unknown>[];
    expect(cases).toHaveLength(50);
    expect(cases.filter((each) => 'error' in each)).toHaveLength(Number(testsuites['@_errors']));
    expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
    expect(cases[0]).toMatchObject({ '@_name': '#1 refund/over-limit', '@_classname': 'a / refund.md' });
  });
});

describe('GitHub annotations', () => {
  it('cannot be ended or begun by what a model wrote', () => {
    const line = annotation('error', 'a: b, c', `x\n::error::${nasty}`, 'parlane.yaml');
    expect(line.trimEnd().split('\n')).toHaveLength(1);
    expect(line).toContain('::error file=parlane.yaml,title=a%3A b%2C c::x%0A::error::');
  });

  it('stay below the number that GitHub shows and sum the run up', async () => {
    const [sink, summary] = [textBuffer(), textBuffer()];
    const reporter = githubAnnotations({ sink, summary, file: 'parlane.yaml' });
    for (const event of sampleRun(withNasty)) reporter.observe(event);
    await reporter.finish();
    const lines = sink.text().trimEnd().split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toMatch(
      /^::notice .*50 cases: \d+ passed, \d+ failed, \d+ errors? \(\d+ more not annotated\)$/,
    );
    expect(summary.text()).toContain('| 50 |');
    expect(summary.text()).not.toContain('<b>');
  });
});

describe('JSON lines', () => {
  it('hold every event but single calls, one a line, versioned', async () => {
    const sink = textBuffer();
    const reporter = jsonEvents({ sink });
    for (const event of sampleRun(withNasty)) reporter.observe(event);
    await reporter.finish();
    const events = sink
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: 'run-start', version: 1, run: '42' });
    expect(events.filter(({ type }) => type === 'case-end')).toHaveLength(50);
    expect(events.some(({ type }) => type === 'call-start')).toBe(false);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', complete: true });
  });

  it('leave texts out when asked to be brief, and show calls when asked for them', () => {
    const sink = textBuffer();
    const reporter = jsonEvents({ sink, brief: true, calls: true });
    for (const event of sampleRun(small)) reporter.observe(event);
    expect(sink.text()).toContain('"call-start"');
    expect(sink.text()).not.toContain('Please ask a manager');
  });

  it('give back the rows exactly as they were', async () => {
    const text = await written((sink) => writeJsonRows(sampleReader(withNasty), sink));
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    expect(rows).toHaveLength(50);
    expect(rows[3]?.output).toBe(nasty);
  });

  it('are written in large pieces, and wait for a slow sink', async () => {
    const pieces: number[] = [];
    let busy = 0;
    const sink = {
      async write(text: string) {
        expect(++busy).toBe(1);
        await Promise.resolve();
        pieces.push(text.length);
        busy--;
      },
    };
    const lanes = [{ key: 'a', cases: 2_000, limit: 4, latencyMs: 100 }];
    await writeJsonRows(sampleReader({ lanes }), sink);
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces)).toBeLessThan(80_000);
  });
});
