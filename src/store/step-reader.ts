/** A case's journal for people, replay and fork: every send with its request as it was and the answer it got. */
import { type CaseIndex, caseIndex } from '../domain/ids.ts';
import type { Json } from '../domain/json.ts';
import { decodeRequest } from './message-chain.ts';
import type { SqlParts } from './sql-run-store.ts';
import type { Answer, StepKind, StepRecord } from './store.ts';
import { answerOf } from './stored-answer.ts';

type Messages = Map<string, { readonly parent: string; readonly message: Json }>;

async function readHistory(parts: SqlParts, end: string, known: Messages): Promise<Json[]> {
  const messages: Json[] = [];
  for (let hash = end; hash !== ''; ) {
    let node = known.get(hash);
    if (node === undefined) {
      const cells = await parts.db
        .selectFrom('messages')
        .selectAll()
        .where('hash', '=', hash)
        .executeTakeFirstOrThrow();
      const { parent, body } = parts.statements.sound('messages', cells);
      node = { parent, message: JSON.parse(body) as Json };
      known.set(hash, node);
    }
    messages.push(node.message);
    hash = node.parent;
  }
  return messages.reverse();
}

const name = (path: string, send: number): string => `${send} ${path}`;

async function readAnswers(parts: SqlParts, run: number, index: CaseIndex): Promise<Map<string, Answer>> {
  const found = await parts.db
    .selectFrom('answers')
    .selectAll()
    .where('run', '=', run)
    .where('idx', '=', index)
    .execute();
  return new Map(
    found.map((cells) => [name(cells.path, cells.send), answerOf(parts.statements.sound('answers', cells))]),
  );
}

const readIntents = (parts: SqlParts, run: number, index: CaseIndex) =>
  parts.db
    .selectFrom('intents')
    .selectAll()
    .where('run', '=', run)
    .where('idx', '=', index)
    .orderBy('sent_at')
    .orderBy('path')
    .orderBy('send')
    .execute();

const readOnly = (answer: Answer): StepRecord => ({
  index: answer.index,
  path: answer.path,
  send: answer.send,
  kind: answer.kind,
  requestHash: answer.requestHash,
  answer,
});

export async function readSteps(parts: SqlParts, run: number, index: CaseIndex): Promise<readonly StepRecord[]> {
  const answers = await readAnswers(parts, run, index);
  const known: Messages = new Map();
  const steps: StepRecord[] = [];
  for (const cells of await readIntents(parts, run, index)) {
    const intent = parts.statements.sound('intents', cells);
    const answer = answers.get(name(intent.path, intent.send));
    answers.delete(name(intent.path, intent.send));
    steps.push({
      index: caseIndex(intent.idx),
      path: intent.path,
      send: intent.send,
      kind: intent.kind as StepKind,
      request: decodeRequest(intent.request, await readHistory(parts, intent.history, known)),
      requestHash: intent.request_hash,
      sentAt: intent.sent_at,
      ...(answer === undefined ? {} : { answer }),
    });
  }
  return [...steps, ...[...answers.values()].map(readOnly)];
}
