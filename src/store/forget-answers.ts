/**
 * Answers that shall be asked for again are taken away. That they were asked for stays known, and so does what was reserved
 * for them: it may have been paid. Only of those that were not billed nothing is.
 */
import type { Compilable } from 'kysely';
import type { Write } from './group-commit.ts';
import type { SqlParts } from './sql-run-store.ts';
import type { Answer } from './store.ts';

export function written(query: Compilable): Write {
  const { sql, parameters } = query.compile();
  return { sql, values: parameters as Write['values'] };
}

async function released({ db, statements }: SqlParts, run: number, { index, path, send }: Answer): Promise<Write[]> {
  const intent = await db
    .selectFrom('intents')
    .selectAll()
    .where('run', '=', run)
    .where('idx', '=', index)
    .where('path', '=', path)
    .where('send', '=', send)
    .executeTakeFirst();
  if (intent === undefined || intent.reserved === 0) return [];
  const remove = db
    .deleteFrom('intents')
    .where('run', '=', run)
    .where('idx', '=', index)
    .where('path', '=', path)
    .where('send', '=', send);
  return [written(remove), statements.put('intents', { ...statements.sound('intents', intent), reserved: 0 })];
}

/** The writes that forget these answers of a run. */
export async function forgetting(parts: SqlParts, run: number, answers: readonly Answer[]): Promise<Write[]> {
  const writes: Write[] = [];
  for (const answer of answers) {
    const remove = parts.db
      .deleteFrom('answers')
      .where('run', '=', run)
      .where('idx', '=', answer.index)
      .where('path', '=', answer.path);
    writes.push(written(remove));
    if (answer.billing === 'none') writes.push(...(await released(parts, run, answer)));
  }
  return writes;
}
