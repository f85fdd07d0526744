import type { Case } from './case.ts';
import type { CaseIndex, CaseKey, Millis, UsdMicros } from './ids.ts';
import type { Json } from './json.ts';
import type { Usage } from './reply.ts';
import type { Verdict } from './verdict.ts';

/** How a case ended. `error`: infrastructure or code failed, which is not a wrong answer. */
export type RowStatus = 'passed' | 'failed' | 'error' | 'skipped' | 'aborted';

/** A case's result. The first block is canonical: equal after kill and resume. The second is this execution's own. */
export interface Row {
  readonly index: CaseIndex;
  readonly key: CaseKey;
  readonly name: string;
  readonly kind: 'prompt' | 'conversation';
  readonly column: number;
  readonly repeat: number;
  readonly status: RowStatus;
  /** Null when nothing could be scored. */
  readonly score: number | null;
  readonly output: Json;
  readonly verdict?: Verdict;
  readonly error?: { readonly code: string; readonly message: string };
  /** Kind-specific detail: the rendered prompt and response, or the conversation result of the contract. */
  readonly detail?: Json;

  readonly latencyMs: Millis;
  readonly queueMs: Millis;
  readonly backoffMs: Millis;
  readonly attempts: number;
  readonly usage?: Usage;
  /** Null when any part of it has no known price. */
  readonly costUsdMicros: UsdMicros | null;
  /** Left by a run-level stop: shown, but replaced on resume. */
  readonly provisional?: boolean;
}

/** A row's status in the words people are told: what a stop left open is played by a resume, what was cancelled is over. */
export type ShownStatus = Exclude<RowStatus, 'aborted'> | 'cancelled' | 'open';

export function shownStatus({ status, provisional }: Pick<Row, 'status' | 'provisional'>): ShownStatus {
  if (provisional === true) return 'open';
  return status === 'aborted' ? 'cancelled' : status;
}

type RowIdentity = Pick<Row, 'index' | 'key' | 'name' | 'kind' | 'column' | 'repeat'>;

/** Which case a row is of. */
export const rowIdentity = ({ index, key, name, kind, column, repeat }: Case): RowIdentity => ({
  index,
  key,
  name,
  kind,
  column: column.position,
  repeat,
});
