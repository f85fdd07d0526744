import { expect, test } from 'vitest';
import { parseJson } from './parse-json.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['{"a":[1,{"b":null}]}', { ok: true, value: { a: [1, { b: null }] } }],
  ['\ufeff{"a":1}', { ok: true, value: { a: 1 } }],
  ['{"constructor":{"name":"x"},"prototype":1}', { ok: true, value: { constructor: { name: 'x' }, prototype: 1 } }],
  ['{"a":', { ok: false, reason: 'syntax' }],
  ['', { ok: false, reason: 'syntax' }],
  ['{"a":{"__proto__":{"admin":true}}}', { ok: false, reason: 'prototype' }],
  ['[{"\\u005f_proto__":1}]', { ok: false, reason: 'prototype' }],
  ['{"constructor":{"prototype":{"admin":true}}}', { ok: false, reason: 'prototype' }],
])('reads %j as %j', (text, expected) => {
  expect(parseJson(text)).toEqual(expected);
});

test('takes two hundred levels and no more', () => {
  expect(parseJson(nested(200))).toMatchObject({ ok: true });
  expect(parseJson(nested(201))).toEqual({ ok: false, reason: 'depth' });
  expect(parseJson(nested(20_000))).toEqual({ ok: false, reason: 'depth' });
});
