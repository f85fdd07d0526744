import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browserCommand, openInBrowser } from './browser.ts';

const at = 'file:///runs/a%20b.html';

describe('what opens a report', () => {
  it('is what the system has, where there is a screen', () => {
    expect(browserCommand('linux', { DISPLAY: ':0' }, at)).toEqual(['xdg-open', at]);
    expect(browserCommand('linux', { WAYLAND_DISPLAY: 'wayland-0' }, at)).toEqual(['xdg-open', at]);
    expect(browserCommand('darwin', {}, at)).toEqual(['open', at]);
    expect(browserCommand('win32', {}, at)).toEqual(['rundll32', 'url.dll,FileProtocolHandler', at]);
  });

  it('is nothing on a machine without a screen', () => {
    expect(browserCommand('linux', {}, at)).toBeUndefined();
    expect(browserCommand('linux', { DISPLAY: '' }, at)).toBeUndefined();
    expect(browserCommand('darwin', { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, at)).toBeUndefined();
  });

  it('is what BROWSER names before anything else, or nothing when that says none', () => {
    expect(browserCommand('linux', { BROWSER: 'firefox:chromium' }, at)).toEqual(['firefox', at]);
    expect(browserCommand('darwin', { BROWSER: 'open -a Safari' }, at)).toEqual(['open', '-a', 'Safari', at]);
    expect(browserCommand('linux', { BROWSER: 'w3m --to=%s -T' }, at)).toEqual(['w3m', `--to=${at}`, '-T']);
    expect(browserCommand('win32', { BROWSER: 'C:\\ff.exe' }, at)).toEqual(['C:\\ff.exe', at]);
    expect(browserCommand('linux', { BROWSER: 'none', DISPLAY: ':0' }, at)).toBeUndefined();
  });

  it('says whether anything was started', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlane-browser-'));
    const file = join(folder, 'report.html');
    expect(await openInBrowser(file, { BROWSER: join(folder, 'not-there') }, 'linux')).toBe(false);
    expect(await openInBrowser(file, { BROWSER: 'none' }, 'linux')).toBe(false);
    expect(await openInBrowser(file, { BROWSER: `${process.execPath} --version` }, 'linux')).toBe(true);
    rmSync(folder, { recursive: true });
  });
});
