/**
 * Test tables in CSV, read row by row: once when the config loads, to count the rows and find what is wrong with them,
 * and again whenever the tests are wanted. No more than a few rows are ever held.
 */
import type { Json } from '../domain/json.ts';
import type { SuiteTest, TestSource } from '../domain/suite.ts';
import type { Assertion } from '../domain/verdict.ts';
import { rowTest } from './csv-row.ts';
import { type CsvDialect, CsvFault, csvRows } from './csv-rows.ts';
import { type Loading, warning } from './loading.ts';

const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const mostProblems = 20;
/** Rows whose places are kept; beyond them only those that bring a new kind of assertion. */
const mostNoted = 1000;

const described = (test: SuiteTest, number: number): SuiteTest =>
  test.description === undefined ? { ...test, description: `Row #${number}` } : test;

/** Opens a table; undefined when it cannot be read, which has been reported then. */
export async function openCsv(path: string, loading: Loading): Promise<TestSource | undefined> {
  const delimiter = loading.env['PROMPTFOO_CSV_DELIMITER'] ?? ',';
  const strictOnly = /^(?:1|true|yes)$/i.test(loading.env['PROMPTFOO_CSV_STRICT'] ?? '');
  const dialects: CsvDialect[] = [{ delimiter, relaxed: false }, ...(strictOnly ? [] : [{ delimiter, relaxed: true }])];
  let refusal: unknown;
  for (const dialect of dialects) {
    try {
      const facts = await inspect(path, dialect, loading);
      return {
        ...facts,
        async *read() {
          let number = 0;
          for await (const batch of csvRows(loading.files.stream(path), dialect)) {
            for (const { record } of batch) {
              number += 1;
              yield described(rowTest(record).test, number);
            }
          }
        },
      };
    } catch (error) {
      refusal ??= error;
    }
  }
  reportRefusal(refusal, path, loading);
  return undefined;
}

async function inspect(
  path: string,
  dialect: CsvDialect,
  loading: Loading,
): Promise<Pick<TestSource, 'count' | 'samples'> & { uniform: boolean }> {
  let count = 0;
  let uniform = true;
  let checked: readonly string[] | undefined;
  const samples = new Map<string, Assertion>();
  const found: { line: number; message: string }[] = [];
  for await (const batch of csvRows(loading.files.stream(path), dialect)) {
    for (const { record, line } of batch) {
      count += 1;
      if (checked === undefined) {
        const names = Object.keys(record).map((name) => name.trim());
        for (const name of names.filter((one) => forbidden.has(one))) {
          found.push({ line: 1, message: `the column "${name}" is not allowed` });
        }
        // Only these columns can be wrong by themselves.
        checked = Object.keys(record).filter((name) => /^\s*__(?:config|expected)/.test(name));
      }
      uniform &&= !Object.values(record).some((cell) => cell.startsWith('file://'));
      if (found.length >= mostProblems || checked.length === 0) continue;
      const cells = Object.fromEntries(checked.map((name) => [name, record[name] ?? '']));
      const { test, faults } = rowTest(cells);
      for (const { column, message } of faults) {
        found.push({ line, message: `(row ${count}), column "${column}": ${message}` });
      }
      const assertions = test.assert ?? [];
      const isNew = assertions.some(({ type }) => !samples.has(type));
      for (const assertion of assertions) samples.set(assertion.type, samples.get(assertion.type) ?? assertion);
      if (isNew || count <= mostNoted) noteRow(test, line, count, path, loading);
    }
  }
  for (const { line, message } of found.slice(0, mostProblems)) {
    loading.report({ file: loading.shown(path), line, column: 1, message });
  }
  if (count === 0) {
    const message = 'this table has no rows below its head: there are no tests in it';
    loading.report(warning({ file: loading.shown(path), line: 1, column: 1, message }));
  }
  return { count, uniform, samples: [...samples.values()] };
}

function noteRow(test: SuiteTest, line: number, row: number, path: string, loading: Loading): void {
  const place = { file: loading.shown(path), line, column: 1 };
  loading.note({
    test: { assert: (test.assert ?? []) as unknown as Json },
    at: (_part, message, hint) => ({
      ...place,
      message: `(row ${row}): ${message}`,
      ...(hint === undefined ? {} : { hint }),
    }),
  });
}

function reportRefusal(error: unknown, path: string, loading: Loading): void {
  const line = error instanceof CsvFault ? error.line : 1;
  const message = error instanceof Error ? error.message : String(error);
  loading.report({ file: loading.shown(path), line, column: 1, message: `not a readable table: ${message}` });
}
