import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

const key = 'sk-0123456789-abcdef';
const secret = new Secret(key, 'https://api.example.com');

test('a secret prints as stars, however it is printed', () => {
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true }),
    inspect({ a: [secret] }, { depth: 9 }),
  ];
  for (const text of shown) {
    expect(text).toContain('***');
    expect(text).not.toContain(key);
  }
  expect(Object.values(secret)).toEqual([]);
  expect(() => structuredClone({ secret })).not.toThrow();
  expect(JSON.stringify(structuredClone({ secret }))).not.toContain(key);
});

test('a secret is given to its own origin only', () => {
  expect(secret.revealFor('https://api.example.com')).toBe(key);
  for (const other of ['http://api.example.com', 'https://api.example.com:444', 'https://example.com', '']) {
    expect(secret.revealFor(other)).toBeUndefined();
  }
});

test('a fingerprint is the same for the same key and shows nothing of it', () => {
  expect(secret.fingerprint()).toBe(new Secret(key, 'https://other').fingerprint());
  expect(secret.fingerprint()).not.toBe(new Secret(`${key}x`, 'https://other').fingerprint());
  expect(key).not.toContain(secret.fingerprint());
});

test('an echoed key is removed, an ordinary word is not', () => {
  expect(secret.removeFrom(`your key ${key} is wrong, ${key}!`)).toBe('your key *** is wrong, ***!');
  expect(new Secret('golden', 'x').removeFrom('golden days')).toBe('golden days');
});
