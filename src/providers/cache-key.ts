import { createHash } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import type { ModelRequest } from '../domain/message.ts';
import type { HttpRequest } from './http-client.ts';

/** Settings that are secret, or that change neither the request nor what is made of the answer. */
const leftOut = new Set([
  'apiKey',
  'apiKeyEnvar',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'profile',
  'headers',
  'auth',
  'lane',
  'timeoutMs',
  'maxRetries',
]);

/** What would reach the wire, what is made of the answer, and which repeat it is. Repeats are different calls. */
export function cacheKeyOf(wire: HttpRequest, config: JsonObject, request: ModelRequest): string {
  const settings = Object.entries(config).filter(([name]) => !leftOut.has(name));
  const hash = createHash('sha256');
  for (const part of [
    wire.method,
    wire.url.href,
    wire.body ?? '',
    JSON.stringify(settings),
    String(request.repeatIndex ?? 0),
  ]) {
    hash.update(part).update('\0');
  }
  return hash.digest('hex');
}
