/** A run's record as one text, so that one checksum covers all of it. */
import { type RunId, runId } from '../domain/ids.ts';
import type { NewRun, RunChange, RunRecord } from './store.ts';

type Body = Omit<RunRecord, 'id' | 'createdAt'>;

export const newRunRecord = (run: NewRun, snapshot: string): RunRecord => ({
  id: run.id,
  name: run.name,
  createdAt: run.createdAt,
  snapshot,
  status: 'running',
  options: run.options,
});

/** The record after a change; null takes a field away. */
export function changedRecord(record: RunRecord, change: RunChange): RunRecord {
  const next: Record<string, unknown> = { ...record };
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete next[name];
    else if (value !== undefined) next[name] = value;
  }
  return next as unknown as RunRecord;
}

export function recordCells(record: RunRecord): { id: RunId; created_at: number; body: string } {
  const { id, createdAt, ...body } = record;
  return { id, created_at: createdAt, body: JSON.stringify(body satisfies Body) };
}

export const recordOf = (cells: { id: string; created_at: number; body: string }): RunRecord => ({
  id: runId(cells.id),
  createdAt: cells.created_at,
  ...(JSON.parse(cells.body) as Body),
});
