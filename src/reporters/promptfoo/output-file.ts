/** An eval as promptfoo's output file (`{evalId, results, config, metadata, ...}`), written row by row. */
import type { PromptCase } from '../../domain/case.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Row } from '../../domain/row.ts';
import { chunkedWriter } from '../chunked-writer.ts';
import type { TextSink } from '../observer.ts';
import { type ColumnFacts, type Derive, type EvalSummary, evalSummary } from './column-metrics.ts';
import { evaluateResult } from './evaluate-result.ts';

export interface OutputFacts {
  readonly evalId: string;
  readonly version: string;
  readonly startedAt: string;
  readonly exportedAt: string;
  readonly durationMs: number;
  readonly platform: { readonly nodeVersion: string; readonly platform: string; readonly arch: string };
  readonly config: JsonObject;
  readonly columns: readonly ColumnFacts[];
  /** Adds the suite's derived metrics. */
  readonly derive?: Derive;
}

export type Rows = AsyncIterable<{ readonly case: PromptCase; readonly row: Row }>;

async function summed(rows: Rows, columns: readonly ColumnFacts[]): Promise<EvalSummary> {
  const summary = evalSummary(columns);
  for await (const { row } of rows) summary.add(row);
  return summary;
}

/** What stands around the rows, in this order: the id, the head with the rows as its last part, the rest. */
export interface OutputFrame {
  readonly evalId: string;
  readonly head: object;
  readonly rest: object;
}

/** Passes over all rows once, for the sums that stand before them. */
export async function outputFrame(rows: Rows, facts: OutputFacts): Promise<OutputFrame> {
  const summary = await summed(rows, facts.columns);
  const { evalId, version, platform, startedAt, exportedAt, config } = facts;
  const metadata = { parlaneVersion: version, ...platform, exportedAt, evaluationCreatedAt: startedAt };
  const prompts = await summary.prompts(facts.derive);
  const head = { version: 3, timestamp: startedAt, prompts, stats: summary.stats(facts.durationMs) };
  return { evalId, head, rest: { config, shareableUrl: null, metadata } };
}

/** Passes over the rows twice: once for the sums that stand before them, once to write them. */
export async function writePromptfooJson(rows: () => Rows, facts: OutputFacts, sink: TextSink): Promise<void> {
  const { evalId, head, rest } = await outputFrame(rows(), facts);
  const writer = chunkedWriter(sink);
  const open = JSON.stringify(head).slice(0, -1);
  await writer.write(`{"evalId":${JSON.stringify(evalId)},"results":${open},"results":[`);
  let first = true;
  for await (const { case: planned, row } of rows()) {
    await writer.write(`${first ? '\n' : ',\n'}${JSON.stringify(evaluateResult(planned, row))}`);
    first = false;
  }
  await writer.write(`\n]},${JSON.stringify(rest).slice(1)}\n`);
  await writer.flush();
}

/** One `EvaluateResult` a line. */
export async function writePromptfooLines(rows: Rows, sink: TextSink): Promise<void> {
  const writer = chunkedWriter(sink);
  for await (const { case: planned, row } of rows)
    await writer.write(`${JSON.stringify(evaluateResult(planned, row))}\n`);
  await writer.flush();
}
