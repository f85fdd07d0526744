import type { BucketReading, LimitedResource } from './limit-scope.ts';
import type { ServerReply } from './replies.ts';
import type { ReplyQuirks, ServerError } from './wires/wire.ts';

/** Harm done to bytes and sockets instead of to contents. */
export type TransportHarm =
  | 'reset-before-head'
  | 'reset-in-body'
  | 'hang'
  | 'drip'
  | 'length-too-long'
  | 'length-too-short'
  | 'endless'
  | 'gzip-bomb'
  | 'bad-chunk'
  | 'no-final-chunk'
  | 'stale-connection';

/** Harm done to server-sent events; only a request that asked for a stream meets it as such. */
export type StreamHarm = 'stall' | 'error-event' | 'no-end' | 'split-bytes' | 'keep-alives' | 'no-usage';

/** What the server does instead of answering plainly. */
export type FaultAct =
  | { readonly do: 'error'; readonly error: ServerError; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly do: 'reply';
      readonly reply?: ServerReply;
      readonly quirks?: ReplyQuirks;
      readonly headers?: Readonly<Record<string, string>>;
      /** Told in the vendor's own style instead of the real buckets. */
      readonly readings?: Partial<Record<LimitedResource, BucketReading>>;
      /** Changes the finished JSON text on its way out. */
      readonly spoil?: (json: string) => string | Buffer;
      /** Sends the previous answer of this key again. */
      readonly replayed?: boolean;
    }
  | {
      readonly do: 'verbatim';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly do: 'redirect'; readonly status: number; readonly to: 'same-origin' | 'metadata' }
  | { readonly do: 'transport'; readonly harm: TransportHarm }
  | { readonly do: 'stream'; readonly harm: StreamHarm }
  /** Happens before a request can reach a server. */
  | { readonly do: 'unreachable'; readonly how: string };
