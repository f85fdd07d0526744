import type { ServerReply } from '../replies.ts';
import type { SeenRequest } from '../seen-request.ts';

export type WireName =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-responses'
  | 'openai-embeddings'
  | 'openai-moderations'
  | 'azure-chat'
  | 'anthropic-messages'
  | 'gemini'
  | 'gemini-embeddings'
  | 'bedrock-converse'
  | 'ollama-chat'
  | 'ollama-generate'
  | 'ollama-embeddings';

/** What went wrong, in words that every vendor has an expression for. */
export type ErrorClass =
  | 'rate_limited'
  | 'tokens_limited'
  | 'daily'
  | 'quota'
  | 'overloaded'
  | 'server'
  | 'timeout'
  | 'conflict'
  | 'auth'
  | 'region'
  | 'not_found'
  | 'context_length'
  | 'content_filter'
  | 'too_large'
  | 'skewed_clock'
  | 'invalid';

export interface ServerError {
  readonly status: number;
  readonly class: ErrorClass;
  readonly message: string;
  /** For vendors that put the wait into the body. */
  readonly retryAfterMs?: number;
}

/** Ways in which a well-formed answer can be odd. */
export interface ReplyQuirks {
  readonly usage?: 'absent' | 'zero' | 'negative';
  /** No choices, candidates or content at all. */
  readonly empty?: boolean;
  /** Null content beside reasoning. */
  readonly nullContent?: boolean;
  /** 200 on the outside, failed on the inside. */
  readonly failedInside?: 'error' | 'finish' | 'status';
}

export interface CountedReply extends ServerReply {
  readonly text: string;
  readonly finish: NonNullable<ServerReply['finish']>;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One vendor format: reads what matters of a request, and writes answers and errors. */
export interface Wire {
  readonly name: WireName;
  write(reply: CountedReply, quirks: ReplyQuirks, request: SeenRequest): object;
  writeError(error: ServerError): object;
  /** The status this vendor gives an error that others give another. */
  statusOf?(error: ServerError): number;
  /** Headers that belong to an error of this vendor. */
  errorHeaders?(error: ServerError): Record<string, string>;
}
