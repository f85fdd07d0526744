import type { Cursor } from './cursor.ts';
import { alias, endOfQuery, names, query, row, selectList, sources, tableName, value } from './query.ts';

function assignments(cursor: Cursor): void {
  cursor.list(() => {
    cursor.needName();
    while (cursor.takeMark('.')) cursor.needName();
    cursor.needMark('=');
    value(cursor);
  });
}

function returning(cursor: Cursor): void {
  if (!cursor.dialect.isMySql && cursor.takeWord('returning')) selectList(cursor);
}

export function insert(cursor: Cursor): void {
  cursor.takeOneOf(['ignore', 'low_priority', 'delayed']);
  if (cursor.takeWord('or')) cursor.next();
  cursor.takeWord('into');
  tableName(cursor, 'insert');
  const isNamed = cursor.isMark('(') && cursor.peek(1).text !== 'select';
  if (isNamed) names(cursor);
  if (!isNamed && cursor.takeWord('set')) assignments(cursor);
  else if (cursor.takeOneOf(['value'])) cursor.list(() => row(cursor));
  else if (!cursor.takeWord('default', 'values')) query(cursor);
  if (cursor.takeWord('on', 'duplicate', 'key', 'update')) assignments(cursor);
  if (cursor.takeWord('on', 'conflict')) {
    if (cursor.isMark('(')) names(cursor);
    cursor.needWord('do');
    if (!cursor.takeWord('nothing')) {
      cursor.needWord('update', 'set');
      assignments(cursor);
      if (cursor.takeWord('where')) value(cursor);
    }
  }
  returning(cursor);
}

export function update(cursor: Cursor): void {
  tableName(cursor, 'update');
  if (!cursor.isWord('set')) alias(cursor);
  cursor.needWord('set');
  assignments(cursor);
  if (cursor.takeWord('from')) sources(cursor);
  if (cursor.takeWord('where')) value(cursor);
  endOfQuery(cursor);
  returning(cursor);
}

export function remove(cursor: Cursor): void {
  cursor.needWord('from');
  tableName(cursor, 'delete');
  alias(cursor);
  if (cursor.takeWord('using')) sources(cursor);
  if (cursor.takeWord('where')) value(cursor);
  endOfQuery(cursor);
  returning(cursor);
}
