/**
 * `npm run compat [corpus folder]`: everything that was recorded from other tools and that Parlane must agree with:
 * evals (example configs with the rows that promptfoo gave) and conversations (trajectories with their pass^k). Each part
 * says so when its corpus is absent; the exit code is 1 when a part is below its bar.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;
const corpus = resolve(process.argv[2] ?? join(here, '..', '..', 'shared', 'corpus'));

const parts: readonly (readonly string[])[] = [
  ['compat-evals.ts', join(corpus, 'promptfoo-examples'), join(corpus, '..', 'tools', 'golden-mock.mjs')],
  ['compat-conversations.ts', corpus],
];

const failed = parts.filter(([script = '', ...args]) => {
  const flags = ['--disable-warning=ExperimentalWarning'];
  const { status } = spawnSync(process.execPath, [...flags, join(here, script), ...args], { stdio: 'inherit' });
  return status !== 0;
});
if (failed.length > 0) console.error(`Below the bar: ${failed.map(([script]) => script).join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
