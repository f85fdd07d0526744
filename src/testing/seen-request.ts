import type { IncomingHttpHeaders } from 'node:http';
import type { EpochMillis, Tokens } from '../domain/ids.ts';
import type { WireName } from './wires/wire.ts';

/** One request as the server saw it; what callbacks get and what faults and limits look at. */
export interface SeenRequest {
  /** Position among all requests of this server, from 1. */
  readonly number: number;
  /** Position among the requests of this key, from 1. */
  readonly keyNumber: number;
  readonly at: EpochMillis;
  readonly wire: WireName;
  /** The credential as sent; `""` when there was none. */
  readonly key: string;
  readonly model: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as parsed, `{}` when it is not an object. */
  readonly body: Record<string, unknown>;
  /** All texts of the request, joined. */
  readonly prompt: string;
  /** The last text a user said. */
  readonly lastText: string;
  /** Names of the tools offered. */
  readonly tools: readonly string[];
  readonly stream: boolean;
  readonly inputTokens: Tokens;
  readonly maxTokens: Tokens | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of the body's bytes: equal bodies have equal hashes. */
  readonly promptHash: string;
}
