import type { Cursor } from './cursor.ts';

/** Parses a whole query; given by `query.ts`, since queries stand in expressions and expressions in queries. */
export type QueryRule = (cursor: Cursor) => void;

const binaryMarks = [
  '=',
  '<',
  '>',
  '<=',
  '>=',
  '<>',
  '!=',
  '<=>',
  '+',
  '-',
  '*',
  '/',
  '%',
  '||',
  '&&',
  '->',
  '->>',
  '&',
  '|',
  '^',
  '<<',
  '>>',
  ':=',
];
const binaryWords = ['and', 'or', 'xor', 'div', 'mod', 'like', 'rlike', 'regexp', 'glob', 'collate', 'ilike'];
const typedLiterals = ['date', 'time', 'timestamp', 'datetime'];

/** A type's name in a cast or a column: `varchar(20)`, `double precision`, `int unsigned`, `text[]`. */
export function typeName(cursor: Cursor): void {
  cursor.needName();
  while (
    cursor.takeOneOf(['precision', 'varying', 'unsigned', 'signed', 'integer', 'int', 'zone', 'without', 'time'])
  ) {
    // The further words of a type in several words.
  }
  if (cursor.takeWord('with', 'time', 'zone')) return;
  if (cursor.takeMark('(')) {
    cursor.list(() => void cursor.next());
    cursor.needMark(')');
  }
  while (cursor.takeMark('[')) cursor.needMark(']');
}

function caseOf(cursor: Cursor, query: QueryRule): void {
  if (!cursor.isWord('when')) expression(cursor, query);
  if (!cursor.isWord('when')) cursor.fail('WHEN expected');
  while (cursor.takeWord('when')) {
    expression(cursor, query);
    cursor.needWord('then');
    expression(cursor, query);
  }
  if (cursor.takeWord('else')) expression(cursor, query);
  cursor.needWord('end');
}

function overClause(cursor: Cursor, query: QueryRule): void {
  if (cursor.takeWord('filter')) {
    cursor.needMark('(');
    cursor.needWord('where');
    expression(cursor, query);
    cursor.needMark(')');
  }
  if (!cursor.takeWord('over')) return;
  if (!cursor.takeMark('(')) {
    cursor.needName();
    return;
  }
  if (cursor.takeWord('partition', 'by')) cursor.list(() => expression(cursor, query));
  if (cursor.takeWord('order', 'by')) orderList(cursor, query);
  // A frame is words and numbers up to the bracket.
  while (!cursor.isMark(')')) if (cursor.next().kind === 'end') cursor.fail('")" expected');
  cursor.needMark(')');
}

/** `a DESC NULLS LAST, b` */
export function orderList(cursor: Cursor, query: QueryRule): void {
  cursor.list(() => {
    expression(cursor, query);
    cursor.takeOneOf(['asc', 'desc']);
    if (cursor.takeWord('nulls') && !cursor.takeOneOf(['first', 'last'])) cursor.fail('FIRST or LAST expected');
  });
}

function callOf(name: string, cursor: Cursor, query: QueryRule): void {
  if (name === 'generate_series' && cursor.dialect.isMySql) cursor.fail('no such function in this dialect');
  cursor.needMark('(');
  if (!cursor.isMark(')') && !cursor.takeMark('*')) {
    cursor.takeOneOf(['distinct', 'all']);
    if (cursor.isWord('select') || cursor.isWord('with')) query(cursor);
    else
      cursor.list(() => {
        expression(cursor, query);
        // extract(year from d), trim(x from y), cast(x as t), group_concat(x separator y), substring(x from 1 for 2)
        while (cursor.takeOneOf(['from', 'separator', 'for', 'using', 'in'])) expression(cursor, query);
        if (cursor.takeWord('as')) typeName(cursor);
        if (cursor.takeWord('order', 'by')) orderList(cursor, query);
      });
  }
  cursor.needMark(')');
  overClause(cursor, query);
}

/** A column, maybe with its table before a dot, or the call of a function. */
function nameOrCall(cursor: Cursor, query: QueryRule): void {
  const parts = [cursor.next().text];
  while (cursor.takeMark('.')) parts.push(cursor.takeMark('*') ? '(.*)' : cursor.next().text);
  if (cursor.isMark('(')) callOf(parts.at(-1) ?? '', cursor, query);
  else cursor.touched.columns.add(`select::${parts.at(-2) ?? 'null'}::${parts.at(-1)}`);
}

