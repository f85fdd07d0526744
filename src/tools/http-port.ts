import type { Millis } from '../domain/ids.ts';

/** One POST to a tool or webhook: no redirects, no metadata addresses, bounded time and size. Never rejects. */
export interface HttpPort {
  post(request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutMs: Millis;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
  }): Promise<HttpAnswer>;
}

export type HttpAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** Nothing usable came back. `timeout` faults may be tried again, `fault`s may not. */
  | { readonly kind: 'timeout' | 'fault'; readonly message: string };
