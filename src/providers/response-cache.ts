/**
 * Answers kept for the same question. Its job: to give back a reply that was paid for already. Not its job: to decide
 * whether a run wants it, and to speak to a provider.
 *
 * 1. A hit never enters a lane: it is looked up before, and feeds neither rates nor limits.
 * 2. Failures and filtered content are never kept.
 * 3. The key has everything that reaches the wire and the repeat index; a provider without a key is not cached.
 * 4. A file that cannot be read is a miss, never an error.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelRequest } from '../domain/message.ts';
import type { Provider } from '../domain/provider.ts';
import type { Outcome, Reply } from '../domain/reply.ts';

/** Where replies are kept. */
export interface ReplyStorage {
  read(key: string): Promise<Reply | undefined>;
  write(key: string, reply: Reply): Promise<void>;
}

export interface ResponseCache {
  /** The kept reply, marked as cached and free of charge; undefined when there is none. */
  lookUp(provider: Provider, request: ModelRequest): Promise<Reply | undefined>;
  /** Keeps a reply; anything else is left alone. */
  keep(provider: Provider, request: ModelRequest, outcome: Outcome): Promise<void>;
}

export function createResponseCache(storage: ReplyStorage): ResponseCache {
  return {
    async lookUp(provider, request) {
      const key = await provider.cacheKey?.(request);
      const found = key === undefined ? undefined : await storage.read(key);
      if (found === undefined) return undefined;
      const { hints: _, ...reply } = found;
      return { ...reply, cached: true, costUsdMicros: 0 };
    },
    async keep(provider, request, outcome) {
      if (outcome.kind !== 'reply' || outcome.cached || outcome.finishReason === 'content_filter') return;
      const key = await provider.cacheKey?.(request);
      if (key !== undefined) await storage.write(key, outcome);
    },
  };
}

/** Replies as files below a folder, readable by their owner only. */
export function createFolderStorage(folder: string): ReplyStorage {
  const pathOf = (key: string): string => join(folder, key.slice(0, 2), `${key}.json`);
  return {
    async read(key) {
      try {
        const kept = JSON.parse(await readFile(pathOf(key), 'utf8')) as { sum?: unknown; reply?: Reply };
        return kept.reply !== undefined && kept.sum === sumOf(kept.reply) ? kept.reply : undefined;
      } catch {
        return undefined;
      }
    },
    async write(key, reply) {
      const path = pathOf(key);
      const draft = `${path}.${randomUUID()}`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await writeFile(draft, JSON.stringify({ sum: sumOf(reply), reply }), { mode: 0o600 });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}

const sumOf = (reply: Reply): string =>
  createHash('sha256').update(JSON.stringify(reply)).digest('base64url').slice(0, 16);
