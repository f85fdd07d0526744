/**
 * Job: one model call on its way: cache, lane, budget, intent, wire, bill.
 * Not its job: retries and pace (the lane's), journaling of the answer (the step's).
 *
 * Invariants: 1. After a stop or the case's own end nothing is sent. 2. The intent is committed once per call, before its
 * first attempt; the budget is asked before each attempt and settled after it. 3. A call that was cancelled by us throws
 * `Suspended` and so leaves no answer behind. 4. It ends when its signal aborts, whatever the provider does.
 */
import type { ModelCall } from '../domain/effects.ts';
import type { CaseIndex, Millis } from '../domain/ids.ts';
import type { ModelRequest } from '../domain/message.ts';
import type { Provider } from '../domain/provider.ts';
import type { Outcome, ProviderFailure, RateHints, Reply } from '../domain/reply.ts';
import type { Clock } from '../platform/clock.ts';
import type { Coalescer } from '../providers/coalesce.ts';
import { StoreError } from '../store/store-errors.ts';
import type { Budget } from './budget.ts';
import type { ModelLanes } from './model-lanes.ts';
import { type RunStop, Suspended } from './run-stop.ts';
import type { Performed, Sending } from './step.ts';
import { mostInput, mostOutput, TokenEstimator } from './token-estimate.ts';
import type { WorkingTime } from './working-time.ts';

/** Answers of earlier runs, when the user wants them used again. */
export interface ResponseCache {
  lookup(provider: Provider, request: ModelRequest): Promise<Reply | undefined>;
  keep(provider: Provider, request: ModelRequest, reply: Reply): Promise<void>;
}

/** What the calls of one run share. */
export interface CallDesk {
  /** A provider whose lane is open. */
  readonly provider: (name: string) => Promise<Provider>;
  readonly lanes: Pick<ModelLanes, 'submit'>;
  readonly budget: Budget;
  readonly stop: RunStop;
  readonly clock: Clock;
  readonly estimators: Map<string, TokenEstimator>;
  readonly cache?: ResponseCache;
  /** Lets identical calls in flight share one answer. */
  readonly coalescer?: Coalescer;
  /** The number of requests of this provider on the wire has changed. */
  readonly onFlight: (provider: string, change: 1 | -1) => void;
}

/** The case a call belongs to. */
export interface Caller {
  readonly index: CaseIndex;
  readonly repeat: number;
  readonly signal: AbortSignal;
  readonly working: WorkingTime;
  readonly serial: boolean;
  readonly expectedCalls: number;
  /** Calls made so far. */
  made: number;
  /** A call of the case is about to be sent. */
  readonly onSend: () => void;
  /** Set when an effect of the case was refused or cut short: whatever the case makes of it, it is not its end. */
  interruption?: Error;
}

const failure = (code: 'aborted' | 'timeout' | 'program', message: string): ProviderFailure => ({
  kind: 'failure',
  code,
  message,
  retryable: false,
  billed: code === 'aborted' ? 'no' : 'maybe',
});

/** Ended by us on the wire: what was sent may be billed. */
const cancelled = failure('aborted', 'The call was cancelled.');
/** Ended by us before anything was sent. */
const unsent = failure('aborted', 'The call was not sent.');

/** Runs one wire request; ends with the signal even when the provider does not. */
function attempt(provider: string, request: ModelRequest, options: AttemptOptions): Promise<Outcome> {
  const { signals, idempotencyKey, onHead, clock, timeoutMs } = options;
  const controller = new AbortController();
  return new Promise<Outcome>((resolve) => {
    const end = (outcome: Outcome): void => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
      cancelTimer();
      resolve(outcome);
    };
    const abort = (): void => {
      controller.abort();
      end(cancelled);
    };
    const late = (): void => {
      controller.abort();
      end(failure('timeout', `No answer within the ${timeoutMs} ms of working time that were left.`));
    };
    const cancelTimer = timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, late);
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    options
      .ask(request, { signal: controller.signal, onHead, idempotencyKey })
      .then(end, (cause: unknown) => end(failure('program', `The provider ${provider} threw: ${String(cause)}`)));
  });
}

interface AttemptOptions {
  readonly ask: Provider['call'];
  readonly signals: readonly AbortSignal[];
  readonly idempotencyKey: string;
  readonly onHead: (hints: RateHints) => void;
  readonly clock: Clock;
  readonly timeoutMs: Millis | undefined;
}

/**
 * Identical calls in flight are one, where the user allows it, and never those of two repeats; a provider that cannot tell
 * what is identical is asked each time.
 */
function asker({ coalescer }: CallDesk, { repeat }: Caller, provider: Provider): Provider['call'] {
  if (coalescer === undefined) return (request, options) => provider.call(request, options);
  return async (request, options) => {
    const asked = await provider.cacheKey?.(request);
    const key = asked === undefined ? undefined : `${asked}/${repeat}`;
    return coalescer.run(key, options.signal, (signal) => provider.call(request, { ...options, signal }));
  };
}

