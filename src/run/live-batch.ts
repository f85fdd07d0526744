/** A batch as this process knows it, from its creation to its end. */
import type { Case } from '../domain/case.ts';
import type { Json } from '../domain/json.ts';
import { budgetWords } from '../domain/measures.ts';
import type { RunEvent } from '../domain/run-event.ts';
import { type BatchCount, type BatchFacts, type BatchJob, type BatchStatus, iso } from './batch-job.ts';
import { detailOf } from './conversation-case.ts';
import type { RunObserver } from './event-log.ts';
import { specificationsOf } from './plan-conversations.ts';
import type { RunHost, RunOutcome } from './run-plan.ts';

export interface Live {
  readonly facts: BatchFacts;
  readonly count: BatchCount;
  readonly createdAt: number;
  readonly cancel: AbortController;
  readonly start?: (host: RunHost) => Promise<RunOutcome>;
  status: BatchStatus;
  startedAt?: number;
  endedAt?: number;
  error?: string;
}

export const stopped = (reason: string): string => `The batch was stopped (${reason}); it can be resumed.`;

export function finish(live: Live, outcome: RunOutcome, cancelled: boolean): void {
  if (outcome.complete) {
    live.status = 'completed';
    return;
  }
  live.status = cancelled ? 'cancelled' : 'failed';
  const why = outcome.need === undefined ? outcome.stopReason : `budget: ${budgetWords(outcome.need)}`;
  live.error = outcome.error?.message ?? stopped(why ?? 'interrupted');
}

export const counting =
  (count: BatchCount): RunObserver =>
  (event: RunEvent) => {
    if (event.type === 'case-start') count.begin(event.index, event.name);
    if (event.type === 'case-end') count.end(event.row);
  };

export function factsOf(cases: readonly Case[], snapshot: Json): BatchFacts {
  const one = cases.find((candidate) => candidate.kind === 'conversation');
  const detail = one === undefined ? undefined : detailOf(one);
  const specification =
    detail === undefined ? undefined : specificationsOf(snapshot).get(detail.specification)?.specification;
  return {
    prompt_spec_name: specification?.name ?? '',
    prompt_version: specification?.version ?? '',
    use_tools: detail?.useTools ?? false,
    total_scenarios: cases.length,
  };
}

export const jobOf = (id: string, live: Live): BatchJob => ({
  batch_id: id,
  status: live.status,
  created_at: iso(live.createdAt) ?? '',
  started_at: iso(live.startedAt),
  completed_at: iso(live.endedAt),
  ...live.facts,
  ...live.count.fields,
  error_message: live.error ?? null,
});
