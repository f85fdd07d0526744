/**
 * Every kind of trouble against every adapter, as data: what it comes to, or why it cannot happen there.
 *
 * Numbers are the kinds of `fault-kinds.ts`; T rows are tool calls, W rows are webhooks. A reaction is what the product
 * does as a whole; `outcome` and what follows is what an adapter must hand to its lane so that it happens.
 */
import type { FailureCode, FinishReason } from '../domain/reply.ts';
import { conversationRows } from './fault-matrix/conversation-rows.ts';
import { httpRows } from './fault-matrix/http-rows.ts';

export const matrixAdapters = [
  'openai-chat',
  'openai-responses',
  'openai-completion',
  'openai-embedding',
  'openai-moderation',
  'openai-compatible',
  'azure',
  'anthropic',
  'bedrock',
  'google',
  'ollama-chat',
  'ollama-completion',
  'ollama-embeddings',
  'http',
  'program',
  'sim',
] as const;
export type MatrixAdapter = (typeof matrixAdapters)[number];

/**
 * `park`: the lane waits for the named time, the call is tried again. `retry`: again after a backoff. `retry-once`: one
 * more try. `fail-case`: this call only. `close-lane`: everything left in the lane gets the same failure, unsent.
 * `result`: an answer, graded as it is. `tell-model`: an error result goes back to the model. `policy`: the user's own.
 */
export type ReactionKind =
  | 'park'
  | 'retry'
  | 'retry-once'
  | 'fail-case'
  | 'close-lane'
  | 'result'
  | 'tell-model'
  | 'end-conversation'
  | 'policy';

/** What an adapter must hand over. */
export interface WireReaction {
  readonly reaction: ReactionKind;
  /** A reply, or one of these failures. */
  readonly outcome: 'reply' | readonly FailureCode[];
  readonly finish?: readonly FinishReason[];
  /** Flags that the reply must carry. */
  readonly flags?: readonly string[];
  /** The wait that must have been understood; `null`: none. */
  readonly retryAfterMs?: readonly [from: number, to: number] | null;
  /** What the hints must say is left of the requests. */
  readonly remaining?: number;
  /** The cost must be unknown. */
  readonly costUnknown?: true;
  readonly billed?: 'no' | 'maybe';
}

export type Cell = WireReaction | { readonly na: string };

/** One form of one kind of trouble. */
export interface HttpRow {
  readonly kind: number;
  readonly variant: string;
  readonly cell: WireReaction;
  /** Adapters that react otherwise, or cannot meet it. */
  readonly except?: Readonly<Partial<Record<MatrixAdapter, Cell>>>;
}

/** A trouble of the conversation engine or a webhook. */
export interface ConversationRow {
  /** `T1`..., `W1`... */
  readonly id: string;
  readonly title: string;
  readonly reaction: ReactionKind;
  readonly detail: string;
}

export interface FaultMatrix {
  readonly http: readonly HttpRow[];
  readonly tools: readonly ConversationRow[];
  readonly webhooks: readonly ConversationRow[];
}

export const faultMatrix: FaultMatrix = {
  http: httpRows,
  tools: conversationRows.filter(({ id }) => id.startsWith('T')),
  webhooks: conversationRows.filter(({ id }) => id.startsWith('W')),
};

const noWire: Readonly<Partial<Record<MatrixAdapter, string>>> = {
  program: "no wire of ours: what a user's program meets is its own affair, and its failure is typed `program`",
  sim: 'no wire: simulated models have faults of their own, by setting',
};

/** The reaction of one adapter to one form of trouble. */
export function cellOf(row: HttpRow, adapter: MatrixAdapter): Cell {
  const why = noWire[adapter];
  return why === undefined ? (row.except?.[adapter] ?? row.cell) : { na: why };
}
