/**
 * The same output file as YAML, row by row. A row is written inside the maps and the list that it stands in, and those
 * are cut off again: so it is indented, and its long lines are broken, exactly as in a document that is made as a whole.
 */
import { stringify } from 'yaml';
import { chunkedWriter } from '../chunked-writer.ts';
import type { TextSink } from '../observer.ts';
import { evaluateResult } from './evaluate-result.ts';
import { type OutputFacts, outputFrame, type Rows } from './output-file.ts';

/** As JSON has it: nothing that is undefined, and no object twice, which YAML would refer to instead of repeating it. */
const yaml = (value: object): string => stringify(JSON.parse(JSON.stringify(value)));

const opening = 'results:\n  results:\n';

export async function writePromptfooYaml(rows: () => Rows, facts: OutputFacts, sink: TextSink): Promise<void> {
  const { evalId, head, rest } = await outputFrame(rows(), facts);
  const writer = chunkedWriter(sink);
  await writer.write(yaml({ evalId, results: head }));
  let first = true;
  for await (const { case: planned, row } of rows()) {
    if (first) await writer.write('  results:\n');
    first = false;
    await writer.write(yaml({ results: { results: [evaluateResult(planned, row)] } }).slice(opening.length));
  }
  if (first) await writer.write('  results: []\n');
  await writer.write(yaml(rest));
  await writer.flush();
}
