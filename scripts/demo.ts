/**
 * The main job, offline: an eval over several lanes and a batch of conversations with tools and handoffs, twice, with a
 * changed prompt in between; then what got better, and a report to open. Everything is simulated: no key, no network.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'parlane-demo-'));
const [before, after] = ['parlane.yaml', 'parlane-v2.yaml'].map((name) => join('examples', 'demo', name));
const store = ['--store', join(folder, '.parlane')];
const report = join(folder, 'report.html');

/** Runs one command as a person would type it; checks that fail on purpose are part of the show. */
function parlane(why: string, args: readonly string[]): void {
  console.error(`\n# ${why}\n$ parlane ${args.filter((arg) => !store.includes(arg)).join(' ')}\n`);
  const { status } = spawnSync(process.execPath, [join(root, 'bin', 'parlane.js'), ...args, ...store], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0 && status !== 100) process.exit(status ?? 1);
}

parlane('Four models answer, two of them badly limited, while callers talk to an order desk.', ['run', String(before)]);
parlane('The same with a prompt that knows more.', ['run', String(after)]);
parlane('Did it get better, and is that real?', ['compare']);
parlane('Everything in one file.', ['export', '--format', 'html', '-o', report]);
console.error(`\nReport: ${report}\nThe runs are in ${folder}; delete it whenever you like.`);
