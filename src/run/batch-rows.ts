/** The rows of a batch as they are read back: in plan order, a page at a time. */
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Row } from '../domain/row.ts';
import type { RunStore } from '../store/store.ts';

/** A run's rows in plan order, a page at a time. */
export async function* rowsOf(run: RunStore): AsyncGenerator<Row> {
  for (let after = -1; ; ) {
    const page = await run.rows({ after, limit: 200 });
    for (const { row } of page) yield row;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.row.index;
  }
}

/** The conversation's result, when the row holds one. */
export function resultOf({ detail }: Row): ConversationResult | undefined {
  const isResult = typeof detail === 'object' && detail !== null && 'conversation_history' in detail;
  return isResult ? (detail as unknown as ConversationResult) : undefined;
}
