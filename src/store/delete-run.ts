/**
 * Job: what a deleted run leaves behind is nothing: its rows in every table, and snapshots and messages that no other run
 * refers to, because transcripts hold what people said.
 *
 * Invariants: 1. Everything goes in one transaction. 2. A message that any other run's request leads to stays. 3. While
 * somebody works on another run, shared messages stay: that process may be about to refer to one it wrote before.
 */
import type { Write } from './group-commit.ts';
import type { RunRecord } from './store.ts';

const perRun = ['cases', 'intents', 'answers', 'rows', 'events'] as const;

const unreachable = `
  delete from messages where hash not in (
    with recursive live (hash) as (
      select history from intents
      union
      select messages.parent from messages join live on messages.hash = live.hash
    ) select hash from live
  )`;

/** The writes that take away the run with this number, given the records of all that stay. */
export function deletions(number: number, others: readonly RunRecord[]): Write[] {
  const kept = [...new Set(others.map(({ snapshot }) => snapshot))];
  const idle = others.every(({ owner }) => owner === undefined);
  return [
    ...perRun.map((table) => ({ sql: `delete from ${table} where run = ?`, values: [number] })),
    { sql: 'delete from forks where run = ? or parent = ?', values: [number, number] },
    { sql: 'delete from runs where number = ?', values: [number] },
    { sql: `delete from blobs where hash not in (${kept.map(() => '?').join(', ')})`, values: kept },
    ...(idle ? [{ sql: unreachable, values: [] }] : []),
  ];
}
