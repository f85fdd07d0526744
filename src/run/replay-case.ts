/** Plays a recorded case again, offline: nothing is sent, and the first request that differs ends it and is shown. */
import type { Case } from '../domain/case.ts';
import { ParlaneError } from '../domain/errors.ts';
import { type CaseIndex, caseNumber } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Clock } from '../platform/clock.ts';
import type { RunStore } from '../store/store.ts';
import { Budget } from './budget.ts';
import type { CaseRunners } from './case-runner.ts';
import { type Difference, differences } from './differences.ts';
import type { Journal } from './journal.ts';
import type { CallDesk } from './model-call.ts';
import { storedRows } from './read-run.ts';
import { runCase } from './run-case.ts';
import { RunStop } from './run-stop.ts';
import { SharedState, sequence } from './shared-state.ts';

export type ReplayOutcome =
  | { readonly kind: 'same'; readonly row: Row }
  /** `recorded` is absent when the journal holds no such step. */
  | {
      readonly kind: 'differs';
      readonly path: string;
      readonly recorded?: Json;
      readonly actual: Json;
      readonly differences: readonly Difference[];
    };

class Diverged extends Error {}

const offline = (): never => {
  throw new ParlaneError('bug/replay-sent', 'A replay tried to send something.', 'This is a bug in Parlane.');
};

function offlineDesk(clock: Clock): CallDesk {
  const lanes = { open: offline, submit: offline, learned: () => [], abort: () => {}, shutdown: () => {} };
  return {
    provider: offline,
    lanes,
    budget: new Budget(undefined, 0),
    stop: new RunStop(clock, 0),
    clock,
    estimators: new Map(),
    onFlight: () => {},
  };
}

/** What earlier cases left to this one. */
async function stateBefore(run: RunStore, one: Case): Promise<SharedState> {
  const state = new SharedState();
  for await (const { row, writes } of storedRows(run)) {
    const other = writes === undefined ? undefined : await run.case(row.index);
    if (other !== undefined && writes !== undefined && sequence(other) < sequence(one)) state.add(other, writes);
  }
  return state;
}

export async function replayCase(
  run: RunStore,
  index: CaseIndex,
  runners: CaseRunners,
  clock: Clock,
): Promise<ReplayOutcome> {
  const one = await run.case(index);
  if (one === undefined)
    throw new ParlaneError('run/unknown-case', `The run ${run.id} has no case #${caseNumber(index)}.`, '', { index });
  const steps = await run.steps(index);
  const state = await stateBefore(run, one);
  let diverged: ReplayOutcome | undefined;
  const controller = new AbortController();
  const refuse = (path: string, request: unknown): never => {
    const actual = JSON.parse(JSON.stringify(request)) as Json;
    const recorded = steps.findLast((step) => step.path === path)?.request;
    diverged ??= {
      kind: 'differs',
      path,
      ...(recorded === undefined ? {} : { recorded }),
      actual,
      differences: differences(recorded, actual),
    };
    controller.abort();
    throw new Diverged();
  };
  const journal: Journal = {
    recorded: await run.history(index),
    intend: offline,
    answer: offline,
    note: offline,
    refuse,
  };
  const end = await runCase(one, {
    desk: offlineDesk(clock),
    runners,
    journal,
    run: run.id,
    registers: state.registers(one),
    conversation: state.conversation(one),
    serial: false,
    timeoutMs: undefined,
    controller,
    progress: () => {},
    onFirstSend: () => {},
  });
  if (diverged !== undefined) return diverged;
  if (end.kind === 'suspended') return offline();
  return { kind: 'same', row: end.row };
}
