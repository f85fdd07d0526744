/** Ends a CI log with what the tests came to: `test-summary.ts <vitest's JSON report> <its exit code>`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/** The last line, and before it whatever a reader must not overlook. Without a report nothing has passed. */
export function summarise(report: Report | undefined, exitCode: number): string[] {
  if (report === undefined) return ['The tests did not come to a result.', '0 passed, 1 failed'];
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
  );
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + broken.length;
  const outside = exitCode !== 0 && failed === 0 ? 1 : 0;
  return [
    ...broken.map(({ name, message }) => `${name} could not be run: ${message}`),
    ...(outside > 0 ? ['Something failed outside of any test; see above.'] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${report.numPassedTests} passed, ${failed + outside} failed`,
  ];
}

function read(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path = '', exitCode = '1'] = process.argv.slice(2);
  process.stdout.write(`${summarise(read(path), Number(exitCode)).join('\n')}\n`);
}
