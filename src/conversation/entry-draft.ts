import type { HistoryEntry, RecordedToolCall, Round } from '../domain/conversation-result.ts';
import type { StepTimes } from '../domain/effects.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Reply } from '../domain/reply.ts';

export const isoTime = (at: EpochMillis): string => new Date(at).toISOString();

/** One speaker's part of a turn while it grows. Calls and results stay aligned by position: they are only added together. */
export class EntryDraft {
  readonly #turn: number;
  readonly #speaker: string;
  readonly #rounds: Round[] = [];
  readonly #calls: RecordedToolCall[] = [];
  readonly #results: Json[] = [];
  #startedAt: EpochMillis | undefined;
  #endedAt: EpochMillis = 0;
  #queueMs: Millis = 0;
  #latencyMs: Millis = 0;
  #toolMs: Millis = 0;
  #finishReason: string | undefined;

  constructor(turn: number, speaker: string) {
    this.#turn = turn;
    this.#speaker = speaker;
  }

  get words(): string {
    return this.#rounds
      .map(({ content }) => content)
      .filter((text) => text !== '')
      .join('\n');
  }

  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  get isEmpty(): boolean {
    return this.#rounds.length === 0;
  }

  addReply(content: string, reply: Reply, times: StepTimes): void {
    this.#see(times);
    this.#queueMs += times.queueMs + times.backoffMs;
    this.#latencyMs += times.latencyMs;
    this.#finishReason =
      reply.finishReason === 'stop' || reply.finishReason === 'tool_calls' ? undefined : reply.finishReason;
    this.#rounds.push({
      content,
      queue_ms: times.queueMs + times.backoffMs,
      latency_ms: times.latencyMs,
      ...(reply.servedModel === undefined ? {} : { served_model: reply.servedModel }),
      ...(reply.fingerprint === undefined ? {} : { fingerprint: reply.fingerprint }),
    });
  }

  addCalls(calls: readonly RecordedToolCall[], results: readonly Json[], toolMs: Millis, endedAt: EpochMillis): void {
    const last = this.#rounds.pop();
    if (last !== undefined) this.#rounds.push({ ...last, tool_calls: calls });
    this.#calls.push(...calls);
    this.#results.push(...results);
    this.#toolMs += toolMs;
    this.#endedAt = Math.max(this.#endedAt, endedAt);
  }

  /** The entry as history keeps it. `content` stands in for the words when given. */
  close(side: 'agent' | 'client', content: string = this.words): HistoryEntry {
    const results = side === 'agent' ? { tool_results: this.#results } : { client_tool_results: this.#results };
    return {
      turn: this.#turn,
      speaker: this.#speaker,
      content,
      ...(this.hasCalls ? { tool_calls: this.#calls, ...results } : {}),
      timestamp: isoTime(this.#endedAt),
      started_at: isoTime(this.#startedAt ?? this.#endedAt),
      queue_ms: this.#queueMs,
      latency_ms: this.#latencyMs,
      ...(this.#toolMs > 0 ? { tool_ms: this.#toolMs } : {}),
      ...(this.#rounds.length > 1 || this.#rounds[0]?.served_model !== undefined ? { rounds: this.#rounds } : {}),
      ...(this.#finishReason === undefined ? {} : { finish_reason: this.#finishReason }),
    };
  }

  #see(times: StepTimes): void {
    this.#startedAt ??= times.startedAt;
    this.#endedAt = Math.max(this.#endedAt, times.endedAt);
  }
}

/** An entry whose words no model made. */
export const scriptedEntry = (
  turn: number,
  content: string,
  at: EpochMillis,
  calls: readonly RecordedToolCall[] = [],
  results: readonly Json[] = [],
): HistoryEntry => ({
  turn,
  speaker: 'client',
  content,
  ...(calls.length > 0 ? { tool_calls: calls, client_tool_results: results } : {}),
  timestamp: isoTime(at),
  started_at: isoTime(at),
  queue_ms: 0,
  latency_ms: 0,
  scripted: true,
});