function inBrackets(cursor: Cursor, query: QueryRule): void {
  if (cursor.isWord('select') || cursor.isWord('with') || cursor.isWord('values')) query(cursor);
  else cursor.list(() => expression(cursor, query));
  cursor.needMark(')');
}

const constants = ['null', 'true', 'false', 'default', 'current_date', 'current_timestamp', 'current_time'];
/** The language's own words that are also functions. */
const functionWords = ['left', 'right', 'values', 'if', 'replace', 'insert'];

function arrayOf(cursor: Cursor, query: QueryRule): void {
  cursor.next();
  cursor.next();
  if (!cursor.isMark(']')) cursor.list(() => expression(cursor, query));
  cursor.needMark(']');
}

function intervalOf(cursor: Cursor, query: QueryRule): void {
  operand(cursor, query);
  if (cursor.isName()) cursor.next();
}

function existsOf(cursor: Cursor, query: QueryRule): void {
  cursor.needMark('(');
  inBrackets(cursor, query);
}

function skipSigns(cursor: Cursor): void {
  while (['-', '+', '~', '!'].some((mark) => cursor.takeMark(mark)) || cursor.takeWord('not')) {
    // Signs and negations before an operand.
  }
}

function operand(cursor: Cursor, query: QueryRule): void {
  skipSigns(cursor);
  const { kind, text } = cursor.peek();
  const after = cursor.peek(1);
  if (kind === 'text' || kind === 'number' || kind === 'parameter') cursor.next();
  else if (cursor.takeMark('(')) inBrackets(cursor, query);
  else if (cursor.takeWord('case')) caseOf(cursor, query);
  else if (cursor.takeWord('exists')) existsOf(cursor, query);
  else if (cursor.takeWord('interval')) intervalOf(cursor, query);
  else if (cursor.takeOneOf(constants)) {
    if (cursor.takeMark('(')) cursor.needMark(')');
  } else if (text === 'array' && after.text === '[') arrayOf(cursor, query);
  else if (typedLiterals.includes(text) && after.kind === 'text') {
    cursor.next();
    cursor.next();
  } else if (cursor.isName() || (kind === 'word' && functionWords.includes(text) && after.text === '(')) {
    nameOrCall(cursor, query);
  } else cursor.fail('a value expected');
}

/** What may follow an operand and ends in one: true when something did. */
function tail(cursor: Cursor, query: QueryRule): boolean {
  if (cursor.dialect.isPostgres && cursor.takeMark('::')) {
    typeName(cursor);
    return true;
  }
  if (cursor.takeMark('[')) {
    expression(cursor, query);
    cursor.needMark(']');
    return true;
  }
  if (cursor.takeWord('is')) {
    cursor.takeWord('not');
    if (cursor.takeWord('distinct', 'from')) operand(cursor, query);
    else if (!cursor.takeOneOf(['null', 'true', 'false', 'unknown'])) cursor.fail('NULL, TRUE or FALSE expected');
    return true;
  }
  if (
    cursor.isWord('not') &&
    ['in', 'like', 'between', 'ilike', 'regexp', 'rlike', 'glob', 'similar'].includes(cursor.peek(1).text)
  )
    cursor.next();
  if (cursor.takeWord('between')) {
    operand(cursor, query);
    while (!cursor.isWord('and') && tail(cursor, query)) {
      // Sums and the like before AND.
    }
    cursor.needWord('and');
    operand(cursor, query);
    return true;
  }
  if (cursor.takeWord('in')) {
    cursor.needMark('(');
    inBrackets(cursor, query);
    return true;
  }
  if (cursor.takeWord('at', 'time', 'zone') || cursor.takeWord('similar', 'to') || cursor.takeWord('escape')) {
    operand(cursor, query);
    return true;
  }
  if (binaryMarks.some((mark) => cursor.takeMark(mark)) || cursor.takeOneOf(binaryWords)) {
    if (cursor.takeOneOf(['any', 'all', 'some'])) cursor.isMark('(') || cursor.fail('"(" expected');
    operand(cursor, query);
    return true;
  }
  return false;
}

/** Any expression; precedence does not matter for whether it is one. */
export function expression(cursor: Cursor, query: QueryRule): void {
  cursor.deeper(() => {
    operand(cursor, query);
    while (tail(cursor, query)) {
      // One operator with its operand after the other.
    }
  });
}
