import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parlane-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('makeFolder', () => {
  it('makes all that is missing, and nothing where it is there', () => {
    makeFolder(join(root, 'a/b/c'), 0o700);
    expect(statSync(join(root, 'a/b/c')).mode & 0o777).toBe(0o700);
    expect(() => makeFolder(join(root, 'a/b/c'))).not.toThrow();
  });

  it('refuses a place below a file', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file/below'))).toThrow(/ENOTDIR|EEXIST/);
  });

  it.runIf(existsSync('/proc/self'))('refuses at once where nothing can be made in an existing folder', () => {
    expect(() => makeFolder('/proc/parlane/deeper')).toThrow(/ENOENT/);
  });
});
