/** One folder for everything that the tests and their children leave in the temporary folder; gone when they are done. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const { TMPDIR: usual } = process.env;
  const folder = mkdtempSync(join(tmpdir(), 'parlane-tests-'));
  process.env['TMPDIR'] = folder;
  return () => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
