/** The result files of a batch: conversation results as the contract has them, or a report as of every run. */
import { extname } from 'node:path';
import { ParlaneError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { type BatchFormat, BatchProcessor } from '../run/batch-processor.ts';
import { findRun } from '../run/run-plan.ts';
import type { Store } from '../store/store.ts';
import type { CliContext } from './cli-context.ts';
import { isReport, writeRunFile } from './commands/export.ts';
import { outputPath, writeOutput } from './output-file.ts';

const formats: Readonly<Record<string, BatchFormat>> = {
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
};

const formatOf = (output: string): BatchFormat | undefined => formats[extname(output).toLowerCase()];

/** Refuses a file that cannot be written or whose ending names no format, before anything is run. */
export function checkBatchFile(output: string, cwd: string): void {
  outputPath(output, cwd);
  if (formatOf(output) !== undefined || isReport(output)) return;
  throw new ParlaneError(
    'cli/bad-output',
    `Results cannot be written as "${output}".`,
    'End the name in .json, .ndjson or .csv; or in .html or .xml (JUnit) for a report.',
    { output },
  );
}

export async function writeBatchFile(output: string, run: RunId, store: Store, context: CliContext): Promise<void> {
  const format = formatOf(output);
  if (format === undefined) {
    await writeRunFile(store, await (await findRun(store, run)).record(), { output }, context);
    return;
  }
  const processor = new BatchProcessor({ store, folder: context.cwd });
  await writeOutput(output, context, async (sink) => {
    await sink.write(await processor.export(run, format));
  });
}
