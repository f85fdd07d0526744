import { isObject } from '../../domain/json.ts';
import { type Check, type CheckInput, demand, verdict } from '../check.ts';
import { readSql } from '../sql/check-sql.ts';

interface SqlRules {
  readonly databaseType: string;
  readonly allowedTables?: readonly string[];
  readonly allowedColumns?: readonly string[];
}

function rulesOf({ type, value }: CheckInput): SqlRules {
  const isNone = value === undefined || value === null || value === '';
  demand(
    isNone || isObject(value),
    `"${type}" needs {databaseType, allowedTables, allowedColumns} as its value, or none`,
  );
  const said = isObject(value) ? value : {};
  const texts = (list: unknown): readonly string[] | undefined => (Array.isArray(list) ? list.map(String) : undefined);
  const tables = texts(said['allowedTables']);
  const columns = texts(said['allowedColumns']);
  return {
    databaseType: typeof said['databaseType'] === 'string' ? said['databaseType'] : 'MySQL',
    ...(tables === undefined ? {} : { allowedTables: tables }),
    ...(columns === undefined ? {} : { allowedColumns: columns }),
  };
}

/** Entries are `deed::database::table` with patterns allowed in each part; a database may be left open by the query. */
function isAllowed(entry: string, allowed: readonly string[]): boolean {
  const parts = entry.split('::');
  return allowed.some((rule) => {
    const wanted = rule.split('::');
    return wanted.length === 3 && wanted.every((want, at) => fits(parts[at] ?? '', want, at === 1));
  });
}

function fits(part: string, want: string, mayBeNull: boolean): boolean {
  if (mayBeNull && part === 'null') return true;
  if (want === '(.*)' || want === '.*' || part.toLowerCase() === want.toLowerCase()) return true;
  const options = /^\(([\w|]+)\)$/.exec(want)?.[1]?.toLowerCase().split('|');
  return options?.includes(part.toLowerCase()) ?? false;
}

/** What is wrong with a piece of SQL; undefined when nothing is. */
function problemOf(sql: string, rules: SqlRules): string | undefined {
  const reading = readSql(sql, rules.databaseType);
  if (reading.kind === 'not-sql') return `Not ${rules.databaseType} SQL: ${reading.problem}`;
  const { allowedTables, allowedColumns } = rules;
  const tables = allowedTables === undefined ? [] : reading.tables.filter((entry) => !isAllowed(entry, allowedTables));
  if (tables.length > 0) return `Tables that are not allowed: ${tables.join(', ')}`;
  const columns =
    allowedColumns === undefined ? [] : reading.columns.filter((entry) => !isAllowed(entry, allowedColumns));
  return columns.length > 0 ? `Columns that are not allowed: ${columns.join(', ')}` : undefined;
}

/** `is-sql`: the whole output is SQL, and touches only what is allowed. */
export const isSql: Check = (input) => {
  const problem = problemOf(input.text, rulesOf(input));
  return verdict((problem === undefined) !== input.inverse, problem ?? 'Expected output not to be SQL');
};

/** The insides of code fences that are marked `sql` or not at all; the text itself when there are none. */
function candidatesIn(text: string): readonly string[] {
  const fenced = [...text.matchAll(/^[ \t]{0,3}(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n([\s\S]*?)^[ \t]{0,3}\1[`~]*[ \t]*$/gm)];
  const blocks = fenced
    .filter((match) => ['', 'sql'].includes((match[2] ?? '').toLowerCase()))
    .map((match) => match[3] ?? '');
  return blocks.length > 0 ? blocks : [text];
}

/** `contains-sql`: a code block in the output, or the whole of it, is SQL. */
export const containsSql: Check = (input) => {
  const rules = rulesOf(input);
  const problems = candidatesIn(input.text).map((candidate) => problemOf(candidate.trim(), rules));
  const found = problems.includes(undefined);
  return verdict(
    found !== input.inverse,
    problems.findLast((problem) => problem !== undefined) ?? 'Expected output not to contain SQL',
  );
};
