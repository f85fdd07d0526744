import { describe, expect, it } from 'vitest';
import type { Json } from '../../domain/json.ts';
import type { Assertion } from '../../domain/verdict.ts';
import { checkOn } from '../fixtures/grading-bench.ts';

type Row = readonly [output: Json, assertion: Assertion, expected: boolean | RegExp];

const person = {
  type: 'object',
  required: ['name', 'mail'],
  properties: { name: { type: 'string' }, mail: { type: 'string', format: 'email' } },
};

const json: readonly Row[] = [
  ['{"a": 1}', { type: 'is-json' }, true],
  ['[1]', { type: 'is-json' }, true],
  ['Here: {"a": 1}', { type: 'is-json' }, false],
  ['Here: {"a": 1}', { type: 'not-is-json' }, true],
  ['{"name":"Ada","mail":"ada@example.org"}', { type: 'is-json', value: person }, true],
  ['{"name":"Ada","mail":"nope"}', { type: 'is-json', value: person }, false],
  ['{"name":"Ada","mail":"nope"}', { type: 'not-is-json', value: person }, true],
  ['{"name":"Ada"}', { type: 'is-json', value: 'type: object\nrequired: [name]' }, true],
  ['{"name":"Ada"}', { type: 'is-json', value: { type: 'objekt' } }, /schema cannot be used/],
  ['{"name":"Ada"}', { type: 'is-json', value: 7 }, /needs a JSON schema/],
  [{ name: 'Ada' }, { type: 'is-json' }, true],

  ['Here: {"a": 1}.', { type: 'contains-json' }, true],
  ['```json\n{"a": 1,}\n```', { type: 'contains-json' }, true],
  ['nothing {here', { type: 'contains-json', value: person }, false],
  ['no braces', { type: 'contains-json' }, false],
  ['no braces', { type: 'not-contains-json' }, true],
  ['{"x":1} and {"name":"Ada","mail":"a@b.co"}', { type: 'contains-json', value: person }, true],
  ['{"x":1} and {"y":2}', { type: 'contains-json', value: person }, false],
];

const markup: readonly Row[] = [
  ['<p>Hello</p>', { type: 'is-html' }, true],
  ['<!DOCTYPE html><html><body>Hi</body></html>', { type: 'is-html' }, true],
  ['Hello <b>you</b>', { type: 'is-html' }, false],
  ['just text', { type: 'is-html' }, false],
  ['just text', { type: 'not-is-html' }, true],
  ['<?xml version="1.0"?><p/>', { type: 'is-html' }, false],
  ['<headphones>loud</headphones>', { type: 'is-html' }, false],
  ['', { type: 'is-html' }, false],
  ['Hello <b>you</b>', { type: 'contains-html' }, true],
  ['a < b and b > c', { type: 'contains-html' }, false],
  ['a < b and b > c', { type: 'not-contains-html' }, true],
  ['salt &amp; pepper', { type: 'contains-html' }, false],

  ['<a><b>1</b></a>', { type: 'is-xml' }, true],
  ['<a><b>1</a>', { type: 'is-xml' }, false],
  ['<a><b>1</a>', { type: 'not-is-xml' }, true],
  ['<a/><b/>', { type: 'is-xml' }, false],
  ['Result: <a>1</a>', { type: 'is-xml' }, false],
  ['<a><b>1</b></a>', { type: 'is-xml', value: 'a.b' }, true],
  ['<a><b>1</b></a>', { type: 'is-xml', value: ['a.c'] }, false],
  ['<a><b>1</b></a>', { type: 'is-xml', value: { requiredElements: ['a.b'] } }, true],
  ['<a><b>1</b></a>', { type: 'is-xml', value: { other: 1 } }, /needs element names/],
  ['Result: <a><b>1</b></a> done', { type: 'contains-xml', value: 'a.b' }, true],
  ['Result: <a>1</a> <c>2</c>', { type: 'contains-xml', value: 'a,c' }, true],
  ['Result: none', { type: 'contains-xml' }, false],
  ['Result: none', { type: 'not-contains-xml' }, true],
];

