import type { Cursor } from './cursor.ts';
import { typeName } from './expression.ts';
import { names, query, row, tableName } from './query.ts';

/** Anything in balanced brackets and single tokens, up to a comma or the end of the list. */
function definition(cursor: Cursor): void {
  while (!cursor.isMark(',') && !cursor.isMark(')')) {
    if (cursor.takeMark('(')) {
      while (!cursor.takeMark(')'))
        if (cursor.isMark(',')) cursor.next();
        else definition(cursor);
    } else if (cursor.next().kind === 'end') cursor.fail('")" expected');
  }
}

function createTable(cursor: Cursor): void {
  cursor.takeWord('if', 'not', 'exists');
  tableName(cursor, 'create');
  if (cursor.takeMark('(')) {
    cursor.list(() => {
      if (cursor.isMark(')')) cursor.fail('a column expected');
      if (cursor.isName() && !cursor.isOneOf(['constraint', 'unique', 'check', 'key', 'index'])) {
        cursor.next();
        typeName(cursor);
      }
      definition(cursor);
    });
    cursor.needMark(')');
  }
  if (cursor.takeWord('as') || cursor.isWord('select')) query(cursor);
  else rest(cursor);
}

/** Statements whose inner form is taken as it comes: names, literals and options up to the end. */
export function rest(cursor: Cursor): void {
  while (!cursor.isMark(';') && cursor.peek().kind !== 'end') cursor.next();
}

function createView(cursor: Cursor): void {
  tableName(cursor, 'create');
  if (cursor.isMark('(')) names(cursor);
  cursor.needWord('as');
  query(cursor);
}

function createIndex(cursor: Cursor): void {
  cursor.takeWord('if', 'not', 'exists');
  if (!cursor.isWord('on')) cursor.needName();
  cursor.needWord('on');
  tableName(cursor, 'create');
  row(cursor);
}

export function create(cursor: Cursor): void {
  if (cursor.takeWord('or')) cursor.needWord('replace');
  cursor.takeOneOf(['temporary', 'temp', 'unique', 'materialized']);
  if (cursor.takeWord('table')) createTable(cursor);
  else if (cursor.takeWord('view')) createView(cursor);
  else if (cursor.takeWord('index')) createIndex(cursor);
  else if (cursor.takeOneOf(['database', 'schema'])) {
    cursor.takeWord('if', 'not', 'exists');
    cursor.needName();
    rest(cursor);
  } else cursor.fail('TABLE, VIEW, INDEX or DATABASE expected');
}

export function drop(cursor: Cursor): void {
  if (!cursor.takeOneOf(['table', 'view', 'index', 'database', 'schema'])) cursor.fail('TABLE, VIEW or INDEX expected');
  cursor.takeWord('if', 'exists');
  cursor.list(() => void tableName(cursor, 'drop'));
  rest(cursor);
}

export function alter(cursor: Cursor): void {
  cursor.needWord('table');
  tableName(cursor, 'alter');
  if (!cursor.isOneOf(['add', 'drop', 'alter', 'modify', 'change', 'rename', 'set', 'engine']))
    cursor.fail('ADD, DROP or the like expected');
  rest(cursor);
}
