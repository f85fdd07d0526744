/**
 * A real Chromium for tests of pages, from the npm registry: nothing to install by hand, nothing to download later.
 * It is unpacked once, beside the package that it comes in.
 * `PARLANE_CHROMIUM` names another binary, for systems that the packaged one does not run on.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Unpacks into a folder of its own and moves it into place in one step, so that two test runs never meet half a file. */
async function unpack(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8')) as { version: string };
  const place = join(import.meta.dirname, `../../node_modules/.cache/parlane-chromium-${version}`);
  const binary = join(place, 'chromium');
  if (existsSync(binary)) return binary;
  await mkdir(dirname(place), { recursive: true });
  const fresh = await mkdtemp(`${place}-`);
  const { TMPDIR: usual } = process.env;
  process.env['TMPDIR'] = fresh;
  try {
    const { default: chromium } = await import('@sparticuz/chromium');
    chromium.setGraphicsMode = false;
    await chromium.executablePath();
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  }
  await rename(fresh, place).catch(() => rm(fresh, { recursive: true }));
  return binary;
}

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['PARLANE_CHROMIUM'] ?? (await unpack());
  const args = ['no-sandbox', 'disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking'];
  const quiet = ['disable-component-update', 'disable-sync', 'disable-dev-shm-usage'];
  return playwright.launch({
    executablePath,
    timeout: 150_000,
    headless: true,
    args: [...args, ...quiet].map((name) => `--${name}`),
  });
}
