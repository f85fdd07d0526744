import type { SeenRequest } from './seen-request.ts';

/** A tool call of a programmed reply; `arguments` is sent exactly as written, broken JSON included. */
export interface ServerToolCall {
  readonly name: string;
  readonly arguments: string;
  readonly id?: string;
}

export interface ServerUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

/** What the server answers, before it is put into a vendor's format. */
export interface ServerReply {
  readonly text?: string;
  readonly toolCalls?: readonly ServerToolCall[];
  readonly reasoning?: string;
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'refusal';
  readonly usage?: ServerUsage;
  /** The model that claims to have answered. */
  readonly model?: string;
}

/** Text or a reply for every request; a list is used up in order (the last one stays); a function sees the request. */
export type ReplySource =
  | string
  | ServerReply
  | readonly (string | ServerReply)[]
  | ((request: SeenRequest) => string | ServerReply | Promise<string | ServerReply>);

/** What stands when nothing is programmed. */
export const echoReply = (request: SeenRequest): string => `echo: ${request.lastText}`;

const asReply = (reply: string | ServerReply): ServerReply => (typeof reply === 'string' ? { text: reply } : reply);

/** The reply to the `turn`-th request (from 0) of a source. */
export function replyTo(source: ReplySource, request: SeenRequest, turn: number): ServerReply | Promise<ServerReply> {
  if (typeof source === 'function') {
    const reply = source(request);
    return reply instanceof Promise ? reply.then(asReply) : asReply(reply);
  }
  if (typeof source === 'string' || !Array.isArray(source)) return asReply(source as string | ServerReply);
  return asReply((source[Math.min(turn, source.length - 1)] as string | ServerReply | undefined) ?? '');
}