const costOf = (provider: Provider, outcome: Outcome): number | null => {
  if (outcome.kind === 'failure' || outcome.cached) return 0;
  const cost = outcome.costUsdMicros ?? (outcome.usage === undefined ? undefined : provider.price(outcome.usage));
  return cost ?? null;
};

/** What the cap must assume: an answer without a price, or a failure that may be billed, costs all that was reserved. */
const booked = (provider: Provider, outcome: Outcome, reserved: number): number => {
  if (outcome.kind === 'failure') return outcome.billed === 'maybe' || outcome === cancelled ? reserved : 0;
  return costOf(provider, outcome) ?? reserved;
};

function estimatorOf(desk: CallDesk, provider: Provider): TokenEstimator {
  const estimator = desk.estimators.get(provider.laneKey) ?? new TokenEstimator();
  desk.estimators.set(provider.laneKey, estimator);
  return estimator;
}

async function fromCache(desk: CallDesk, provider: Provider, call: ModelCall): Promise<Performed<Outcome> | undefined> {
  const reply = await desk.cache?.lookup(provider, call.request);
  if (reply === undefined) return undefined;
  const now = desk.clock.now();
  const times = { startedAt: now, endedAt: now, queueMs: 0, backoffMs: 0, latencyMs: 0, attempts: 0 };
  const value = { ...reply, cached: true };
  return { value, times, costUsdMicros: 0, provider: call.provider, role: call.role, free: true, ...usageOf(value) };
}

const usageOf = (outcome: Outcome) =>
  outcome.kind === 'reply' && outcome.usage !== undefined ? { usage: outcome.usage } : {};

/** Sends one call through its lane and gives back how it ended. `takeOff` is called when something goes on the wire. */
export async function sendModelCall(
  desk: CallDesk,
  caller: Caller,
  path: string,
  call: ModelCall,
  sending: Sending,
  takeOff: () => void,
): Promise<Performed<Outcome>> {
  const provider = await desk.provider(call.provider);
  const known = await fromCache(desk, provider, call);
  if (known !== undefined) {
    // Nothing is sent, but what it answers is kept with it.
    await sending.intend(0);
    return known;
  }
  const estimator = estimatorOf(desk, provider);
  const estimate = estimator.estimate(call.request, provider);
  const outputTokens = mostOutput(call.request, provider);
  const reserve = desk.budget.capped ? provider.price({ inputTokens: mostInput(call.request), outputTokens }) : 0;
  const over = (): boolean => desk.stop.starts.aborted || caller.signal.aborted;
  let latencyMs = 0;

  const onWire = async (signal: AbortSignal, onHead: (hints: RateHints) => void): Promise<Outcome> => {
    try {
      await sending.intend(reserve ?? 0);
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      desk.stop.fail(cause);
    }
    if (over()) return unsent;
    takeOff();
    const rested = caller.working.begin();
    desk.onFlight(call.provider, 1);
    const from = desk.clock.now();
    const outcome = await attempt(provider.id, call.request, {
      ask: asker(desk, caller, provider),
      signals: [signal, caller.signal],
      idempotencyKey: sending.idempotencyKey,
      onHead,
      clock: desk.clock,
      timeoutMs: call.timeoutMs,
    });
    latencyMs = desk.clock.now() - from;
    rested();
    desk.onFlight(call.provider, -1);
    return outcome;
  };

  const perform = async (signal: AbortSignal, onHead: (hints: RateHints) => void): Promise<Outcome> => {
    if (over()) return unsent;
    caller.onSend();
    if (reserve === undefined) {
      desk.stop.stop('budget');
      return unsent;
    }
    if (!(await desk.budget.reserve(reserve))) return unsent;
    let booking = 0;
    try {
      const outcome = over() ? unsent : await onWire(signal, onHead);
      booking = booked(provider, outcome, reserve);
      return outcome;
    } finally {
      desk.budget.settle(reserve, booking);
    }
  };

  const made = caller.made++;
  if (over()) throw new Suspended();
  const { outcome, times } = await desk.lanes.submit({
    lane: provider.laneKey,
    index: caller.index,
    path,
    estimate,
    maxOutput: outputTokens,
    expectedCalls: call.expectedCalls ?? Math.max(1, caller.expectedCalls - made),
    made,
    ...(caller.serial ? { serial: true } : {}),
    perform,
  });
  if (outcome.kind === 'failure' && outcome.code === 'aborted' && over()) throw new Suspended();
  if (outcome.kind === 'reply') {
    estimator.learn(call.request, outcome.usage);
    await desk.cache?.keep(provider, call.request, outcome);
  }
  return {
    value: outcome,
    times: { ...times, latencyMs },
    ...usageOf(outcome),
    costUsdMicros: costOf(provider, outcome),
    provider: call.provider,
    role: call.role,
    free: outcome.kind === 'failure' && outcome.billed === 'no',
  };
}
