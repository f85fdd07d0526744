import { expect, it } from 'vitest';
import { summarise } from './test-summary.ts';

const report = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

it('tells how many tests passed and failed in one plain line', () => {
  expect(summarise(report, 0)).toEqual(['7 passed, 0 failed']);
  expect(summarise({ ...report, numFailedTests: 2 }, 1)).toEqual(['7 passed, 2 failed']);
});

it('counts what failed without being a test, and a run without a result', () => {
  const file = { name: 'a.test.ts', status: 'failed', message: 'no such module', assertionResults: [] };
  expect(summarise({ ...report, testResults: [file] }, 1).at(-1)).toBe('7 passed, 1 failed');
  expect(summarise(report, 1).at(-1)).toBe('7 passed, 1 failed');
  expect(summarise(undefined, 0).at(-1)).toBe('0 passed, 1 failed');
});

it('does not hide skipped tests', () => {
  expect(summarise({ ...report, numPendingTests: 3 }, 0)).toEqual(['3 skipped', '7 passed, 0 failed']);
});
