/**
 * The lanes on a real clock: binds the scheduler to time and promises.
 *
 * Job: obey the scheduler's commands (start, finish, cancel, one timer per lane) and tell it what came of them.
 * Not its job: any decision. Every submitted call gives exactly one result; nothing starts after `abort` or `shutdown`.
 */

import { isGrading, type StepTimes } from '../domain/effects.ts';
import { assertNever, ParlaneError } from '../domain/errors.ts';
import type { CaseIndex, EpochMillis, LaneKey } from '../domain/ids.ts';
import type { LaneEvent, LaneLimits, LaneSnapshot, LearnedLimit } from '../domain/lane.ts';
import type { Provider } from '../domain/provider.ts';
import type { Outcome, ProviderFailure, RateHints } from '../domain/reply.ts';
import { attemptResult } from '../lanes/attempt-result.ts';
import type { LaneSpec } from '../lanes/lane-state.ts';
import { LaneTimes } from '../lanes/lane-times.ts';
import type { CallEnd, Command, SchedulerEvent } from '../lanes/messages.ts';
import { type CallPlace, Scheduler, type SchedulerOptions } from '../lanes/scheduler.ts';
import type { SerialMode } from '../lanes/serial-gate.ts';
import type { Clock } from '../platform/clock.ts';
import { type GroupedLimits, laneSpec } from './lane-spec.ts';
import type { LaneCall, LaneFacts, ModelLanes } from './model-lanes.ts';

export interface LanesOptions extends Omit<SchedulerOptions, 'events'> {
  readonly clock: Clock;
  /** Limits of the user's own, by provider; they win over what the provider declares. */
  readonly limits?: (provider: Provider) => GroupedLimits | undefined;
  readonly onEvent?: (event: LaneEvent) => void;
}

export interface LaneResult {
  readonly outcome: Outcome;
  readonly times: StepTimes;
}

/** A call between its submission and its result. */
interface Ticket {
  readonly call: LaneCall;
  readonly submittedAt: EpochMillis;
  readonly resolve: (result: LaneResult) => void;
  attempts: number;
  firstStartAt: EpochMillis;
  startedAt: EpochMillis;
  endedAt: EpochMillis;
  /** Time on the wire, all attempts together. */
  wireMs: number;
  outcome: Outcome | undefined;
  abort: AbortController | undefined;
}

export class Lanes implements ModelLanes {
  private readonly scheduler: Scheduler;
  private readonly clock: Clock;
  private readonly turnMs: (() => number) | undefined;
  private readonly options: LanesOptions;
  private readonly tickets = new Map<number, Ticket>();
  private readonly timers = new Map<LaneKey, () => void>();
  /** The failure that closed a lane: what every call left in it ends with. */
  private readonly closedBy = new Map<LaneKey, ProviderFailure>();
  private readonly times: LaneTimes;
  private nextId = 1;
  private stopped: string | undefined;

  constructor(options: LanesOptions) {
    this.options = options;
    this.clock = options.clock;
    this.turnMs = options.clock.turnMeter?.();
    this.times = new LaneTimes(options.clock.now());
    this.scheduler = new Scheduler({ ...options, events: options.onEvent !== undefined });
  }

  /** Opens a provider's lane; opening it again changes nothing. */
  open(provider: Provider, learned: readonly LearnedLimit[] = []): void {
    this.openLane(laneSpec(provider, this.options.limits?.(provider), learned));
  }

  openLane(spec: LaneSpec): void {
    this.tell({ type: 'open', lane: spec });
  }

  /** Resolves when the call has ended for good, whatever came of it; rejects only for input that no lane can take. */
  submit(call: LaneCall): Promise<LaneResult> {
    return new Promise((resolve, reject) => {
      if (this.stopped !== undefined) {
        reject(
          new ParlaneError(
            'lanes/stopped',
            `Call ${call.path} of case ${call.index} came after ${this.stopped}.`,
            'Open new lanes, or resume the run.',
          ),
        );
        return;
      }
      const now = this.clock.now();
      const id = this.nextId++;
      this.tickets.set(id, newTicket(call, now, resolve));
      try {
        this.tell({ type: 'submit', lane: call.lane, call: callInput(id, call) }, now);
      } catch (error) {
        this.tickets.delete(id);
        reject(error);
      }
    });
  }

