/** One process's work on a run, new or resumed: wires feeds, cases, lanes and store together and brings them to an end. */
import type { Case } from '../domain/case.ts';
import type { CaseIndex } from '../domain/ids.ts';
import type { BudgetNeed, RunTotals } from '../domain/run-event.ts';
import type { RunStore, Spent } from '../store/store.ts';
import { StoreError } from '../store/store-errors.ts';
import { Budget } from './budget.ts';
import { refuseTooSmall } from './budget-words.ts';
import type { CaseFeed } from './case-feed.ts';
import { CaseFeeds } from './case-feeds.ts';
import { DryWatch, startsByItself } from './dry-watch.ts';
import { EventLog } from './event-log.ts';
import { emptyHistory, storeJournal } from './journal.ts';
import { LengthBook } from './length-book.ts';
import type { CallDesk } from './model-call.ts';
import type { ModelLanes } from './model-lanes.ts';
import { OpenProviders } from './open-providers.ts';
import { ParkedWatch } from './parked-watch.ts';
import { type CaseSource, knownLength, PlanIntake, type PlanTraits } from './plan-intake.ts';
import { leaveProvisionalRows } from './provisional-rows.ts';
import { storedRows } from './read-run.ts';
import { RowComparison } from './row-comparison.ts';
import { RowTeller } from './row-teller.ts';
import { runCase } from './run-case.ts';
import { type CaseMeter, RunMeter } from './run-meter.ts';
import type { RunHost, RunOutcome } from './run-plan.ts';
import type { RunSettings } from './run-settings.ts';
import { RunStop } from './run-stop.ts';
import { SharedState } from './shared-state.ts';
import { SpendMeter } from './spend-meter.ts';
import type { StepEnd } from './step.ts';
import { checkTally, totalsOf } from './tally.ts';

export interface Execution {
  readonly run: RunStore;
  readonly host: RunHost;
  readonly settings: RunSettings;
  /** What is left of the plan to be recorded; undefined when all of it is. */
  readonly source: CaseSource | undefined;
  readonly traits: PlanTraits | undefined;
  readonly planned: number | undefined;
  readonly resumed: boolean;
}

export const executeRun = async (execution: Execution): Promise<RunOutcome> => {
  const { run, host, settings, resumed } = execution;
  const spent = resumed ? await run.spent() : { usdMicros: 0, unknown: 0, maybeUsdMicros: 0 };
  return new RunExecution(execution, spent, new RunStop(host.clock, settings.graceMs)).go();
};

/** From the stop on; together with writing what is open it keeps the way out under two seconds. */
const planPatienceMs = 1_200;

class RunExecution {
  readonly #execution: Execution;
  readonly #run: RunStore;
  readonly #host: RunHost;
  readonly #settings: RunSettings;
  readonly #budget: Budget;
  readonly #stop: RunStop;
  readonly #events: EventLog;
  readonly #rows: RowTeller;
  readonly #spend: SpendMeter;
  readonly #dryWatch: DryWatch;
  readonly #lanes: ModelLanes;
  readonly #providers: OpenProviders;
  readonly #intake: PlanIntake;
  readonly #watch: ParkedWatch;
  readonly #state = new SharedState();
  readonly #lengths: LengthBook;
  readonly #feeds: CaseFeeds;
  readonly #controllers = new Map<CaseIndex, AbortController>();
  readonly #desk: CallDesk;
  readonly #comparison: RowComparison;
  readonly #meter: RunMeter;
  /** Cases that an earlier process has begun: only these have something to replay. */
  #begun: ReadonlySet<CaseIndex> = new Set();
  #startedAt = 0;
  /** What earlier sittings have brought. */
  #soFar: RunTotals | undefined;
  #intakeFailure: unknown;
  /** What the cheapest call that waited for the budget lacked when the run was stopped. */
  #need: BudgetNeed | undefined;

