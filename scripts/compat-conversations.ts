/**
 * Compatibility with recorded conversations: imports tau-bench trajectories, replays every one of them offline and
 * counts pass^k. Takes the corpus folder as argument, else `../shared/corpus`; says so when there is none.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importTauBench } from '../src/conversation/import-tau-bench.ts';
import { replayResult, spokenAndDone } from '../src/conversation/replay-result.ts';
import { resultValidator } from '../src/conversation/result-schema.ts';
import { summarizeBatch } from '../src/conversation/summarize-batch.ts';
import type { Json } from '../src/domain/json.ts';

const expected = [0.42, 0.273, 0.22, 0.2];

/** Runs the check; the number of problems it found. */
async function compatConversations(corpus: string): Promise<number> {
  const file = join(corpus, 'tau-bench', 'gpt-4o-airline.json');
  if (!existsSync(file)) {
    console.log(`conversations: no corpus at ${file}; nothing was checked`);
    return 0;
  }
  const { conversations, problems } = importTauBench(file, readFileSync(file, 'utf8'), 0);
  const faultsOf = resultValidator();
  const found = problems.map(({ message }) => message);
  let reused = 0;
  for (const { name, repeat, result } of conversations) {
    const ids = result.conversation_history.flatMap(({ tool_calls: calls }) => calls ?? []).map(({ id }) => id);
    if (new Set(ids).size < ids.length) reused += 1;
    found.push(...faultsOf(result).map((fault) => `${name}/${repeat}: ${fault}`));
    const replayed = await replayResult(result);
    if (JSON.stringify(spokenAndDone(replayed)) !== JSON.stringify(spokenAndDone(result)))
      found.push(`${name}/${repeat}: the replay differs`);
  }
  const summary = summarizeBatch(
    conversations.map(({ name, repeat, result, reward }) => ({
      name,
      repeat,
      column: 0,
      status: reward === 1 ? 'passed' : 'failed',
      costUsdMicros: null,
      detail: result as unknown as Json,
    })),
  );
  const hat = summary.pass_hat_k.map((value) => value.toFixed(3));
  if (hat.join() !== expected.map((value) => value.toFixed(3)).join())
    found.push(`pass^k is ${hat.join(', ')}, expected ${expected.join(', ')}`);
  console.log(
    `conversations: ${conversations.length} imported and replayed, ${reused} with reused call ids, pass^1..${hat.length} = ${hat.join(', ')}, pass@1..${hat.length} = ${summary.pass_at_k.map((value) => value.toFixed(3)).join(', ')}`,
  );
  for (const problem of found.slice(0, 20)) console.error(`  ${problem}`);
  return found.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode =
    (await compatConversations(process.argv[2] ?? join(import.meta.dirname, '..', '..', 'shared', 'corpus'))) === 0
      ? 0
      : 1;
}
