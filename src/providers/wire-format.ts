/**
 * What a wire format is: how one vendor's call becomes a request, and its answer a draft of the reply. What all vendors
 * share happens around it, in `network-provider.ts`.
 */
import type { Json } from '../domain/json.ts';
import type { ModelRequest, ToolCall } from '../domain/message.ts';
import type { CallOptions } from '../domain/provider.ts';
import type { FinishReason, Usage } from '../domain/reply.ts';
import type { HttpHead, HttpRequest, HttpResponse } from './http-client.ts';

/** A successful answer, ready for a wire format to read. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: Json;
  readonly raw: string;
}

/** What a wire format makes of an answer; the rest of the reply is the same for all. */
export interface ReplyDraft {
  readonly kind: 'draft';
  readonly text: string;
  readonly output: Json;
  readonly toolCalls?: readonly ToolCall[];
  readonly reasoning?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly finishReason: FinishReason;
  readonly finishReasonRaw?: string | undefined;
  readonly servedModel?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly flags?: readonly string[];
  readonly embedding?: readonly number[];
  readonly scores?: Readonly<Record<string, number>>;
  readonly flagged?: boolean;
  readonly metadata?: { readonly [key: string]: Json };
}

/** A problem a format found: in the request before sending, or in the answer. */
export interface FormatProblem {
  readonly kind: 'problem';
  /** `by-status`: an error answer after all, to be told by its status. */
  readonly code: 'invalid_request' | 'bad_response' | 'empty_response' | 'error_answer' | 'program' | 'by-status';
  readonly message: string;
}

export interface WireFormat {
  /** One call as one request; a problem when it cannot be said on this wire. */
  build(
    request: ModelRequest,
    options: CallOptions,
  ): HttpRequest | FormatProblem | Promise<HttpRequest | FormatProblem>;
  /** A 2xx answer as a draft of the reply. */
  read(
    answer: Answer,
    request: ModelRequest,
    options: CallOptions,
  ): ReplyDraft | FormatProblem | Promise<ReplyDraft | FormatProblem>;
  /** True when the body need not be JSON: `body` is then the text. */
  readonly anyBody?: true;
  /** Told of every error answer's head. */
  onError?(head: HttpHead): void;
  /** Which statuses count as answers; 2xx unless told. */
  accepts?(status: number): boolean;
}

/** For formats: a usage object, or undefined when nothing was said at all. */
export function usageOf(parts: { readonly [K in keyof Usage]?: number | undefined }): Usage | undefined {
  const said = Object.entries(parts).filter(([, count]) => count !== undefined);
  return said.length === 0 ? undefined : (Object.fromEntries(said) as Usage);
}

export const problem = (code: FormatProblem['code'], message: string): FormatProblem => ({
  kind: 'problem',
  code,
  message,
});
