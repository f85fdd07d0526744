import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { describeStore, promptCase, rowOf } from '../../test/contracts/store.ts';
import { runId } from '../domain/ids.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

const folders: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'parlane-store-'));
  folders.push(path);
  return path;
};
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});

describeStore('SQLite in a file', () => openStore({ at: join(folder(), 'store') }));
describeStore('SQLite in memory', () => openStore({ at: ':memory:' }));

const makeRun = async (store: Store, rows: number): Promise<void> => {
  const run = await store.createRun({ id: runId('r'), name: 'r', createdAt: 1, snapshot: {}, options: {} });
  await run.addCases(Array.from({ length: rows }, (_, at) => ({ position: at, case: promptCase(at) })));
  for (let at = 0; at < rows; at++) await run.saveRow(rowOf(promptCase(at)));
};

const rowsIn = async (store: Store): Promise<number> =>
  (await (await store.openRun(runId('r')))?.rows({ after: -1, limit: 1_000 }))?.length ?? 0;

describe('opening a store', () => {
  it('makes a folder that only its owner may read', async () => {
    const at = join(folder(), '.parlane');
    const store = await openStore({ at });
    expect(statSync(at).mode & 0o777).toBe(0o700);
    expect(statSync(join(at, 'parlane.db')).mode & 0o777).toBe(0o600);
    await store.close();
  });

  it('finds everything again after an orderly close', async () => {
    const at = folder();
    const first = await openStore({ at });
    await makeRun(first, 5);
    await first.close();
    expect(readdirSync(at).filter((name) => name.endsWith('-wal'))).toEqual([]);
    const second = await openStore({ at });
    expect(await rowsIn(second)).toBe(5);
    await second.close();
  });

  it('gives back the room of a deleted run, and nothing of it is left in the file', async () => {
    const at = folder();
    const first = await openStore({ at });
    const run = await first.createRun({ id: runId('r'), name: 'r', createdAt: 1, snapshot: {}, options: {} });
    await run.addCases([{ position: 0, case: promptCase(0) }]);
    await run.saveRow(rowOf(promptCase(0), { output: 'what a caller said '.repeat(20_000) }));
    await first.close();
    const file = join(at, 'parlane.db');
    const before = statSync(file).size;
    const second = await openStore({ at });
    await second.deleteRun(runId('r'));
    await second.close();
    expect(statSync(file).size).toBeLessThan(before / 2);
    expect(readFileSync(file).includes('what a caller said')).toBe(false);
    await (await openStore({ at })).close();
  });

  it('refuses a file that is something else, and leaves it alone', async () => {
    const at = join(folder(), 'notes.db');
    writeFileSync(at, 'dear diary, '.repeat(50));
    await expect(openStore({ at })).rejects.toMatchObject({ code: 'store/foreign' });
    expect(readFileSync(at, 'utf8')).toBe('dear diary, '.repeat(50));
  });

  it('refuses the database of another program, and leaves it alone', async () => {
    const at = join(folder(), 'other.db');
    const other = new DatabaseSync(at);
    other.exec('create table songs (name text)');
    other.close();
    const before = readFileSync(at);
    await expect(openStore({ at })).rejects.toMatchObject({ code: 'store/foreign' });
    expect(readFileSync(at).equals(before)).toBe(true);
  });

  it('refuses a store of a newer version', async () => {
    const at = folder();
    await (await openStore({ at })).close();
    rmSync(join(at, 'parlane.db-seal'));
    const raw = new DatabaseSync(join(at, 'parlane.db'));
    raw.exec('pragma user_version = 99');
    raw.close();
    await expect(openStore({ at })).rejects.toMatchObject({ code: 'store/newer', fields: { version: 99 } });
  });

  it('says who is in the way when the store is locked, at opening and while writing', async () => {
    const at = folder();
    const store = await openStore({ at, patienceMs: 50 });
    const rival = new DatabaseSync(join(at, 'parlane.db'));
    rival.exec('begin immediate');
    await expect(makeRun(store, 1)).rejects.toMatchObject({ code: 'store/locked' });
    rival.exec('rollback');
    await store.close();
    rival.exec('pragma journal_mode = delete; begin exclusive');
    await expect(openStore({ at, patienceMs: 50 })).rejects.toMatchObject({ code: 'store/locked' });
    rival.close();
  });

  it('refuses a folder that cannot be written', async () => {
    const at = join(folder(), 'read-only');
    mkdirSync(at);
    chmodSync(at, 0o555);
    chmodSync(join(at, '..'), 0o755);
    const script = `
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, 'open-store.ts'))};
      if (process.getuid() === 0) process.setuid(65534);
      await openStore({ at: process.argv[1] }).catch((error) => console.log(error.code));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, at], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const piece of child.stdout) said += piece;
    expect(said.trim()).toBe('store/not-writable');
    expect(existsSync(join(at, 'parlane.db'))).toBe(false);
  });

  it('lets two processes write the same store at once', async () => {
    const at = folder();
    await (await openStore({ at })).close();
    const script = `
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, 'open-store.ts'))};
      const store = await openStore({ at: process.argv[1] });
      const run = await store.createRun({ id: process.argv[2], name: '', createdAt: 1, snapshot: {}, options: {} });
      for (let at = 0; at < 150; at++) await run.saveRow({ index: at, status: 'passed' });
      await store.close();`;
    const write = (id: string): Promise<number | null> =>
      new Promise((resolve) => {
        spawn(process.execPath, ['--input-type=module', '-e', script, at, id], { stdio: 'inherit' }).on(
          'close',
          resolve,
        );
      });
    expect(await Promise.all([write('a'), write('b')])).toEqual([0, 0]);
    const store = await openStore({ at });
    for (const id of ['a', 'b']) expect((await (await store.openRun(runId(id)))?.rowCounts())?.total).toBe(150);
    await store.close();
  });
});
