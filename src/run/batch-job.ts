import type { ConversationResult } from '../domain/conversation-result.ts';
import type { EpochMillis } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';

export type BatchStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';

/** A batch as other programs see it. */
export interface BatchJob {
  readonly batch_id: string;
  readonly status: BatchStatus;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly prompt_spec_name: string;
  readonly prompt_version: string;
  readonly use_tools: boolean;
  readonly total_scenarios: number;
  readonly completed_scenarios: number;
  readonly failed_scenarios: number;
  /** 0 to 100. */
  readonly progress: number;
  /** Names of those that are being played now. */
  readonly scenarios_in_progress: readonly string[];
  readonly error_message: string | null;
}

/** What is the same from a batch's creation to its end. */
export type BatchFacts = Pick<BatchJob, 'prompt_spec_name' | 'prompt_version' | 'use_tools' | 'total_scenarios'>;

export const iso = (at: EpochMillis | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

/** Whether a row counts as a finished conversation. A failed conversation is counted as failed. */
function isCompleted(row: Row): boolean {
  const result = row.detail as unknown as Partial<ConversationResult> | undefined;
  return result?.status === 'completed';
}

/** How far a batch is, counted as its rows come in. */
export class BatchCount {
  readonly #total: number;
  readonly #live = new Map<number, string>();
  completed = 0;
  failed = 0;

  constructor(total: number) {
    this.#total = total;
  }

  begin(index: number, name: string): void {
    this.#live.set(index, name);
  }

  end(row: Row): void {
    this.#live.delete(row.index);
    if (row.provisional === true) return;
    if (isCompleted(row)) this.completed += 1;
    else this.failed += 1;
  }

  /** Nobody plays any more. */
  stop(): void {
    this.#live.clear();
  }

  get fields(): Pick<BatchJob, 'completed_scenarios' | 'failed_scenarios' | 'progress' | 'scenarios_in_progress'> {
    const done = this.completed + this.failed;
    return {
      completed_scenarios: this.completed,
      failed_scenarios: this.failed,
      progress: this.#total === 0 ? 100 : Math.round((done / this.#total) * 1000) / 10,
      scenarios_in_progress: [...this.#live.values()],
    };
  }
}
