/** Recorded conversations of other tools become a run, with a row for each, as if they had been played here. */
import type { ImportedConversation } from '../conversation/import-messages.ts';
import type { ConversationCase } from '../domain/case.ts';
import { type CaseIndex, caseIndex, caseKey, type RunId } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import type { Row } from '../domain/row.ts';
import { keyCounter } from '../plan/case-key.ts';
import { type SpecificationSnapshot, snapshotOf } from '../prompts/load-specification.ts';
import type { Store } from '../store/store.ts';
import { specificationsJson } from './plan-conversations.ts';
import { newRunId } from './run-plan.ts';

export interface ImportRequest {
  readonly name: string;
  readonly format: string;
  readonly conversations: readonly ImportedConversation[];
  readonly now: number;
}

const page = 256;

/** Stores the conversations as a complete run and gives back its name. Reward 1 is success; no reward is no score. */
export async function importRun(store: Store, { name, format, conversations, now }: ImportRequest): Promise<RunId> {
  const snapshot = importedSpecification(format);
  const id = newRunId(now);
  const run = await store.createRun({
    id,
    name,
    createdAt: now,
    snapshot: { kind: 'import', format, specifications: specificationsJson([snapshot]) },
    options: {},
  });
  const count = keyCounter();
  for (let from = 0; from < conversations.length; from += page) {
    const chunk = conversations.slice(from, from + page);
    const cases = chunk.map((one, at) => caseOf(one, caseIndex(from + at), snapshot, count));
    await run.addCases(cases.map((one, at) => ({ position: from + at, case: one })));
    await Promise.all(chunk.map((one, at) => run.saveRow(rowOf(one, cases[at] as ConversationCase))));
  }
  await run.change({ planned: conversations.length, status: 'complete', endedAt: now });
  await store.flush();
  return id;
}

/** Stands for the prompts that nobody recorded, so that imported conversations can be scored again by a judge. */
function importedSpecification(format: string): SpecificationSnapshot {
  const none = (name: string) => ({ name, prompt: '-', tools: [] });
  const evaluator = {
    name: 'Evaluator',
    prompt:
      'You judge a recorded conversation between an agent and a client. 3: the goal was reached without a mistake that matters. 2: in part. 1: not reached, or something wrong was done.',
    tools: [],
  };
  return snapshotOf(
    { name: `imported:${format}`, version: '1', agents: { agent: none('Agent'), client: none('Client'), evaluator } },
    '.',
  );
}

function caseOf(
  one: ImportedConversation,
  index: CaseIndex,
  snapshot: SpecificationSnapshot,
  count: (key: string) => string,
): ConversationCase {
  return {
    kind: 'conversation',
    index,
    key: caseKey(count(`import:${one.result.session_id}`)),
    name: one.name,
    column: { position: 0, provider: `imported:${one.result.prompt_spec_name}`, prompt: one.result.prompt_spec_name },
    repeat: one.repeat,
    checks: [],
    detail: {
      scenario: { name: one.name, variables: one.result.variables },
      specification: snapshot.hash,
      useTools: true,
      models: { agent: { provider: 'imported' } },
      recorded: one.result as unknown as Json,
    },
  };
}

function rowOf({ result, reward, repeat, name }: ImportedConversation, one: ConversationCase): Row {
  const last = result.conversation_history.findLast(({ speaker }) => speaker !== 'client');
  const verdict =
    reward === null ? {} : { verdict: { pass: reward === 1, score: reward, reason: `Recorded reward ${reward}` } };
  return {
    index: one.index,
    key: one.key,
    name,
    kind: 'conversation',
    column: 0,
    repeat,
    // Without a recorded reward nobody knows whether it succeeded.
    status: reward === null ? 'skipped' : reward === 1 ? 'passed' : 'failed',
    score: reward,
    output: last?.content ?? '',
    ...verdict,
    detail: result as unknown as Json,
    latencyMs: 0,
    queueMs: 0,
    backoffMs: 0,
    attempts: 0,
    costUsdMicros: null,
  };
}
