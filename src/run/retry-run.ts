/** Runs the cases of a finished run again that ended badly: what was answered well is kept, what failed is asked again. */

import type { RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import type { Answer } from '../store/store.ts';
import { rowsOf } from './read-run.ts';
import { findRun, type RunHost, type RunOutcome, resumeRun } from './run-plan.ts';

const isFailure = (value: Json): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value['kind'] === 'failure';

/** A model's answer stays; a provider's failure does not. */
const keepAnswers = (answer: Answer): boolean => !(answer.kind === 'model' && isFailure(answer.value));

const keepNothing = (): boolean => false;

export interface RetryRequest {
  /** Which rows are run again; errors unless told. */
  readonly which?: (row: Row) => boolean;
  /** Ask everything anew instead of what failed. */
  readonly anew?: boolean;
}

/** Opens the chosen cases again and resumes the run; the other rows stay as they are. */
export async function retryRun(id: RunId, host: RunHost, request: RetryRequest = {}): Promise<RunOutcome> {
  const { which = ({ status }) => status === 'error', anew = false } = request;
  const run = await findRun(host.store, id);
  for await (const row of rowsOf(run)) {
    if (row.provisional !== true && which(row)) await run.reopen(row.index, anew ? keepNothing : keepAnswers);
  }
  return resumeRun(id, host);
}