const postgres = { databaseType: 'PostgreSQL' };
const sql: readonly Row[] = [
  ['SELECT id, name FROM users WHERE age > 18 ORDER BY name LIMIT 10', { type: 'is-sql' }, true],
  ['SELECT id name FROM users', { type: 'is-sql' }, false],
  ['SELECT id AS name FROM users', { type: 'is-sql' }, true],
  ['SELECT * FROM', { type: 'is-sql' }, false],
  ['SELEC * FROM users', { type: 'is-sql' }, false],
  ['SELEC * FROM users', { type: 'not-is-sql' }, true],
  ['Here is the query: SELECT 1', { type: 'is-sql' }, false],
  ['', { type: 'is-sql' }, false],
  ["INSERT INTO t (a, b) VALUES (1, 'x''y'), (2, NULL)", { type: 'is-sql' }, true],
  ['INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = a + 1', { type: 'is-sql' }, true],
  ['UPDATE t SET a = 1 WHERE b IN (SELECT b FROM s)', { type: 'is-sql' }, true],
  ['UPDATE t SET WHERE a = 1', { type: 'is-sql' }, false],
  ['DELETE FROM t WHERE a IS NOT NULL AND b BETWEEN 1 AND 2', { type: 'is-sql' }, true],
  [
    'CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY AUTO_INCREMENT, n VARCHAR(20) NOT NULL) ENGINE=InnoDB',
    { type: 'is-sql' },
    true,
  ],
  ['DROP TABLE t; SELECT COUNT(*) FROM s GROUP BY a HAVING COUNT(*) > 1;', { type: 'is-sql' }, true],
  [
    'SELECT u.name, COUNT(o.id) c FROM users u LEFT JOIN orders o ON u.id = o.user_id GROUP BY u.name',
    { type: 'is-sql' },
    true,
  ],
  [
    'SELECT CASE WHEN a > 1 THEN "x" ELSE "y" END FROM t WHERE d > DATE_SUB(NOW(), INTERVAL 7 DAY)',
    { type: 'is-sql' },
    true,
  ],
  [
    'WITH r AS (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) n FROM t) SELECT * FROM r WHERE n = 1',
    { type: 'is-sql' },
    true,
  ],
  ['SELECT a FROM t UNION ALL (SELECT b FROM s) ORDER BY 1', { type: 'is-sql' }, true],
  ["SELECT '2024-01-01'::date, x FROM generate_series(1, 3) x", { type: 'is-sql', value: postgres }, true],
  ['SELECT x FROM generate_series(1, 3) x', { type: 'is-sql' }, false],
  ['SELECT `a FROM t', { type: 'is-sql' }, false],
  ['SELECT (((1)) FROM t', { type: 'is-sql' }, false],
  ['SELECT a FROM users', { type: 'is-sql', value: { allowedTables: ['select::null::users'] } }, true],
  ['SELECT a FROM secrets', { type: 'is-sql', value: { allowedTables: ['(select|update)::(.*)::users'] } }, false],
  ['DELETE FROM users', { type: 'is-sql', value: { allowedTables: ['(select|update)::(.*)::users'] } }, false],
  ['SELECT name FROM users', { type: 'is-sql', value: { allowedColumns: ['select::users::name'] } }, true],
  ['SELECT password FROM users', { type: 'is-sql', value: { allowedColumns: ['select::users::name'] } }, false],
  ['SELECT 1', { type: 'is-sql', value: 'MySQL' }, /needs \{databaseType/],

  ['Try this:\n```sql\nSELECT 1\n```\n', { type: 'contains-sql' }, true],
  ['Try this:\n```python\nprint(1)\n```\n', { type: 'contains-sql' }, false],
  ['Try this:\n```python\nprint(1)\n```\n', { type: 'not-contains-sql' }, true],
  ['SELECT 1', { type: 'contains-sql' }, true],
];

describe('checks of form', () => {
  it.each([...json, ...markup, ...sql])('%j by %j comes to %s', async (output, assertion, expected) => {
    const found = await checkOn(output, assertion);
    if (expected instanceof RegExp) expect(found.error).toMatch(expected);
    else expect({ pass: found.pass, error: found.error }).toEqual({ pass: expected, error: undefined });
  });

  it.each([
    ['braces', '{'.repeat(200_000)],
    ['open objects', '{"a":'.repeat(50_000)],
    ['deep lists', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['comments that never end', '<!--'.repeat(100_000)],
    ['tags that never end', '<a '.repeat(30_000)],
    ['deep elements', `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`],
    ['many elements', '<p>x</p>'.repeat(10_000)],
    ['quotes', '"'.repeat(100_001)],
  ])('%s in an answer end in some verdict for every form', async (_about, output) => {
    for (const type of [
      'is-json',
      'contains-json',
      'contains-html',
      'is-xml',
      'contains-xml',
      'is-sql',
      'contains-sql',
    ]) {
      expect(await checkOn(output, { type })).toHaveProperty('pass');
    }
  });

  it('SQL nested beyond reason is refused, not crashed on', async () => {
    const deep = `SELECT ${'('.repeat(50_000)}1${')'.repeat(50_000)}`;
    expect(await checkOn(deep, { type: 'is-sql' })).toMatchObject({ pass: false });
  });
});
