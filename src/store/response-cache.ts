/**
 * Answers of earlier evals, one small file each. An answer is found again only for the same provider with the same
 * settings, the same prompt and parameters, and the same repeat; calls that do not say which settings they were made
 * with are never kept, and neither is what a content filter left of an answer.
 */
import { hash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json } from '../domain/json.ts';
import type { ModelRequest } from '../domain/message.ts';
import type { Provider } from '../domain/provider.ts';
import type { Reply } from '../domain/reply.ts';
import { makeFolder } from '../platform/make-folder.ts';

export interface FileCacheOptions {
  readonly folder: string;
  readonly now: () => number;
  /** Answers older than this are not used; two weeks unless told. */
  readonly maxAgeMs?: number;
}

const twoWeeks = 14 * 24 * 3_600_000;

/** What must be equal for an answer to be the answer; undefined when the call does not say enough. */
function keyOf(provider: Provider, request: ModelRequest): string | undefined {
  if (request.kind !== 'chat') return undefined;
  const { context, ...asked } = request;
  const settings: Json | undefined = context?.['settings'];
  if (typeof settings !== 'string') return undefined;
  return hash('sha256', JSON.stringify([provider.id, provider.laneKey, settings, asked]));
}

/** Opens the cache of a project; nothing is made on disk before the first answer is kept. */
export function openResponseCache({ folder, now, maxAgeMs = twoWeeks }: FileCacheOptions) {
  const pathOf = (key: string): string => join(folder, key.slice(0, 2), `${key}.json`);
  return {
    async lookup(provider: Provider, request: ModelRequest): Promise<Reply | undefined> {
      const key = keyOf(provider, request);
      if (key === undefined) return undefined;
      try {
        const path = pathOf(key);
        if (now() - (await stat(path)).mtimeMs > maxAgeMs) return undefined;
        return JSON.parse(await readFile(path, 'utf8')) as Reply;
      } catch {
        // Missing or damaged: the call is made as if there were no cache.
        return undefined;
      }
    },
    async keep(provider: Provider, request: ModelRequest, reply: Reply): Promise<void> {
      const key = keyOf(provider, request);
      if (key === undefined || reply.cached || reply.finishReason === 'content_filter') return;
      const path = pathOf(key);
      const draft = `${path}.${hash('sha256', JSON.stringify([reply.raw, now()])).slice(0, 8)}.tmp`;
      try {
        makeFolder(dirname(path), 0o700);
        await writeFile(draft, JSON.stringify(reply), { mode: 0o600 });
        await rename(draft, path);
      } catch {
        // A cache that cannot be written must not fail a call that was answered.
      }
    },
  };
}
