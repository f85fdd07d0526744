/** What a person reads after a run, and what the process ends with. */
import type { Forecast } from '../domain/forecast.ts';
import { budgetFlag, budgetWords } from '../domain/measures.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from '../reporters/efficiency-words.ts';
import { closingLines } from '../reporters/terminal/closing-lines.ts';
import { styleFor } from '../reporters/terminal/style.ts';
import { summaryLines } from '../reporters/terminal/summary.ts';
import type { RunOutcome } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { isComparable } from './compare-stored-runs.ts';
import { type RunEnd, storedState } from './stored-state.ts';
import { called, storeFlags } from './suggested-command.ts';
import type { Watch } from './watch-run.ts';

export interface Telling {
  readonly code: number;
  readonly store: Store;
  /** Where the store is. */
  readonly folder: string;
  /** What runs again what did not pass, when it is not a retry. */
  readonly again?: string | undefined;
}

export interface Told extends Telling {
  readonly watch: Watch;
  readonly forecast?: Forecast | undefined;
}

/** What the next steps are made of. */
async function closingOf(end: RunEnd, { code, store, folder, again }: Telling, { terminal, env, cwd }: CliContext) {
  const { run, complete, need } = end;
  const more = need === undefined ? '' : ` --budget ${budgetFlag(need.enoughUsdMicros)}`;
  const flags = storeFlags(folder, cwd);
  return {
    width: terminal.columns,
    style: styleFor({ isTTY: terminal.isTTY, env }),
    exitCode: code,
    command: called,
    again: again ?? `retry --run ${run}`,
    comparable: complete && (await isComparable(store, run)),
    ...(flags === '' ? {} : { flags }),
    ...(complete ? {} : { resume: `resume ${run}${more}` }),
  };
}

export async function tellRun(outcome: RunOutcome, told: Told, context: CliContext): Promise<void> {
  const { watch, forecast } = told;
  const cost = forecast?.costUsdMicros?.likely;
  const lines = summaryLines({
    ...(await closingOf(outcome, told, context)),
    state: watch.state,
    ...(forecast === undefined ? {} : { expectedMs: forecast.timeMs }),
    ...(cost === undefined ? {} : { expectedUsdMicros: cost }),
  });
  context.print(`${lines.join('\n')}\nrun ${outcome.run}`);
}

/** For commands that have numbers of their own: what did not pass in the whole run, and what one can do next. */
export async function tellEnd(end: RunEnd, telling: Telling, context: CliContext): Promise<void> {
  const state = await storedState(telling.store, end);
  const lines = closingLines({ ...(await closingOf(end, telling, context)), state });
  context.print(`${lines.join('\n')}\nrun ${end.run}`);
}

/** Why a run stopped before its end. */
export const stopCause = ({ stopReason, need }: Pick<RunOutcome, 'stopReason' | 'need'>): string =>
  need === undefined ? `${stopReason}` : `budget: ${budgetWords(need)}`;

/** How close to the least possible time, where that was measured. */
export const closeness = ({ efficiency }: { readonly efficiency?: RunEfficiency | undefined }): string[] =>
  efficiency === undefined ? [] : [`${efficiencyWords(efficiency)}.`];

/** The outcome as data. */
export const outcomeJson = ({ error, ...outcome }: RunOutcome): object => ({
  ...outcome,
  ...(error === undefined ? {} : { error: error.message }),
});
