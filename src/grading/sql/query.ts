import type { Cursor } from './cursor.ts';
import { expression, orderList } from './expression.ts';

export const value = (cursor: Cursor): void => expression(cursor, query);

/** `db.users`, noted with what is done to it. */
export function tableName(cursor: Cursor, deed: string): string {
  const parts = [cursor.needName()];
  while (cursor.takeMark('.')) parts.push(cursor.needName());
  const table = parts.at(-1) ?? '';
  cursor.touched.tables.add(`${deed}::${parts.at(-2) ?? 'null'}::${table}`);
  return table;
}

export function alias(cursor: Cursor): boolean {
  if (cursor.takeWord('as')) {
    if (cursor.peek().kind === 'text') cursor.next();
    else cursor.needName();
    return true;
  }
  if (!cursor.isName()) return false;
  cursor.next();
  return true;
}

function source(cursor: Cursor): void {
  cursor.takeWord('lateral');
  if (cursor.takeMark('(')) {
    if (cursor.isWord('select') || cursor.isWord('with') || cursor.isWord('values')) query(cursor);
    else sources(cursor);
    cursor.needMark(')');
  } else if (cursor.isName() && cursor.peek(1).text === '(') value(cursor);
  else tableName(cursor, 'select');
  alias(cursor);
  if (cursor.takeMark('(')) {
    cursor.list(() => void cursor.needName());
    cursor.needMark(')');
  }
}

const joins = ['inner', 'cross', 'natural', 'left', 'right', 'full', 'outer', 'straight_join'];

export function sources(cursor: Cursor): void {
  cursor.list(() => {
    source(cursor);
    while (cursor.isWord('join') || cursor.isOneOf(joins)) {
      while (cursor.takeOneOf(joins)) {
        // LEFT OUTER and the like.
      }
      cursor.needWord('join');
      source(cursor);
      if (cursor.takeWord('on')) value(cursor);
      else if (cursor.takeWord('using')) names(cursor);
    }
  });
}

export function names(cursor: Cursor): void {
  cursor.needMark('(');
  cursor.list(() => void cursor.needName());
  cursor.needMark(')');
}

const mySqlModifiers = [
  'distinctrow',
  'high_priority',
  'straight_join',
  'sql_big_result',
  'sql_buffer_result',
  'sql_cache',
  'sql_calc_found_rows',
  'sql_no_cache',
  'sql_small_result',
];

export function selectList(cursor: Cursor): void {
  let items = 0;
  let bare = false;
  cursor.list(() => {
    items += 1;
    if (cursor.takeMark('*')) return void cursor.touched.columns.add('select::null::(.*)');
    const isColumn = cursor.isName() && !['(', '.'].includes(cursor.peek(1).text);
    const spelled = cursor.peek(1).text === 'as';
    value(cursor);
    if (alias(cursor)) bare = isColumn && !spelled;
  });
  // `SELECT id name FROM`: far more often a forgotten comma than a new name.
  if (items === 1 && bare && cursor.isWord('from')) cursor.fail('"," expected');
}

function core(cursor: Cursor): void {
  if (cursor.takeWord('values')) {
    cursor.list(() => row(cursor));
    return;
  }
  if (cursor.takeMark('(')) {
    query(cursor);
    cursor.needMark(')');
    return;
  }
  cursor.needWord('select');
  while (cursor.takeOneOf(['distinct', 'all', ...(cursor.dialect.isMySql ? mySqlModifiers : [])])) {
    // Several may be given.
  }
  if (cursor.dialect.isTransact && cursor.takeWord('top')) value(cursor);
  if (cursor.dialect.isPostgres && cursor.takeWord('on')) row(cursor);
  selectList(cursor);
  if (cursor.takeWord('into')) tableName(cursor, 'insert');
  if (cursor.takeWord('from')) sources(cursor);
  if (cursor.takeWord('where')) value(cursor);
  if (cursor.takeWord('group', 'by')) {
    cursor.list(() => value(cursor));
    cursor.takeWord('with', 'rollup');
  }
  if (cursor.takeWord('having')) value(cursor);
}

export function row(cursor: Cursor): void {
  cursor.needMark('(');
  if (!cursor.isMark(')')) cursor.list(() => value(cursor));
  cursor.needMark(')');
}

export function endOfQuery(cursor: Cursor): void {
  if (cursor.takeWord('order', 'by')) orderList(cursor, query);
  if (cursor.takeWord('limit')) {
    value(cursor);
    if (cursor.takeMark(',')) value(cursor);
  }
  if (cursor.takeWord('offset')) {
    value(cursor);
    cursor.takeOneOf(['rows', 'row']);
  }
  if (cursor.takeWord('fetch')) skip(cursor, ['first', 'next', 'rows', 'row', 'only'], 'number');
  if (cursor.takeWord('for')) skip(cursor, ['update', 'share', 'skip', 'locked', 'nowait', 'of'], 'name');
}

/** Takes a run of these words, with numbers or names between. */
function skip(cursor: Cursor, words: readonly string[], between: 'number' | 'name'): void {
  while (cursor.takeOneOf(words) || cursor.peek().kind === between) {
    if (cursor.peek().kind === between) cursor.next();
  }
}

export function withClause(cursor: Cursor): void {
  cursor.takeWord('recursive');
  cursor.list(() => {
    const name = cursor.needName();
    if (cursor.isMark('(')) names(cursor);
    cursor.needWord('as');
    cursor.needMark('(');
    query(cursor);
    cursor.needMark(')');
    cursor.touched.common.add(name);
  });
}

/** SELECT with everything that may stand around it. */
export function query(cursor: Cursor): void {
  cursor.deeper(() => {
    if (cursor.takeWord('with')) withClause(cursor);
    core(cursor);
    while (cursor.takeOneOf(['union', 'intersect', 'except', 'minus'])) {
      cursor.takeOneOf(['all', 'distinct']);
      core(cursor);
    }
    endOfQuery(cursor);
  });
}
