import { insert, remove, update } from './change.ts';
import type { Cursor } from './cursor.ts';
import { alter, create, drop, rest } from './definition.ts';
import { query, tableName, withClause } from './query.ts';

type Rule = (cursor: Cursor) => void;

function truncate(cursor: Cursor): void {
  cursor.takeWord('table');
  tableName(cursor, 'truncate');
}

function command(cursor: Cursor): void {
  if (cursor.peek().kind === 'end') cursor.fail('more expected');
  rest(cursor);
}

/** What begins a statement, and how it goes on; everything else must be a query. */
const rules: readonly (readonly [words: readonly string[], rule: Rule])[] = [
  [['insert', 'replace'], insert],
  [['update'], update],
  [['delete'], remove],
  [['create'], create],
  [['drop'], drop],
  [['alter'], alter],
  [['truncate'], truncate],
  [['explain', 'analyze'], (cursor) => statement(cursor)],
  [['use', 'show', 'describe', 'desc', 'set'], command],
  [['begin', 'commit', 'rollback', 'start'], rest],
];

/** One statement of any kind that is known. */
export function statement(cursor: Cursor): void {
  if (cursor.takeWord('with')) withClause(cursor);
  const rule = rules.find(([words]) => cursor.takeOneOf(words))?.[1] ?? query;
  rule(cursor);
}