  snapshot(): LaneSnapshot[] {
    return this.scheduler.snapshot(this.clock.now());
  }

  learned(lane: LaneKey): readonly LearnedLimit[] {
    return this.scheduler.learned(lane);
  }

  load(lane: LaneKey): { readonly queued: number; readonly inFlight: number } {
    return this.scheduler.load(lane);
  }

  facts(): LaneFacts {
    this.times.see(this.scheduler.standing, this.clock.now());
    this.times.until(this.clock.now());
    const rejections = new Map(this.snapshot().map((lane) => [lane.key, lane.rejections]));
    return {
      limits: this.scheduler.limits(),
      lanes: [...this.times.told()].map(([lane, timeMs]) => ({ lane, timeMs, rejections: rejections.get(lane) ?? 0 })),
    };
  }

  /** Where the calls of a case are right now. */
  where(index: CaseIndex): CallPlace[] {
    return this.scheduler.where(index);
  }

  /** Nothing runs and only parked lanes have work left: when the first of them opens. */
  stalledUntil(): EpochMillis | undefined {
    return this.scheduler.stalledUntil(this.clock.now());
  }

  pause(lane: LaneKey): void {
    this.tell({ type: 'pause', lane });
  }

  resume(lane: LaneKey): void {
    this.tell({ type: 'resume', lane });
  }

  retune(lane: LaneKey, limits: LaneLimits): void {
    this.tell({ type: 'retune', lane, limits });
  }

  /** Announces a case that runs alone: in the serial phase, or behind the global gate. */
  openCase(index: CaseIndex, serial: SerialMode): void {
    this.tell({ type: 'case-open', index, serial });
  }

  closeCase(index: CaseIndex): void {
    this.tell({ type: 'case-close', index });
  }

  cancelCase(index: CaseIndex): void {
    this.tell({ type: 'cancel', index });
  }

  /** No new start; what waits ends as aborted, what is in flight is cancelled through its signal. */
  abort(reason = 'the abort'): void {
    if (this.stopped !== undefined) return;
    this.stopped = reason;
    this.tell({ type: 'abort' });
  }