  constructor(execution: Execution, { usdMicros, unknown, maybeUsdMicros }: Spent, stop: RunStop) {
    this.#execution = execution;
    this.#run = execution.run;
    this.#host = execution.host;
    this.#settings = execution.settings;
    this.#budget = new Budget(this.#settings.budgetUsdMicros, usdMicros + maybeUsdMicros);
    this.#stop = stop;
    const { clock, store, provider, cache, coalescer } = this.#host;
    this.#events = new EventLog(this.#host.observers ?? [], (events) => this.#run.log(events), clock.now);
    this.#rows = new RowTeller({
      emit: (event) => this.#events.emit(event),
      now: clock.now,
      total: () => this.#total(),
    });
    this.#spend = new SpendMeter(clock, { usdMicros, unknown }, (event) => this.#events.emit(event));
    this.#watch = new ParkedWatch(this.#settings.maxWaitMs);
    this.#lanes = this.#host.lanes({
      onEvent: (event) => {
        this.#events.emit(event);
        if (this.#watch.see(event)) this.#stopIfParked();
      },
    });
    this.#providers = new OpenProviders(provider, store, this.#lanes, this.#budget.capped);
    this.#meter = new RunMeter((name) => this.#providers.known(name));
    this.#lengths = new LengthBook(store);
    this.#intake = new PlanIntake(
      this.#run,
      (name) => this.#feeds.meet(name),
      () => this.#feeds.pump(),
    );
    this.#feeds = new CaseFeeds({
      run: this.#run,
      intake: this.#intake,
      stopped: () => this.#stop.starts.aborted,
      onChange: () => {
        this.#stopIfParked();
        this.#dryWatch.look();
      },
      play: (one, feed, serial) => this.#play(one, feed, serial),
    });
    this.#desk = {
      provider: this.#providers.get,
      lanes: { submit: (call) => this.#submit(call) },
      budget: this.#budget,
      stop: this.#stop,
      clock,
      estimators: new Map(),
      ...(cache === undefined ? {} : { cache }),
      ...(coalescer === undefined ? {} : { coalescer }),
      onFlight: (name, change) => this.#feeds.flight(name, change),
    };
    this.#comparison = new RowComparison({
      run: this.#run,
      desk: this.#desk,
      compare: this.#host.runners.compare?.bind(this.#host.runners),
      meter: () => this.#counting(this.#meter.case(false)),
    });
    this.#dryWatch = new DryWatch({
      budget: this.#budget,
      clock,
      moving: () => this.#moving(),
      stop: () => this.#stop.stop('budget'),
    });
  }

  /** The meter of a case, with what its answers cost. */
  #counting(meter: CaseMeter): CaseMeter {
    const add = (end: StepEnd): void => {
      meter.add(end);
      this.#spend.add(end);
    };
    return { add, close: () => meter.close() };
  }

  /** Something may still happen without the budget: a case is between two calls, is about to start, or waits for time. */
  #moving(): boolean {
    if (this.#stop.starts.aborted) return false;
    for (const index of this.#controllers.keys()) if (!this.#watch.waits(index)) return true;
    if (this.#feeds.starting) return true;
    const now = this.#host.clock.now();
    const lanes = this.#lanes.snapshot?.() ?? [];
    return lanes.some(
      ({ key, queue, cause }) => queue > 0 && startsByItself(cause) && !this.#watch.parkedForLong(key, now),
    );
  }

  async go(): Promise<RunOutcome> {
    const { clock } = this.#host;
    this.#startedAt = clock.now();
    this.#stop.starts.addEventListener('abort', () => this.#hold(), { once: true });
    this.#stop.flights.addEventListener('abort', () => this.#cut(), { once: true });
    const disarm = this.#stop.arm(this.#host.signal, this.#settings.maxDurationMs);
    try {
      await this.#restore();
      this.#events.emit({
        type: 'run-start',
        run: this.#run.id,
        at: clock.now(),
        planned: this.#total(),
        resumed: this.#execution.resumed,
        ...(this.#soFar === undefined ? {} : { soFar: this.#soFar }),
      });
      if (this.#spend.paid.usdMicros > 0) this.#spend.tell();
      await this.#runAll();
      return await this.#finish();
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      this.#stop.fail(cause);
      return this.#finishWithoutStore(cause);
    } finally {
      disarm();
      this.#dryWatch.stop();
      this.#spend.stop();
      this.#stop.cut();
      this.#lanes.abort('the run is over');
      this.#lanes.shutdown();
      await this.#providers.close();
      await this.#host.store.flush().catch(() => {});
    }
  }

  #hold(): void {
    this.#need = this.#budget.need;
    this.#budget.close();
    this.#feeds.pump();
  }

  #cut(): void {
    this.#lanes.abort('the run was stopped');
    for (const controller of this.#controllers.values()) controller.abort();
  }

  async #restore(): Promise<void> {
    if (this.#execution.resumed) {
      await this.#intake.restore();
      this.#begun = await this.#run.begun();
      await this.#restoreRows();
    } else if ((await this.#run.caseCount()).cases > 0) {
      await this.#intake.restore();
    }
  }

  async #restoreRows(): Promise<void> {
    for await (const { row, writes } of storedRows(this.#run)) {
      const one = writes === undefined ? undefined : await this.#run.case(row.index);
      if (one !== undefined && writes !== undefined) this.#state.add(one, writes);
    }
    const counts = await this.#run.rowCounts();
    this.#rows.restore(counts.total - counts.provisional);
    this.#soFar = totalsOf(this.#total(), counts);
  }

  async #runAll(): Promise<void> {
    const { source } = this.#execution;
    const reading = source === undefined ? Promise.resolve() : this.#intake.read(source);
    const intake = reading.catch((cause: unknown) => {
      this.#intakeFailure = cause;
      if (cause instanceof StoreError) this.#stop.fail(cause);
      else this.#stop.stop('interrupted');
    });
    const known = this.#execution.traits;
    if (known === undefined) await this.#planOrStop(intake);
    const traits = known ?? (await this.#recordedTraits());
    // Cases that depend on each other are started by plan index, which needs the whole plan.
    if (traits.serial || traits.stateful) await this.#planOrStop(intake);
    if (traits.serial) await this.#feeds.sequential({ serial: true });
    const inOrder = traits.stateful && this.#settings.serialize === 'global';
    const sequential = inOrder ? this.#feeds.sequential({ serial: false, kind: 'prompt' }) : Promise.resolve();
    this.#feeds.openLanes(traits, inOrder);
    await Promise.all([sequential, this.#planOrStop(intake)]);
    this.#intake.cancel();
    await this.#feeds.finished();
    if (!this.#stop.starts.aborted) this.#rows.final(await this.#comparison.finish(this.#stop.flights));
    if (this.#intakeFailure !== undefined) throw this.#intakeFailure;
    if (this.#stop.error !== undefined) throw this.#stop.error;
  }

  /** A stopped run waits a moment for its plan to be recorded whole, and not for a source that gives nothing. */
  async #planOrStop(intake: Promise<void>): Promise<void> {
    await Promise.race([intake, this.#stop.longAfter(planPatienceMs)]);
  }

  /** On resume the plan is in the store: whether order matters is read there. */
  async #recordedTraits(): Promise<PlanTraits> {
    if (this.#execution.source !== undefined && !this.#execution.resumed) return this.#intake.traits;
    return this.#run.traits();
  }

  async #play(one: Case, feed: CaseFeed, serial: boolean): Promise<void> {
    const { clock, runners } = this.#host;
    const controller = new AbortController();
    this.#controllers.set(one.index, controller);
    const meter = this.#counting(this.#meter.case(serial));
    if (serial) this.#lanes.openCase?.(one.index, one.serial === true ? 'phase' : 'gate');
    try {
      const history = this.#begun.has(one.index) ? await this.#run.history(one.index) : emptyHistory;
      const { index, name, column } = one;
      this.#events.emit({ type: 'case-start', index, name, at: clock.now(), column });
      const end = await runCase(one, {
        desk: this.#desk,
        runners,
        journal: storeJournal(this.#run, one.index, history),
        run: this.#run.id,
        registers: this.#state.registers(one),
        conversation: this.#state.conversation(one),
        serial,
        timeoutMs: one.kind === 'prompt' ? this.#settings.timeoutMs : undefined,
        controller,
        progress: (note, at) => this.#events.emit({ type: 'case-progress', index: one.index, at, note }),
        onStep: meter.add,
        onFirstSend: () => feed.firstSend(),
      });
      if (end.kind === 'suspended') return;
      if (end.writes !== undefined) this.#state.add(one, end.writes);
      await this.#lengths.add(one, end.row, end.calls);
      this.#rows.final(await this.#comparison.keep(one, end, { signal: controller.signal, serial }));
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause;
      this.#stop.fail(cause);
    } finally {
      meter.close();
      this.#controllers.delete(one.index);
      if (serial) this.#lanes.closeCase?.(one.index);
    }
  }

  #total(): number {
    return Math.max(this.#execution.planned ?? 0, knownLength(this.#execution.source), this.#intake.recorded);
  }

  async #submit(call: Parameters<ModelLanes['submit']>[0]): ReturnType<ModelLanes['submit']> {
    const leave = this.#watch.enter(call.lane, call.index);
    try {
      const ends = this.#lanes.submit(call);
      this.#dryWatch.look();
      return await ends;
    } finally {
      leave();
    }
  }

  #stopIfParked(): void {
    if (this.#stop.reason !== undefined) return;
    const now = this.#host.clock.now();
    if (this.#feeds.starting) return;
    if (!this.#feeds.exhausted((name) => this.#watch.parkedForLong(this.#providers.lane(name), now))) return;
    const until = this.#watch.onlyParkedUntil(this.#feeds.running, now);
    if (until !== undefined) this.#stop.stop('parked', until);
  }

  async #finish(): Promise<RunOutcome> {
    const { clock } = this.#host;
    const { reason, until } = this.#stop;
    const need = reason === 'budget' ? this.#need : undefined;
    if (need !== undefined && this.#budget.granted === 0 && this.#rows.completed === 0) refuseTooSmall(need);
    const facts = this.#lanes.facts?.();
    const efficiency = facts === undefined ? undefined : this.#meter.tell(facts, clock.now() - this.#startedAt);
    const told = efficiency === undefined ? {} : { efficiency };
    await this.#lengths.save();
    if (reason !== undefined) {
      const why = { ...(until === undefined ? {} : { until }), ...(need === undefined ? {} : { need }) };
      this.#events.emit({ type: 'run-stop', at: clock.now(), reason, ...why });
      const waits = (index: CaseIndex): boolean => this.#comparison.holds(index);
      await leaveProvisionalRows(this.#run, reason, this.#settings, (row) => this.#rows.provisional(row), waits);
    }
    this.#spend.tell();
    const spent = this.#spend.paid;
    const { cases } = await this.#run.caseCount();
    const counts = await this.#run.rowCounts();
    const totals = checkTally(cases, counts, this.#rows.told);
    const complete = counts.provisional === 0 && this.#intake.complete;
    this.#events.emit({ type: 'run-end', run: this.#run.id, at: clock.now(), totals, complete, spent, ...told });
    this.#events.flush();
    await this.#run.change({
      status: complete ? 'complete' : 'suspended',
      stopReason: complete ? null : (reason ?? null),
      endedAt: clock.now(),
      ...told,
      workedMs: ((await this.#run.record()).workedMs ?? 0) + (clock.now() - this.#startedAt),
    });
    return {
      run: this.#run.id,
      totals,
      complete,
      spent,
      ...told,
      ...(complete || reason === undefined ? {} : { stopReason: reason }),
      ...(complete || need === undefined ? {} : { need }),
      ...(until === undefined ? {} : { until }),
    };
  }

  /** The store is gone: everybody is told, nothing more is written, and what was committed can be resumed. */
  #finishWithoutStore(error: StoreError): RunOutcome {
    const at = this.#host.clock.now();
    this.#events.warn(error.message);
    this.#events.emit({ type: 'run-stop', at, reason: 'storage' });
    this.#spend.tell();
    const spent = this.#spend.paid;
    const planned = this.#total();
    const final = { passed: 0, failed: 0, error: 0, skipped: 0, aborted: 0 };
    const totals = totalsOf(planned, { final, provisional: planned });
    this.#events.emit({ type: 'run-end', run: this.#run.id, at, totals, complete: false, spent });
    return {
      run: this.#run.id,
      totals,
      complete: false,
      spent,
      stopReason: 'storage',
      error: this.#stop.error ?? error,
    };
  }
}
