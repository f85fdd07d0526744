/** SQL taken apart into words, names, literals and marks; comments and white space fall away. */

export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'mark' | 'end';
  /** Words in lower case, names without their quotes, everything else as written. */
  readonly text: string;
}

export interface Dialect {
  readonly name: string;
  readonly isMySql: boolean;
  readonly isPostgres: boolean;
  readonly isTransact: boolean;
  readonly isSqlite: boolean;
}

export function dialectOf(name: string): Dialect {
  const key = name.toLowerCase();
  return {
    name,
    isMySql: /^(?:mysql|mariadb)$/.test(key),
    isPostgres: /^(?:postgresql|postgres|redshift|snowflake|trino|bigquery|noql)$/.test(key),
    isTransact: /^(?:transactsql|mssql)$/.test(key),
    isSqlite: key === 'sqlite',
  };
}

export class SqlProblem extends Error {}

const space = /\s+|--[^\r\n]*|\/\*(?:[^*]|\*(?!\/))*\*\//y;
const hash = /#[^\r\n]*/y;
const word = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const number = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const text = /'(?:[^'\\]|''|\\[\s\S])*'/y;
const quoted = /"(?:[^"\\]|""|\\[\s\S])*"/y;
const ticked = /`(?:[^`]|``)*`/y;
const bracketed = /\[[^\]]+\]/y;
const dollars = /\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$/y;
const parameter = /\?|[:@][A-Za-z_]\w*|@@\w+|\$\d+|%s/y;
const mark = /<=>|->>|->|::|<>|!=|>=|<=|\|\||&&|:=|<<|>>|[-+*/%=<>(),.;~^&|![\]]/y;

const unquoted = (value: string): string => value.slice(1, -1);

function tokenRules(dialect: Dialect): readonly (readonly [RegExp, Token['kind'], ((value: string) => string)?])[] {
  return [
    [text, 'text'],
    dialect.isMySql ? [quoted, 'text'] : [quoted, 'name', unquoted],
    ...(dialect.isTransact ? [] : ([[ticked, 'name', unquoted]] as const)),
    ...(dialect.isTransact || dialect.isSqlite ? ([[bracketed, 'name', unquoted]] as const) : []),
    ...(dialect.isPostgres ? ([[dollars, 'text']] as const) : []),
    [number, 'number'],
    [word, 'word', (value) => value.toLowerCase()],
    // A cast's two colons are no parameter.
    [/::/y, 'mark'],
    [parameter, 'parameter'],
    [mark, 'mark'],
  ];
}

/** All tokens, with one `end` behind; throws a SqlProblem at the first character that belongs to none. */
export function tokensOf(sql: string, dialect: Dialect): Token[] {
  const rules = tokenRules(dialect);
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0];
  };
  while (at < sql.length) {
    const skipped = match(space) ?? (dialect.isMySql ? match(hash) : undefined);
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    const found = rules
      .map(([pattern, kind, as]) => ({ value: match(pattern), kind, as }))
      .find(({ value }) => value !== undefined);
    if (found?.value === undefined) throw new SqlProblem(`unexpected ${JSON.stringify(sql.slice(at, at + 12))}`);
    tokens.push({ kind: found.kind, text: found.as?.(found.value) ?? found.value });
    at += found.value.length;
  }
  return [...tokens, { kind: 'end', text: 'the end' }];
}
