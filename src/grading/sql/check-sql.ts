/**
 * Tells whether a text is SQL, and which tables and columns it touches. A small parser of the common statements, with
 * the main differences between dialects; it does not know every corner of every database.
 */
import { Cursor } from './cursor.ts';
import { statement } from './statement.ts';
import { dialectOf, SqlProblem, tokensOf } from './tokens.ts';

export type SqlReading =
  | { readonly kind: 'sql'; readonly tables: readonly string[]; readonly columns: readonly string[] }
  | { readonly kind: 'not-sql'; readonly problem: string };

export function readSql(sql: string, databaseType: string): SqlReading {
  const dialect = dialectOf(databaseType);
  try {
    const cursor = new Cursor(tokensOf(sql, dialect), dialect);
    if (cursor.peek().kind === 'end') return { kind: 'not-sql', problem: 'there is no statement' };
    while (cursor.peek().kind !== 'end') {
      statement(cursor);
      if (cursor.peek().kind !== 'end') cursor.needMark(';');
      while (cursor.takeMark(';')) {
        // Empty statements between.
      }
    }
    const { tables, columns, common } = cursor.touched;
    const stored = [...tables].filter((entry) => !common.has(entry.split('::')[2] ?? ''));
    return { kind: 'sql', tables: stored, columns: [...columns] };
  } catch (error) {
    if (error instanceof SqlProblem) return { kind: 'not-sql', problem: error.message };
    throw error;
  }
}