  /** Aborts and frees every timer. */
  shutdown(): void {
    this.abort('the shutdown');
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  /** Tells the scheduler what happened, and does what it says. */
  private tell(event: SchedulerEvent, now = this.clock.now()): void {
    this.times.before(this.scheduler.standing, now);
    this.obey(this.scheduler.handle(event, now));
  }

  private obey(commands: readonly Command[]): void {
    for (const command of commands) {
      switch (command.type) {
        case 'start':
          this.start(command.call, command.lane);
          break;
        case 'finish':
          this.finish(command.call, command.end);
          break;
        case 'cancel':
          this.tickets.get(command.call)?.abort?.abort();
          break;
        case 'timer':
          this.setTimer(command.lane, command.at);
          break;
        case 'event':
          this.options.onEvent?.(command.event);
          break;
        default:
          assertNever(command);
      }
    }
  }

  private setTimer(lane: LaneKey, at: EpochMillis | undefined): void {
    this.timers.get(lane)?.();
    this.timers.delete(lane);
    if (at === undefined) return;
    const fire = (): void => {
      this.timers.delete(lane);
      this.tell({ type: 'timer', lane });
    };
    this.timers.set(lane, this.clock.at(at, fire));
  }

  private start(id: number, lane: LaneKey): void {
    const ticket = this.tickets.get(id);
    if (ticket === undefined) return;
    const now = this.clock.now();
    ticket.attempts += 1;
    ticket.startedAt = now;
    if (ticket.attempts === 1) ticket.firstStartAt = now;
    ticket.abort = new AbortController();
    let heard = false;
    const onHead = (hints: RateHints): void => {
      if (heard || hints.readings.length === 0) return;
      heard = true;
      this.tell({ type: 'head', call: id, hints });
    };
    const end = (outcome: Outcome): void => this.end(id, lane, outcome, heard);
    perform(ticket.call, ticket.abort.signal, onHead).then(end, (cause: unknown) => end(thrown(cause)));
  }

  private end(id: number, lane: LaneKey, outcome: Outcome, heard: boolean): void {
    const ticket = this.tickets.get(id);
    if (ticket === undefined) return;
    const now = this.clock.now();
    ticket.endedAt = now;
    ticket.wireMs += now - ticket.startedAt;
    ticket.outcome = outcome;
    const result = attemptResult(outcome, heard, now);
    if (result.type === 'close' && outcome.kind === 'failure' && !this.closedBy.has(lane))
      this.closedBy.set(lane, outcome);
    this.tell({ type: 'end', call: id, result, hostTurnMs: this.turnMs?.() ?? 0 }, now);
  }

  private finish(id: number, end: CallEnd): void {
    const ticket = this.tickets.get(id);
    if (ticket === undefined) return;
    this.tickets.delete(id);
    ticket.resolve({ outcome: this.outcomeOf(ticket, end), times: timesOf(ticket, this.clock.now()) });
  }

  private outcomeOf(ticket: Ticket, end: CallEnd): Outcome {
    switch (end.type) {
      case 'ok':
      case 'failed':
      case 'exhausted':
        return ticket.outcome ?? failure('aborted', 'The call ended without an answer.');
      case 'aborted':
        return ticket.outcome?.kind === 'failure' && ticket.outcome.code === 'aborted'
          ? ticket.outcome
          : failure('aborted', 'The run was stopped before this call was answered.');
      case 'lane-closed':
        return this.closedBy.get(ticket.call.lane) ?? failure('auth', end.reason);
      case 'too-large':
        return failure(
          'too_large',
          `The call needs ${Math.ceil(end.cost)} ${end.resource}, but the provider never grants more than ${end.limit} at once. Shorten the prompt or lower max_tokens.`,
        );
      default:
        return assertNever(end);
    }
  }
}

async function perform(call: LaneCall, signal: AbortSignal, onHead: (hints: RateHints) => void): Promise<Outcome> {
  return call.perform(signal, onHead);
}

const failure = (code: ProviderFailure['code'], message: string): ProviderFailure => ({
  kind: 'failure',
  code,
  message,
  retryable: false,
  billed: 'no',
});

const thrown = (cause: unknown): ProviderFailure =>
  failure(
    'program',
    `The provider threw instead of answering: ${cause instanceof Error ? cause.message : String(cause)}.`,
  );

const newTicket = (call: LaneCall, now: number, resolve: Ticket['resolve']): Ticket => ({
  call,
  submittedAt: now,
  resolve,
  attempts: 0,
  firstStartAt: now,
  startedAt: now,
  endedAt: now,
  wireMs: 0,
  outcome: undefined,
  abort: undefined,
});

const callInput = (id: number, call: LaneCall) => ({
  id,
  index: call.index,
  path: call.path,
  input: call.estimate.input,
  maxOutput: call.maxOutput ?? call.estimate.output,
  made: call.made,
  expected: call.made + call.expectedCalls,
  ...(isGrading(call.path) ? { closing: true as const } : {}),
});

/** Queueing is everything before the first start; between the first start and the end, what was not on the wire is back-off. */
function timesOf(ticket: Ticket, now: EpochMillis): StepTimes {
  const endedAt = ticket.attempts === 0 ? now : ticket.endedAt;
  const startedAt = ticket.attempts === 0 ? now : ticket.firstStartAt;
  return {
    startedAt,
    endedAt,
    queueMs: startedAt - ticket.submittedAt,
    backoffMs: Math.max(0, endedAt - startedAt - ticket.wireMs),
    latencyMs: ticket.attempts === 0 ? 0 : ticket.endedAt - ticket.startedAt,
    attempts: ticket.attempts,
  };
}
