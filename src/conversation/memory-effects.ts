/**
 * Effects without a world: a virtual clock, models given as functions, and a journal in memory. For tests of
 * conversations, ours and those of users. Run it twice with the same journal and the second run replays the first.
 */
import type { Effects, ModelCall, Recorded, StepTimes } from '../domain/effects.ts';
import { ParlaneError } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { FailureCode, Outcome, ProviderFailure, Reply } from '../domain/reply.ts';

export type ScriptedModel = (call: ModelCall, path: string) => Outcome | Promise<Outcome>;

export interface MemoryJournal {
  readonly steps: Map<string, { readonly kind: string; readonly request: string; readonly recorded: Recorded<Json> }>;
}

export interface MemoryEffectsOptions {
  readonly model: ScriptedModel;
  readonly startAt?: number;
  readonly latencyMs?: (role: string, path: string) => number;
  readonly queueMs?: (role: string, path: string) => number;
  readonly toolMs?: (path: string) => number;
  readonly journal?: MemoryJournal;
  readonly signal?: AbortSignal;
  /** Called before each step that is not replayed, as its journal would see it. Throwing here is a crash. */
  readonly onStep?: (kind: string, path: string) => void;
}

export const memoryJournal = (): MemoryJournal => ({ steps: new Map() });

export class MemoryEffects implements Effects {
  readonly signal: AbortSignal;
  readonly #options: MemoryEffectsOptions;
  readonly #journal: MemoryJournal;
  readonly #issued = new Set<string>();
  /** Every step in the order in which it was issued. */
  readonly log: { readonly kind: string; readonly path: string; readonly request: Json }[] = [];
  #now: number;

  constructor(options: MemoryEffectsOptions) {
    this.#options = options;
    this.#journal = options.journal ?? memoryJournal();
    this.signal = options.signal ?? new AbortController().signal;
    this.#now = options.startAt ?? Date.UTC(2026, 0, 5, 9);
  }

  model(path: string, call: ModelCall): Promise<Recorded<Outcome>> {
    const request: JsonObject = { role: call.role, provider: call.provider, request: call.request as unknown as Json };
    return this.#step(
      'model',
      path,
      request,
      async () => {
        if (this.signal.aborted) return [failureOf('aborted', 'cancelled'), 0];
        const latency = this.#options.latencyMs?.(call.role, path) ?? 500;
        if (call.timeoutMs !== undefined && latency > call.timeoutMs)
          return [failureOf('timeout', 'no answer in time'), call.timeoutMs];
        return [await this.#options.model(call, path), latency];
      },
      this.#options.queueMs?.(call.role, path) ?? 0,
    ) as Promise<Recorded<Outcome>>;
  }

  perform<T extends Json>(
    kind: 'tool' | 'webhook' | 'code',
    path: string,
    request: Json,
    effect: (options: { readonly signal: AbortSignal; readonly idempotencyKey: string }) => Promise<T>,
  ): Promise<Recorded<T>> {
    return this.#step(kind, path, request, async () => [
      await effect({ signal: this.signal, idempotencyKey: path }),
      this.#options.toolMs?.(path) ?? 20,
    ]);
  }

  async now(path: string): Promise<number> {
    return (await this.#step('now', path, null, async () => [this.#now, 0])).value;
  }

  async uuid(path: string): Promise<string> {
    return (
      await this.#step('uuid', path, null, async () => [
        `00000000-0000-4000-8000-${String(this.#journal.steps.size).padStart(12, '0')}`,
        0,
      ])
    ).value;
  }

  /** Time passes for a tool that waits. */
  readonly wait = async (ms: number): Promise<void> => {
    this.#now += ms;
  };

  async #step<T>(
    kind: string,
    path: string,
    request: Json,
    effect: () => Promise<[T, number]>,
    queueMs = 0,
  ): Promise<Recorded<T>> {
    if (this.#issued.has(path))
      throw new ParlaneError('bug/path-used-twice', `The path "${path}" was issued twice.`, '');
    this.#issued.add(path);
    this.log.push({ kind, path, request });
    const asked = JSON.stringify(request);
    const known = this.#journal.steps.get(path);
    if (known !== undefined) {
      if (known.request !== asked)
        throw new ParlaneError('replay/different', `The request at "${path}" differs from the recorded one.`, '', {
          was: known.request,
          is: asked,
        });
      this.#now = Math.max(this.#now, known.recorded.times.endedAt);
      return { ...(known.recorded as unknown as Recorded<T>), replayed: true };
    }
    this.#options.onStep?.(kind, path);
    const issuedAt = this.#now;
    const [value, latencyMs] = await effect();
    const startedAt = issuedAt + queueMs;
    const times: StepTimes = {
      startedAt,
      endedAt: startedAt + latencyMs,
      queueMs,
      backoffMs: 0,
      latencyMs,
      attempts: kind === 'model' ? 1 : 0,
    };
    this.#now = Math.max(this.#now, times.endedAt);
    const recorded = { value, times, replayed: false };
    this.#journal.steps.set(path, { kind, request: asked, recorded: recorded as unknown as Recorded<Json> });
    return recorded;
  }
}

/** A reply as a provider would give it. */
export function replyOf(
  text: string,
  calls: readonly (readonly [name: string, args: Json | string, id?: string])[] = [],
  extra: Partial<Reply> = {},
): Reply {
  return {
    kind: 'reply',
    text,
    output: text,
    toolCalls: calls.map(([name, args, id], at) => ({
      id: id ?? `call_${name}_${text.length}_${at}`,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    })),
    usage: { inputTokens: 100, outputTokens: 10 },
    costUsdMicros: 50,
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
    status: 200,
    raw: '',
    flags: [],
    cached: false,
    ...extra,
  };
}

export const failureOf = (code: FailureCode, message: string): ProviderFailure => ({
  kind: 'failure',
  code,
  message,
  retryable: false,
  billed: 'no',
});

/** A model that gives these answers one after the other, per role; the last one of a role is repeated. */
export function scriptedModel(answers: Readonly<Record<string, readonly Outcome[]>>): ScriptedModel {
  const used = new Map<string, number>();
  return (call) => {
    const list = answers[call.role];
    if (list === undefined || list.length === 0)
      throw new ParlaneError('test/no-answer', `There is no answer for "${call.role}".`, '');
    const at = used.get(call.role) ?? 0;
    used.set(call.role, at + 1);
    return list[Math.min(at, list.length - 1)] as Outcome;
  };
}
