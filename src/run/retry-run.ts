/** Runs the cases of a finished run again that ended badly: what was answered well is kept, what failed is asked again. */

import type { CaseIndex, RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Answer, RunStore } from '../store/store.ts';
import type { CaseSource } from './plan-intake.ts';
import { rowsOf } from './read-run.ts';
import { type RunHost, type RunOutcome, resumeRun } from './run-plan.ts';

const isFailure = (value: Json): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value['kind'] === 'failure';

/** A model's answer stays; a provider's failure does not. */
const keepAnswers = (answer: Answer): boolean => !(answer.kind === 'model' && isFailure(answer.value));

const keepNothing = (): boolean => false;

const isError = ({ status }: Row): boolean => status === 'error';

export interface RetryRequest {
  /** Which rows are run again; errors unless told. */
  readonly which?: (row: Row) => boolean;
  /** Ask everything anew instead of what failed. */
  readonly anew?: boolean;
  /** As for a resume: the plan, when not all of it was recorded, and what shall be other than before. */
  readonly cases?: CaseSource | undefined;
  readonly changes?: Parameters<typeof resumeRun>[3];
}

async function comparedWith(run: RunStore, chosen: ReadonlySet<CaseIndex>): Promise<Set<CaseIndex>> {
  const others = new Set<CaseIndex>();
  for (const index of chosen) {
    const one = await run.case(index);
    for (const other of (one?.kind === 'prompt' ? one.comparedWith : undefined) ?? []) {
      if (!chosen.has(other)) others.add(other);
    }
  }
  return others;
}

/** Opens the chosen cases again; the other rows stay as they are. */
async function reopen(run: RunStore, { which = isError, anew = false }: RetryRequest): Promise<void> {
  const chosen = new Set<CaseIndex>();
  for await (const row of rowsOf(run)) {
    if (row.provisional !== true && which(row)) chosen.add(row.index);
  }
  for (const index of chosen) await run.reopen(index, anew ? keepNothing : keepAnswers);
  // What was compared with them is compared again; its own answers are in the journal.
  for (const index of await comparedWith(run, chosen)) await run.reopen(index, keepAnswers);
}

/** Resumes a run with the chosen cases open again; nothing is opened of a run that somebody else works on. */
export const retryRun = (id: RunId, host: RunHost, request: RetryRequest = {}): Promise<RunOutcome> =>
  resumeRun(id, host, request.cases, request.changes, (run) => reopen(run, request));
