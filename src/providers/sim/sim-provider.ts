/**
 * The embedded simulated provider: no key, no network, the run's own clock.
 * Its job: one call becomes one answer or failure, after its latency, under its limits. What it says: sim-model.ts.
 *
 * 1. The same request, options and seed give the same words; a fault drawn for one attempt need not meet the next.
 * 2. Time passes on the given clock only.
 * 3. Whatever a call took from the limits is settled once, also when it is aborted.
 */

import { hashText } from '../../domain/hash-text.ts';
import { laneKey, type Millis } from '../../domain/ids.ts';
import type { ModelRequest } from '../../domain/message.ts';
import type { CallOptions, Provider } from '../../domain/provider.ts';
import type {
  FinishReason,
  Outcome,
  ProviderFailure,
  RateHints,
  RateReading,
  Reply,
  Usage,
} from '../../domain/reply.ts';
import { seededRandom } from '../../domain/seeded-random.ts';
import type { Clock } from '../../platform/clock.ts';
import { drawLatency, typicalLatency } from '../../sim/latency-model.ts';
import type { SimRequest } from '../../sim/server-model.ts';
import { accountingProfiles } from '../accounting.ts';
import type { ProviderContext, ProviderFactory, ProviderOptions } from '../provider-factory.ts';
import { type SimAnswer, toolCallsOf } from './dialogue.ts';
import { drawFault, failureOf, malformed, type SimFault } from './sim-faults.ts';
import { SimLimiter, type SimRefusal } from './sim-limiter.ts';
import { answerOf } from './sim-model.ts';
import { readSimOptions, type SimOptions } from './sim-options.ts';
import { vectorOf } from './sim-vector.ts';

type CountedUsage = Required<Pick<Usage, 'inputTokens' | 'outputTokens'>>;

