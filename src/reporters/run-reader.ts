import type { Column } from '../domain/case.ts';
import type { EpochMillis, Millis } from '../domain/ids.ts';
import type { Row } from '../domain/row.ts';
import type { RunEfficiency } from '../domain/run-efficiency.ts';
import type { RunEvent, RunTotals } from '../domain/run-event.ts';

/** What a report says about a run as a whole. */
export interface RunInfo {
  readonly id: string;
  /** What the suite calls itself; empty when it says nothing. */
  readonly title: string;
  readonly startedAt: EpochMillis;
  /** Working time of the run, all resumptions together; undefined while unknown. */
  readonly durationMs: Millis | undefined;
  readonly totals: RunTotals;
  readonly complete: boolean;
  /** How close its last sitting came to the least possible time; absent when it made no call. */
  readonly efficiency?: RunEfficiency;
  readonly columns: readonly Column[];
  /** Seeds, versions, limits and the like, as `name: value`, in the order to show them. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** A stored run, read as a stream. Both streams start anew with every call, so that a report may pass over them twice. */
export interface RunReader {
  info(): Promise<RunInfo>;
  /** In plan order. */
  rows(): AsyncIterable<Row>;
  /** In the order in which they happened; empty when the run's events were not kept. */
  events(): AsyncIterable<RunEvent>;
}
