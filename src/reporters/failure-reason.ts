import type { Row } from '../domain/row.ts';
import type { Verdict } from '../domain/verdict.ts';

/** The check that decided against a row: the innermost failed one, told by its own reason. */
function failedCheck(verdict: Verdict | undefined): Verdict | undefined {
  if (verdict === undefined || verdict.pass) return undefined;
  for (const part of verdict.componentResults ?? []) {
    const inner = failedCheck(part);
    if (inner !== undefined) return inner;
  }
  return verdict;
}

/** Why a row is not green, in the words of whoever decided it; may hold a model's own text. */
export function failureReason(row: Pick<Row, 'status' | 'verdict' | 'error'>): string {
  if (row.status === 'error' || row.status === 'aborted') return row.error?.message ?? row.verdict?.error ?? '';
  const check = failedCheck(row.verdict);
  return check?.reason ?? row.verdict?.reason ?? row.error?.message ?? '';
}
