import { defineConfig } from 'vitest/config';

/** Where `.ci/run` wants the result as JSON, next to what people read. */
const report = process.env['PARLANE_TEST_REPORT'];

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: 'test/support/temporary-folder.ts',
    reporters: [
      ['default', { summary: false }],
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', { outputFile: string }]]),
    ],
    // One line a file; only what is really slow is named.
    slowTestThreshold: 10_000,
    // Only there to end a hang: no test passes or fails by the time that it takes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'threads',
    // All cores: unless told, one is left idle, which on two of them is half of the machine.
    maxWorkers: '100%',
  },
});
