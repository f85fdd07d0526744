import { readFileSync } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../test/support/browser.ts';
import { type SampleOptions, sampleLanes, sampleReader } from '../../../test/support/sample-run.ts';
import { compareRuns } from '../../compare/compare-runs.ts';
import { runSide } from '../../compare/run-side.ts';
import { rowRedactor } from '../redact/redact-row.ts';
import { type HtmlReportOptions, writeHtmlReport } from './html-report.ts';

const hostile =
  '</script><script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked=2"><!-- <svg onload=alert(1)> https://evil.example/x.png';
const withHostile = (options: SampleOptions): SampleOptions => ({
  ...options,
  row: (index, row) =>
    index === 0
      ? {
          ...row,
          name: `hostile ${hostile}`,
          status: 'failed',
          output: hostile,
          detail: { prompt: hostile },
          verdict: { pass: false, score: 0, reason: hostile },
        }
      : row,
});

let folder: string;
let browser: Browser | undefined;

async function write(name: string, options: SampleOptions, more: HtmlReportOptions = {}): Promise<string> {
  const path = join(folder, name);
  const file = await open(path, 'w');
  await writeHtmlReport(sampleReader(options), { write: (text) => file.write(text) }, more);
  await file.close();
  return path;
}

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  if (browser === undefined) throw new Error('the browser did not start');
  const page = await browser.newPage(options);
  // Only there to end a hang.
  page.setDefaultTimeout(150_000);
  return page;
}

/** Opens a report and notes everything that should not happen. */
async function visit(path: string, hash = '', options: BrowserContextOptions = {}) {
  const page = await newPage({ viewport: { width: 1400, height: 1000 }, ...options });
  const wrong: string[] = [];
  const address = pathToFileURL(path).href;
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('request', (request) => request.url().startsWith(address) || wrong.push(`request: ${request.url()}`));
  await page.goto(address + hash);
  return { page, wrong };
}

const chosen = (page: Page) => page.locator('#body tr[aria-selected="true"] td').first().textContent();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parlane-report-'));
  browser = await launchBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

