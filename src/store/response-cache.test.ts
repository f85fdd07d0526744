import { globSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { echoProvider, reply } from '../../test/support/run-harness.ts';
import type { ModelRequest } from '../domain/message.ts';
import { openResponseCache } from './response-cache.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlane-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const provider = echoProvider('a');
const ask = (prompt: string, settings: string | undefined, more: object = {}): ModelRequest => ({
  kind: 'chat',
  prompt,
  context: settings === undefined ? {} : { settings },
  ...more,
});

it('gives an answer back for the same settings, prompt, parameters and repeat, and for nothing else', async () => {
  const cache = openResponseCache({ folder, now: Date.now });
  await cache.keep(provider, ask('p', 's'), reply('kept'));
  expect((await cache.lookup(provider, ask('p', 's')))?.text).toBe('kept');
  const others = [
    ask('q', 's'),
    ask('p', 't'),
    ask('p', 's', { repeatIndex: 1 }),
    ask('p', 's', { params: { temperature: 1 } }),
  ];
  for (const other of others) expect(await cache.lookup(provider, other)).toBeUndefined();
  expect(await cache.lookup(echoProvider('b'), ask('p', 's'))).toBeUndefined();
});

it('keeps nothing of a call that does not say its settings', async () => {
  const cache = openResponseCache({ folder, now: Date.now });
  await cache.keep(provider, ask('p', undefined), reply('kept'));
  expect(globSync('**/*.json', { cwd: folder })).toEqual([]);
});

it('keeps nothing that a content filter cut, and nothing that came from the cache itself', async () => {
  const cache = openResponseCache({ folder, now: Date.now });
  await cache.keep(provider, ask('p', 's'), { ...reply('cut'), finishReason: 'content_filter' });
  await cache.keep(provider, ask('p', 's'), { ...reply('again'), cached: true });
  expect(await cache.lookup(provider, ask('p', 's'))).toBeUndefined();
});

it('does not use what is old or damaged', async () => {
  const cache = openResponseCache({ folder, now: Date.now });
  await cache.keep(provider, ask('p', 's'), reply('kept'));
  const path = join(folder, globSync('**/*.json', { cwd: folder })[0] ?? '');
  utimesSync(path, 0, 0);
  expect(await cache.lookup(provider, ask('p', 's'))).toBeUndefined();
  writeFileSync(path, '{"half');
  expect(await cache.lookup(provider, ask('p', 's'))).toBeUndefined();
});
