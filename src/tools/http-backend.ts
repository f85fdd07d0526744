import type { Millis } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { HttpPort } from './http-port.ts';
import { longestResult } from './parse-result.ts';

export interface HttpCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Who asks: session, tool, path. */
  readonly call: JsonObject;
  readonly args: JsonObject;
  readonly idempotencyKey: string;
  /** For all tries together. */
  readonly timeoutMs: Millis;
  readonly signal: AbortSignal;
}

export interface HttpBackendPorts {
  readonly http: HttpPort;
  readonly wait: (ms: Millis, signal: AbortSignal) => Promise<void>;
}

const tries = 3;
const worthAnother = new Set([502, 503, 504]);

/** Asks a tool's server. Gateway errors and timeouts are tried again while there is time; everything else is final. */
export async function runHttp(call: HttpCall, ports: HttpBackendPorts): Promise<string> {
  let fault = '';
  // Each try has its share of the time, so that one that hangs leaves room for the next.
  const share = Math.max(1, Math.floor(call.timeoutMs / tries));
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    if (attempt > 1) await ports.wait(Math.min(200 * 2 ** (attempt - 2), share), call.signal);
    const answer = await ports.http.post({
      url: call.url,
      headers: { ...call.headers, 'content-type': 'application/json', 'idempotency-key': call.idempotencyKey },
      body: JSON.stringify({ call: call.call, args: call.args }),
      timeoutMs: share,
      maxBytes: longestResult,
      signal: call.signal,
    });
    if (answer.kind === 'fault') throw new Error(answer.message);
    if (answer.kind === 'answer' && answer.status >= 200 && answer.status < 300) return answer.text;
    if (answer.kind === 'answer' && !worthAnother.has(answer.status)) throw new Error(refusal(answer.status));
    fault = answer.kind === 'answer' ? refusal(answer.status) : answer.message;
  }
  throw new Error(`${fault} (tried ${tries} times)`);
}

const refusal = (status: number): string =>
  status >= 300 && status < 400
    ? `its server answered ${status}, a redirect, which is not followed`
    : `its server answered ${status}`;