describe('the report in a browser, opened from disk', () => {
  it('shows what a model wrote as text, runs nothing of it and asks nobody for anything', async () => {
    const path = await write('hostile.html', withHostile({ lanes: sampleLanes }));
    const { page, wrong } = await visit(path, '#case-1');
    await page.locator('#case h3').waitFor();
    expect(await page.locator('#case h3').textContent()).toBe(`#1 hostile ${hostile}`);
    expect(await page.locator('#case .text').allTextContents()).toEqual([hostile, hostile]);
    expect(await page.locator('img, iframe, object, #case script, #case svg').count()).toBe(0);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(wrong).toEqual([]);
    await page.close();
  });

  it('forbids by its own policy what it does not do', async () => {
    const path = await write('policy.html', { lanes: sampleLanes });
    const page = await newPage();
    await page.goto(pathToFileURL(path).href);
    const blocked: string[] = [];
    page.on('console', (message) => blocked.push(message.text()));
    await page.evaluate(
      "(() => { const s = document.createElement('script'); s.textContent = 'globalThis.hacked = 3'; document.body.append(s); })()",
    );
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    const fetched = await page.evaluate("fetch('https://example.invalid/').then(() => 'went', () => 'refused')");
    expect(fetched).toBe('refused');
    expect(blocked.join('\n')).toContain('Content Security Policy');
    await page.close();
  });

  it('is worked by keys alone', async () => {
    const path = await write('keys.html', { lanes: sampleLanes });
    const { page, wrong } = await visit(path);
    await page.keyboard.press('j');
    expect(await chosen(page)).toBe('#1');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await chosen(page)).toBe('#2');
    await page.keyboard.press('n');
    expect(await page.locator('#body tr[aria-selected="true"]').textContent()).toMatch(/FAILED|ERROR/);
    await page.keyboard.press('x');
    await page.locator('#case h3').waitFor();
    expect(await page.locator('#case h3').textContent()).toContain(await chosen(page));
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('#case h3').textContent()).toContain(await chosen(page));
    await page.keyboard.press('x');
    expect(await page.locator('#case').isVisible()).toBe(false);
    await page.keyboard.press('/');
    await page.keyboard.type('status:failed name:angry');
    const count = (await page.locator('#count').textContent()) ?? '';
    expect(Number.parseInt(count, 10)).toBeGreaterThan(0);
    expect(Number.parseInt(count, 10)).toBeLessThan(40);
    await page.keyboard.press('Escape');
    expect(await page.evaluate("document.activeElement.closest('tbody') !== null")).toBe(true);
    expect(wrong).toEqual([]);
    await page.close();
  });

  it('folds tools, unfolds them all, and shows a broken rule at its turn', async () => {
    const path = await write('tools.html', { lanes: sampleLanes, failing: 0.3 });
    const { page } = await visit(path);
    await page.locator('#search').fill('status:failed name:angry');
    await page.keyboard.press('Escape');
    await page.keyboard.press('x');
    await page.locator('.said.broken .here').waitFor();
    expect(await page.locator('.said.broken .here').textContent()).toContain('promised a refund');
    expect(await page.locator('details.tool[open]').count()).toBe(0);
    await page.keyboard.press('f');
    expect(await page.locator('details.tool[open]').count()).toBeGreaterThan(1);
    expect(await page.locator('details.tool[open] pre').allTextContents()).toContainEqual(
      expect.stringContaining('"state": "lost"'),
    );
    await page.close();
  });

  it('filters and sorts twenty thousand rows with a window of them in the page', async () => {
    const lanes = [
      { key: 'a', cases: 12_000, limit: 16, latencyMs: 10 },
      { key: 'b', cases: 8_000, limit: 16, latencyMs: 10 },
    ];
    const path = await write('many.html', { lanes });
    const { page, wrong } = await visit(path);
    expect(await page.locator('#table').getAttribute('aria-rowcount')).toBe('20001');
    expect(await page.locator('#body tr').count()).toBeLessThan(80);
    await page.getByRole('button', { name: /^failed/ }).click();
    expect(await page.locator('#body td.passed').count()).toBe(0);
    await page.getByRole('button', { name: /^all/ }).click();
    await page.locator('#model').selectOption('b');
    expect(await page.locator('#count').textContent()).toBe('8000 of 20000 cases');
    await page.getByRole('button', { name: /^time/ }).click();
    await page.getByRole('button', { name: /^time/ }).click();
    expect(await page.locator('#body tr[data-at="0"]').textContent()).toContain('3.0 s');
    expect(await page.locator('th[aria-sort="descending"]').textContent()).toContain('time');
    await page.locator('#body tr[data-at="0"]').focus();
    await page.keyboard.press('End');
    expect(await page.locator('#body tr[aria-selected="true"]').getAttribute('aria-rowindex')).toBe('8001');
    expect(await page.locator('#body tr').count()).toBeLessThan(80);
    expect(wrong).toEqual([]);
    await page.close();
  });

  it.each(['light', 'dark'] as const)(
    'has nothing for axe to complain about at WCAG AA, in %s',
    async (colorScheme) => {
      const before = runSide('run 41');
      for await (const row of sampleReader({ lanes: sampleLanes, seed: 3, failing: 0.1 }).rows()) before.add(row);
      const after = runSide('run 42');
      for await (const row of sampleReader({ lanes: sampleLanes }).rows()) after.add(row);
      const path = await write(
        `axe-${colorScheme}.html`,
        { lanes: sampleLanes },
        { comparison: compareRuns(before.build(), after.build()) },
      );
      const { page } = await visit(path, '#case-5', { colorScheme });
      await page.locator('#case h3').waitFor();
      expect(await page.locator('#comparison').textContent()).toContain('run 42 against run 41');
      await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
      const found = (await page.evaluate(
        "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target + ' ' + node.failureSummary).join('; ')))",
      )) as string[];
      expect(found).toEqual([]);
      await page.close();
    },
  );

  it('tells summary and lanes without a script', async () => {
    const path = await write('no-script.html', { lanes: sampleLanes });
    const { page } = await visit(path, '', { javaScriptEnabled: false });
    expect(await page.locator('#summary').textContent()).toContain('passed');
    expect(await page.locator('svg.lanes').getAttribute('aria-label')).toBe('4 lanes over 2:35; rate limited 2 times.');
    expect(await page.locator('noscript').textContent()).toContain('needs the script');
    await page.close();
  });

  it('keeps a thousand conversations under 15 MB and opens the last one', async () => {
    const lanes = [{ key: 'a', cases: 1000, limit: 8, latencyMs: 10 }];
    const path = await write('thousand.html', { lanes, conversationEvery: 1, turns: 12 });
    expect((await stat(path)).size).toBeLessThan(15_000_000);
    const { page, wrong } = await visit(path, '#case-1000');
    await page.locator('.said').first().waitFor();
    expect(await page.locator('.said').count()).toBe(24);
    expect(wrong).toEqual([]);
    await page.close();
  });

  it('leaves out what is to be redacted, also from the packed details', async () => {
    const redact = rowRedactor({ contents: true });
    const path = await write('redacted.html', { lanes: sampleLanes }, { redact });
    const { page } = await visit(path, '#case-5');
    await page.locator('.said').first().waitFor();
    expect(await page.locator('#case').textContent()).toContain('[left out, 42 characters]');
    expect(await page.locator('#case').textContent()).not.toContain('Parcel desk');
    await page.close();
  });
});
