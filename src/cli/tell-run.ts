/** What a person reads after a run, and what the process ends with. */
import type { Forecast } from '../domain/forecast.ts';
import { budgetWords } from '../domain/measures.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import { efficiencyWords } from '../reporters/efficiency-words.ts';
import { styleFor } from '../reporters/terminal/style.ts';
import { summaryLines } from '../reporters/terminal/summary.ts';
import type { RunOutcome } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { isComparable } from './compare-stored-runs.ts';
import type { Watch } from './watch-run.ts';

/** How people call the program in the next steps that are suggested to them. */
export const called = 'npx parlane';

export interface Told {
  readonly watch: Watch;
  readonly code: number;
  readonly store: Store;
  readonly forecast?: Forecast | undefined;
}

export async function tellRun(
  outcome: RunOutcome,
  { watch, code, store, forecast }: Told,
  context: CliContext,
): Promise<void> {
  const { terminal, env } = context;
  const cost = forecast?.costUsdMicros?.likely;
  const lines = summaryLines({
    state: watch.state,
    width: terminal.columns,
    style: styleFor({ isTTY: terminal.isTTY, env }),
    exitCode: code,
    command: called,
    comparable: outcome.complete && (await isComparable(store, outcome.run)),
    ...(forecast === undefined ? {} : { expectedMs: forecast.timeMs.likely }),
    ...(cost === undefined ? {} : { expectedUsdMicros: cost }),
    ...(outcome.complete ? {} : { resumeCommand: `${called} resume ${outcome.run}` }),
  });
  context.print(`${lines.join('\n')}\nrun ${outcome.run}`);
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
