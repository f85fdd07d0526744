/** A conversation that stands for one answer: what it is played with, and what it comes to as a reply. */
import type { Effects } from '../domain/effects.ts';
import type { Millis } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ToolCall } from '../domain/message.ts';
import { addedUsage, type Reply, type Usage } from '../domain/reply.ts';
import type { Trace } from '../grading/subject.ts';
import type { RenderedCase } from './render-case.ts';

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
}

/** Everything a simulated conversation needs to know about its test. */
export interface Asking {
  /** Of the simulated user. */
  readonly config: JsonObject;
  /** Who answers, and who plays the person. */
  readonly target: string;
  readonly person: string;
  readonly name: string;
  readonly rendered: RenderedCase;
  readonly params: JsonObject;
  readonly context: JsonObject;
  readonly repeat: { readonly repeatIndex?: number };
  readonly effects: Effects;
  render(template: string, vars: JsonObject): Promise<string>;
}

export interface Simulated {
  readonly kind: 'simulated';
  readonly reply: Reply;
  readonly latencyMs: Millis;
  /** When it knows better than the calls alone what happened. */
  readonly trace?: Trace;
}

const speaker = (role: Message['role']): string => (role === 'assistant' ? 'Assistant' : 'User');

/** Adds up the calls of a conversation and makes one reply of it. */
export class Sayings {
  #latencyMs = 0;
  #cost: number | undefined = 0;
  #cached = true;
  #usage: Usage = {};
  readonly #toolCalls: ToolCall[] = [];

  add(reply: Reply, latencyMs: Millis): void {
    this.#latencyMs += latencyMs;
    this.#cached &&= reply.cached;
    this.#cost =
      this.#cost === undefined || reply.costUsdMicros === undefined ? undefined : this.#cost + reply.costUsdMicros;
    this.#toolCalls.push(...reply.toolCalls);
    this.#usage = addedUsage(this.#usage, reply.usage);
  }

  /** The conversation as text, its messages beside it. */
  result(
    messages: readonly Message[],
    sessionId: Json | undefined,
    last: { readonly finishReason?: Reply['finishReason']; readonly guardrails?: Json } = {},
  ): Simulated {
    const output = messages.map(({ role, content }) => `${speaker(role)}: ${content}`).join('\n---\n');
    const { finishReason = 'stop', guardrails } = last;
    const reply: Reply = {
      kind: 'reply',
      text: output,
      output,
      toolCalls: this.#toolCalls,
      finishReason,
      status: 200,
      raw: '',
      flags: [],
      cached: this.#cached && messages.length > 0,
      usage: this.#usage,
      ...(this.#cost === undefined ? {} : { costUsdMicros: this.#cost }),
      metadata: {
        messages: messages.map((message) => ({ ...message })),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(guardrails === undefined ? {} : { guardrails }),
      },
    };
    return { kind: 'simulated', reply, latencyMs: this.#latencyMs };
  }
}
