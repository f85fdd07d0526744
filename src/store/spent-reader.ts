/** What a run's model calls have cost, from its journal. Answers that were pinned by a fork are another run's. */
import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import type { RoleSpent, Spent } from './store.ts';

const paidAnswers = (db: Kysely<Schema>, run: number) =>
  db.selectFrom('answers').where('run', '=', run).where('kind', '=', 'model').where('pinned', '=', 0);

export async function readSpent(db: Kysely<Schema>, run: number): Promise<Spent> {
  const paid = await paidAnswers(db, run)
    .select(({ fn }) => [fn.sum('cost').as('cost'), fn.countAll().as('all'), fn.count('cost').as('priced')])
    .executeTakeFirstOrThrow();
  const open = await db
    .selectFrom('intents as i')
    .leftJoin('answers as a', (join) =>
      join
        .onRef('a.run', '=', 'i.run')
        .onRef('a.idx', '=', 'i.idx')
        .onRef('a.path', '=', 'i.path')
        .onRef('a.send', '=', 'i.send'),
    )
    .select(({ fn }) => fn.sum('i.reserved').as('reserved'))
    .where('i.run', '=', run)
    .where('a.send', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    usdMicros: Number(paid.cost ?? 0),
    unknown: Number(paid.all) - Number(paid.priced),
    maybeUsdMicros: Number(open.reserved ?? 0),
  };
}

export async function readSpentByRole(db: Kysely<Schema>, run: number): Promise<RoleSpent[]> {
  const found = await paidAnswers(db, run)
    .select(({ fn }) => [
      'role',
      fn.countAll().as('calls'),
      fn.sum('input_tokens').as('input'),
      fn.sum('output_tokens').as('output'),
      fn.sum('cost').as('cost'),
      fn.count('cost').as('priced'),
    ])
    .groupBy('role')
    .orderBy('role')
    .execute();
  return found.map(({ role, calls, input, output, cost, priced }) => ({
    role: role ?? 'other',
    calls: Number(calls),
    inputTokens: Number(input ?? 0),
    outputTokens: Number(output ?? 0),
    usdMicros: Number(cost ?? 0),
    unknown: Number(calls) - Number(priced),
  }));
}
