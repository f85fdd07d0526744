/**
 * Test tables in CSV, read row by row: once when the config loads, to count the rows and find what is wrong with them,
 * and again whenever the tests are wanted. No more than a few rows are ever held.
 */
import { Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import type { SuiteTest, TestSource } from '../domain/suite.ts';
import { rowTest } from './csv-row.ts';
import type { Loading } from './loading.ts';

interface Dialect {
  readonly delimiter: string;
  readonly relaxed: boolean;
}

interface PlacedRow {
  readonly record: Record<string, string>;
  readonly info: { readonly lines: number; readonly records: number };
}

const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const mostProblems = 20;

function rows(path: string, dialect: Dialect, loading: Loading): AsyncIterable<PlacedRow> {
  const options: Options = {
    columns: true,
    bom: true,
    delimiter: dialect.delimiter,
    relax_quotes: dialect.relaxed,
    info: true,
    max_record_size: 16 * 1024 * 1024,
  };
  const parser = parse(options);
  Readable.from(loading.files.stream(path))
    .on('error', (error) => parser.destroy(error))
    .pipe(parser);
  return parser as AsyncIterable<PlacedRow>;
}

const described = (test: SuiteTest, number: number): SuiteTest =>
  test.description === undefined ? { ...test, description: `Row #${number}` } : test;

/** Opens a table; undefined when it cannot be read, which has been reported then. */
export async function openCsv(path: string, loading: Loading): Promise<TestSource | undefined> {
  const delimiter = loading.env['PROMPTFOO_CSV_DELIMITER'] ?? ',';
  const strictOnly = /^(?:1|true|yes)$/i.test(loading.env['PROMPTFOO_CSV_STRICT'] ?? '');
  const dialects: Dialect[] = [{ delimiter, relaxed: false }, ...(strictOnly ? [] : [{ delimiter, relaxed: true }])];
  let refusal: unknown;
  for (const dialect of dialects) {
    try {
      const count = await inspect(path, dialect, loading);
      return {
        count,
        async *read() {
          for await (const row of rows(path, dialect, loading))
            yield described(rowTest(row.record).test, row.info.records);
        },
      };
    } catch (error) {
      refusal ??= error;
    }
  }
  reportRefusal(refusal, path, loading);
  return undefined;
}

async function inspect(path: string, dialect: Dialect, loading: Loading): Promise<number> {
  let count = 0;
  const found: { line: number; message: string }[] = [];
  for await (const { record, info } of rows(path, dialect, loading)) {
    count += 1;
    const bad = count === 1 ? Object.keys(record).filter((name) => forbidden.has(name.trim())) : [];
    for (const name of bad) found.push({ line: 1, message: `the column "${name}" is not allowed` });
    if (found.length >= mostProblems) continue;
    for (const { column, message } of rowTest(record).faults) {
      found.push({ line: info.lines, message: `(row ${count}), column "${column}": ${message}` });
    }
  }
  for (const { line, message } of found.slice(0, mostProblems)) {
    loading.report({ file: loading.shown(path), line, column: 1, message });
  }
  return count;
}

function reportRefusal(error: unknown, path: string, loading: Loading): void {
  const line = error instanceof CsvError && typeof error['lines'] === 'number' ? error['lines'] : 1;
  const message = error instanceof Error ? error.message : String(error);
  loading.report({ file: loading.shown(path), line, column: 1, message: `not a readable table: ${message}` });
}
