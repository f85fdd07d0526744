/** The example of docs/library.md that runs an eval is run as a program of its own; it must end by itself. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('an eval in one call, as the page shows it, runs and ends', async () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/library.md'), 'utf8');
  const [, block = ''] = /## An eval in one call[\s\S]*?```ts\n([\s\S]*?)```/.exec(text) ?? [];
  const library = pathToFileURL(join(import.meta.dirname, '../src/index.ts')).href;
  const folder = mkdtempSync(join(tmpdir(), 'parlane-library-'));
  try {
    const file = join(folder, 'example.mts');
    writeFileSync(file, block.replace("'parlane'", JSON.stringify(library)));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd: folder, timeout: 50_000 });
    expect(stdout).toMatch(/^2 \[/);
    expect(stdout).toContain('Paris, says my function');
    expect(stderr).toContain('2 of 2');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
