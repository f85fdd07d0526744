/** A spend cap that cannot pay for the next call, in words. */
import { ParlaneError } from '../domain/errors.ts';
import { budgetWords } from '../domain/measures.ts';
import type { BudgetNeed } from '../domain/run-event.ts';

const tooSmall = 'budget/too-small';

/** A cap that is smaller than what one call may cost lets nothing go, now or later. */
export function refuseTooSmall(need: BudgetNeed): void {
  if (need.nextUsdMicros <= need.capUsdMicros) return;
  throw new ParlaneError(
    tooSmall,
    `The budget is too small for one call: ${budgetWords(need)}.`,
    'A smaller max_tokens needs less. Nothing was sent, nothing was spent.',
    { ...need },
  );
}

export const isTooSmall = (error: unknown): boolean => error instanceof ParlaneError && error.code === tooSmall;