const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** Waits on the clock; true when the wait was cut short. */
function wait(ms: Millis, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(true);
  if (ms <= 0) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel();
      resolve(true);
    };
    const cancel = clock.at(clock.now() + ms, () => {
      signal.removeEventListener('abort', stop);
      resolve(false);
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}

class SimProvider implements Provider {
  readonly id: string;
  readonly label?: string;
  readonly model: string;
  readonly laneKey;
  readonly nodes;
  readonly accounting = accountingProfiles.plain;
  readonly ceiling: number;
  readonly delayMs?: number;
  readonly expectedLatency;
  readonly #options: SimOptions;
  readonly #clock: Clock;
  readonly #limiter: SimLimiter;
  /** Attempts per call that met a fault; a call that was answered is forgotten. */
  readonly #attempts = new Map<string, number>();

  constructor(options: ProviderOptions, sim: SimOptions, clock: Clock) {
    this.id = options.id;
    if (options.label !== undefined) this.label = options.label;
    if (options.delayMs !== undefined) this.delayMs = options.delayMs;
    this.model = `sim:${sim.preset}`;
    const key = laneKey(options.id);
    this.laneKey = key;
    this.nodes = [options.limits === undefined ? { key } : { key, limits: options.limits }];
    this.ceiling = 64;
    this.expectedLatency = typicalLatency(sim.latency);
    this.#options = sim;
    this.#clock = clock;
    this.#limiter = new SimLimiter(sim);
  }

  price({ inputTokens, outputTokens }: Usage): number | undefined {
    const { price } = this.#options;
    return Math.round((inputTokens ?? 0) * price.input + (outputTokens ?? 0) * price.output);
  }

  async call(request: ModelRequest, options: CallOptions): Promise<Outcome> {
    const { signal } = options;
    if (signal.aborted) return this.#aborted();
    const text = JSON.stringify(request);
    const identity = hashText(text, this.#options.seed).toString(16);
    const attempt = this.#attempts.get(identity) ?? 0;
    const random = seededRandom(hashText(`${identity} ${attempt}`, this.#options.seed));
    const fault = drawFault(this.#options.rates, random);
    if (fault !== undefined) this.#attempts.set(identity, attempt + 1);
    else this.#attempts.delete(identity);
    const answer = request.kind === 'chat' ? this.#altered(answerOf(request, this.#options), fault) : undefined;
    const usage = usageOf(request, answer);
    const weight = weightOf(request, usage);
    const latency = drawLatency(this.#options.latency, random) * (fault === 'slow' ? 10 : 1);
    const admission = this.#limiter.admit(weight, latency, this.#clock.now());
    const hints = this.#hints(admission.readings, undefined);
    if (admission.refusal) return this.#refused(admission.refusal, admission.readings, options);
    try {
      if (fault === 'hang') return await this.#hang(signal, hints);
      if (await wait(latency + admission.queuedMs, this.#clock, signal)) return this.#aborted();
      options.onHead?.(hints);
      const told = fault === 'limited' ? this.#hints(admission.readings, 2000) : hints;
      const failed = fault && failureOf(fault, this.id, told);
      return failed ?? this.#reply(request, answer, usage, identity, hints, fault);
    } finally {
      this.#limiter.complete(weight, this.#clock.now());
    }
  }

  #altered(answer: SimAnswer, fault: SimFault | undefined): SimAnswer {
    if (fault === 'malformed') {
      return { ...answer, calls: answer.calls.map((call) => ({ ...call, arguments: malformed(call.arguments) })) };
    }
    if (fault === 'cut') return { ...answer, text: answer.text.slice(0, Math.ceil(answer.text.length / 2)) };
    if (fault === 'refuse') return { text: 'I cannot help with that.', calls: [] };
    return fault === 'filter' ? { text: '', calls: [] } : answer;
  }

  #hints(all: readonly RateReading[], waitMs: Millis | undefined): RateHints {
    const style = this.#options.hints;
    const readings = style === 'all' || style === 'headers' ? all : [];
    if (waitMs === undefined || style === 'none' || style === 'headers') return { readings };
    const inSeconds = style === 'seconds' || style === 'http-date';
    return { readings, retryAfterMs: inSeconds ? Math.ceil(waitMs / 1000) * 1000 : Math.ceil(waitMs) };
  }

  #refused(
    { daily, resource, waitMs }: SimRefusal,
    all: readonly RateReading[],
    options: CallOptions,
  ): ProviderFailure {
    const hints = this.#hints(all, waitMs);
    options.onHead?.(hints);
    const message = daily ? 'the simulated day is used up' : `the simulated limit on ${resource} is reached`;
    return {
      kind: 'failure',
      code: daily ? 'daily_exhausted' : 'rate_limited',
      message: `${this.id}: ${message}.`,
      retryable: true,
      status: 429,
      vendorCode: 'rate_limit_exceeded',
      hints,
      resource,
      ...(daily ? { resetAt: this.#clock.now() + waitMs } : {}),
      billed: 'no',
      raw: JSON.stringify({ error: { message, code: 'rate_limit_exceeded' } }),
    };
  }

  async #hang(signal: AbortSignal, hints: RateHints): Promise<ProviderFailure> {
    if (await wait(this.#options.timeoutMs, this.#clock, signal)) return this.#aborted();
    const message = `${this.id}: no answer within ${this.#options.timeoutMs} ms.`;
    return { kind: 'failure', code: 'timeout', message, retryable: true, hints, billed: 'maybe' };
  }

  #aborted(): ProviderFailure {
    return { kind: 'failure', code: 'aborted', message: `${this.id}: stopped.`, retryable: false, billed: 'maybe' };
  }

  #reply(
    request: ModelRequest,
    answer: SimAnswer | undefined,
    usage: Usage,
    identity: string,
    hints: RateHints,
    fault: SimFault | undefined,
  ): Reply {
    const text = answer?.text ?? '';
    const toolCalls = answer === undefined ? [] : toolCallsOf(answer, identity);
    const body = { model: this.model, text, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}), usage };
    return {
      kind: 'reply',
      text,
      output: toolCalls.length > 0 && text === '' ? JSON.parse(JSON.stringify(toolCalls)) : text,
      toolCalls,
      usage,
      costUsdMicros: this.price(usage) ?? 0,
      finishReason: finishOf(fault, toolCalls.length),
      servedModel: this.model,
      fingerprint: `sim-seed-${this.#options.seed}`,
      hints,
      status: 200,
      raw: JSON.stringify(body),
      flags: [],
      cached: false,
      ...extras(request),
    };
  }
}

function finishOf(fault: SimFault | undefined, calls: number): FinishReason {
  if (fault === 'cut') return 'length';
  if (fault === 'filter') return 'content_filter';
  if (fault === 'refuse') return 'refusal';
  return calls > 0 ? 'tool_calls' : 'stop';
}

/** What answers other than chat carry. */
function extras(request: ModelRequest): Partial<Reply> {
  switch (request.kind) {
    case 'chat':
      return {};
    case 'embedding':
      return { embedding: vectorOf(request.input) };
    case 'moderation': {
      const bad = /\b(?:kill|bomb|hate|forbidden)\b/iu.test(request.input);
      return { flagged: bad, scores: bad ? { violence: 0.9 } : {} };
    }
    case 'classification': {
      const good = hashText(request.input) % 100;
      return { scores: { positive: good / 100, negative: 1 - good / 100 } };
    }
    case 'similarity':
      return { scores: { similarity: request.expected === request.input ? 1 : 0.5 } };
  }
}

function usageOf(request: ModelRequest, answer: SimAnswer | undefined): CountedUsage {
  const spoken = answer === undefined ? '' : answer.text + answer.calls.map((call) => call.arguments).join('');
  return { inputTokens: tokensOf(promptText(request)), outputTokens: tokensOf(spoken) };
}

/** What a call takes from the limits. */
const weightOf = (request: ModelRequest, { inputTokens, outputTokens }: CountedUsage): SimRequest => ({
  input: inputTokens,
  output: outputTokens,
  maxOutput: Math.max(outputTokens, request.kind === 'chat' ? (request.maxTokens ?? 1024) : 0),
});

const promptText = (request: ModelRequest): string =>
  request.kind !== 'chat'
    ? request.input
    : (request.prompt ?? '') + (request.messages ?? []).map(({ content }) => content).join('\n');

/** Makes a simulated provider; throws a `ParlaneError` for an unknown preset or setting. */
export const createSimProvider = (options: ProviderOptions, clock: Clock): Provider =>
  new SimProvider(options, readSimOptions(options.id, options.config), clock);

/** `sim:` ids. */
export const simFactory: ProviderFactory = {
  matches: (id) => id === 'sim' || id.startsWith('sim:'),
  create: (options: ProviderOptions, context: ProviderContext) => createSimProvider(options, context.clock),
};
