/** What the process ends with, so that scripts can tell. */
import { ParlaneError } from '../domain/errors.ts';
import type { RunTotals } from '../domain/run-event.ts';

export const exitCodes = {
  passed: 0,
  bug: 1,
  /** Bad usage, config, input or store before the first call: nothing ran, nothing was spent. */
  badInput: 2,
  /** Stopped before the plan was done; can be resumed. */
  incomplete: 3,
  providerErrors: 4,
  failed: 100,
} as const;

export interface ExitRules {
  /** For failed checks; 100 unless told. */
  readonly failed?: number;
  /** For complete runs with error rows: 4, or what failed checks give where errors count as failures. */
  readonly errors?: number;
}

/** When several apply, the more serious one counts. */
export function exitCodeOf(
  outcome: { readonly totals: RunTotals; readonly complete: boolean },
  { failed = exitCodes.failed, errors = exitCodes.providerErrors }: ExitRules = {},
): number {
  if (!outcome.complete) return exitCodes.incomplete;
  // A cancelled case has no verdict either: nobody may take such a run for one that passed.
  if (outcome.totals.errors + outcome.totals.aborted > 0) return errors;
  return outcome.totals.failed > 0 ? failed : exitCodes.passed;
}

/** For an error that ended a command: a person can act on it, or it is a bug. */
export const exitCodeOfError = (error: unknown): number =>
  error instanceof ParlaneError && !error.code.startsWith('bug/') ? exitCodes.badInput : exitCodes.bug;
