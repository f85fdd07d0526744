import type { Row } from '../../domain/row.ts';
import type { RunReader } from '../run-reader.ts';

/** What the report says about each column (provider x prompt), gathered while the rows stream by. */
export interface ColumnStatistics {
  readonly position: number;
  cases: number;
  passed: number;
  failed: number;
  errors: number;
  scores: number;
  scoreSum: number;
  /** Null as soon as one price is unknown. */
  costUsdMicros: number | null;
  readonly latencies: Histogram;
}

/** Latencies in buckets that grow by 5 %: percentiles from a few hundred numbers, however many rows there are. */
export interface Histogram {
  readonly counts: number[];
  total: number;
}

const growth = Math.log(1.05);

function addLatency(histogram: Histogram, ms: number): void {
  const bucket = Math.max(0, Math.round(Math.log(Math.max(1, ms)) / growth));
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.total++;
}

export function percentile(histogram: Histogram, share: number): number {
  let left = Math.ceil(histogram.total * share);
  for (let bucket = 0; bucket < histogram.counts.length; bucket++) {
    left -= histogram.counts[bucket] ?? 0;
    if (left <= 0) return Math.exp(bucket * growth);
  }
  return 0;
}

function count(column: ColumnStatistics, row: Row): void {
  column.cases++;
  if (row.status === 'passed') column.passed++;
  else if (row.status === 'failed') column.failed++;
  else if (row.status === 'error') column.errors++;
  if (row.score !== null) {
    column.scores++;
    column.scoreSum += row.score;
  }
  const known = column.costUsdMicros !== null && row.costUsdMicros !== null;
  column.costUsdMicros = known ? (column.costUsdMicros ?? 0) + (row.costUsdMicros ?? 0) : null;
  addLatency(column.latencies, row.latencyMs);
}

/** One pass over the rows. */
export async function columnStatistics(reader: RunReader): Promise<ColumnStatistics[]> {
  const columns = new Map<number, ColumnStatistics>();
  for await (const row of reader.rows()) {
    let column = columns.get(row.column);
    if (column === undefined) {
      const latencies = { counts: [], total: 0 };
      column = {
        position: row.column,
        cases: 0,
        passed: 0,
        failed: 0,
        errors: 0,
        scores: 0,
        scoreSum: 0,
        costUsdMicros: 0,
        latencies,
      };
      columns.set(row.column, column);
    }
    count(column, row);
  }
  return [...columns.values()].sort((a, b) => a.position - b.position);
}
