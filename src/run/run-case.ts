/** One case from its start to its row; what was measured on the way is added here. */
import type { Case } from '../domain/case.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { type Row, rowIdentity } from '../domain/row.ts';
import type { CaseWrites } from '../store/store.ts';
import { createEffects, unless } from './case-effects.ts';
import { type CaseResult, type CaseRunners, playCase } from './case-runner.ts';
import { CaseSums } from './case-sums.ts';
import type { Journal } from './journal.ts';
import type { CallDesk, Caller } from './model-call.ts';
import { Pauses } from './pauses.ts';
import { createStep, type Step, type StepEnd } from './step.ts';
import { WorkingTime } from './working-time.ts';

export interface CaseParts {
  readonly desk: CallDesk;
  readonly runners: CaseRunners;
  readonly journal: Journal;
  /** The run's name, first part of every idempotency key. */
  readonly run: string;
  readonly registers: JsonObject;
  readonly conversation: readonly Json[];
  readonly serial: boolean;
  readonly timeoutMs: Millis | undefined;
  readonly controller: AbortController;
  readonly progress: (note: string, at: EpochMillis) => void;
  /** Told of every step that ends. */
  readonly onStep?: (end: StepEnd) => void;
  /** The case's first call is about to be sent, or the case is over without one. */
  readonly onFirstSend: () => void;
}

/** How a case came back: with its row, or suspended by a stop of the run. */
export type CaseEnd =
  | { readonly kind: 'row'; readonly row: Row; readonly writes?: CaseWrites; readonly calls: number }
  | { readonly kind: 'suspended' };

function rowOf(one: Case, result: CaseResult, sums: CaseSums): Row {
  const { writes: _, ...rest } = result;
  return {
    ...rowIdentity(one),
    ...rest,
    ...sums.measured(),
  };
}

const errorResult = (code: string, message: string): CaseResult => ({
  status: 'error',
  score: null,
  output: null,
  error: { code, message },
});

/** Notes the model calls that are under way. */
const watched =
  (step: Step, calls: Set<Promise<unknown>>): Step =>
  (kind, path, request, effect) => {
    const ends = step(kind, path, request, effect);
    if (kind !== 'model') return ends;
    calls.add(ends);
    const over = (): void => void calls.delete(ends);
    ends.then(over, over);
    return ends;
  };

/** Plays a case with its effects and makes its row. */
export async function runCase(one: Case, parts: CaseParts): Promise<CaseEnd> {
  const { desk, journal, controller, timeoutMs } = parts;
  const sums = new CaseSums();
  let timedOut = false;
  const working = new WorkingTime(desk.clock, timeoutMs, () => {
    timedOut = true;
    controller.abort();
  });
  let first: (() => void) | undefined = parts.onFirstSend;
  const onSend = (): void => {
    first?.();
    first = undefined;
  };
  const caller: Caller = {
    index: one.index,
    repeat: one.repeat,
    signal: controller.signal,
    working,
    serial: parts.serial,
    expectedCalls: one.expectedCalls ?? 1,
    made: 0,
    onSend,
  };
  const onEnd = (end: StepEnd): void => {
    sums.add(end);
    parts.onStep?.(end);
    if (end.replayed) working.addRecorded(end.answer.times);
  };
  const pauses = new Pauses(journal, desk.clock.now);
  const calls = new Set<Promise<unknown>>();
  const step = watched(
    createStep({ journal, name: `${parts.run}/${one.index}`, now: desk.clock.now, onEnd, pauses }),
    calls,
  );
  const effects = { ...createEffects(desk, caller, step), pausedMs: () => pauses.totalMs };
  const progress = (note: string): void => parts.progress(note, desk.clock.now());
  const { registers, conversation } = parts;
  let result: CaseResult;
  try {
    result = await playCase(parts.runners, one, { effects, registers, conversation, progress });
  } catch (cause) {
    result = errorResult('code', cause instanceof Error ? cause.message : String(cause));
  }
  // A runner may give up while calls of its are on their way: what they cost belongs to the row too.
  await unless(controller.signal, Promise.allSettled(calls)).catch(() => {});
  onSend();
  // Nothing broke when somebody cancelled it, and the run is not stopping.
  if (result.status === 'error' && result.error?.code === 'aborted') result = { ...result, status: 'aborted' };
  if (timedOut) result = errorResult('timeout', `Evaluation timed out after ${timeoutMs}ms`);
  else if (caller.interruption !== undefined) return { kind: 'suspended' };
  const { writes } = result;
  return { kind: 'row', row: rowOf(one, result, sums), ...(writes === undefined ? {} : { writes }), calls: sums.calls };
}
