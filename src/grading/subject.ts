import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Millis, UsdMicros } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';
import type { Usage } from '../domain/reply.ts';

/** One timed thing that happened on the way to the answer, in the shape tracing tools use. */
export interface Span {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTime: Millis;
  readonly endTime?: Millis;
  readonly attributes?: JsonObject;
  /** 2 is an error, 0 and 1 are not. */
  readonly statusCode?: number;
  readonly statusMessage?: string;
}

export interface Trace {
  readonly traceId: string;
  readonly spans: readonly Span[];
  readonly metadata?: JsonObject;
}

/** What is known about the reply beside its output; an absent part was not told. */
export interface ReplyFacts {
  /** Absent: the price is unknown, which is not 0. */
  readonly costUsdMicros?: UsdMicros;
  /** Working time of the call; absent for answers from the cache. */
  readonly latencyMs?: Millis;
  readonly cached?: boolean;
  /** The vendor's own word. */
  readonly finishReason?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly usage?: Usage;
  readonly guardrails?: {
    readonly flagged: boolean;
    readonly flaggedInput?: boolean;
    readonly flaggedOutput?: boolean;
    readonly reason?: string;
  };
  readonly raw?: Json;
  readonly metadata?: JsonObject;
  readonly logProbs?: readonly number[];
}

/** The parts of a conversation's result that checks look at. */
export type Conversation = Pick<ConversationResult, 'conversation_history' | 'total_turns'> &
  Partial<
    Pick<ConversationResult, 'final_state' | 'variables' | 'termination_reason' | 'status' | 'scenario'> & {
      readonly metrics: Partial<ConversationResult['metrics']>;
    }
  >;

/** What is graded: an answer with everything known about how it came to be. */
export interface Subject {
  /** After all transforms of the case. For a conversation: anything; text checks read the transcript instead. */
  readonly output: Json;
  /** The prompt as it was sent. */
  readonly prompt?: string;
  readonly vars: JsonObject;
  readonly reply?: ReplyFacts;
  /** Who answered: id, label and config as written, for user code and for tool-call checks. */
  readonly provider?: { readonly id: string; readonly label?: string; readonly config?: JsonObject };
  /** The test as the config says it, for user code. */
  readonly test?: JsonObject;
  /** The output before the test's own transform, for `contextTransform`. */
  readonly providerOutput?: Json;
  readonly trace?: Trace;
  readonly conversation?: Conversation;
}
