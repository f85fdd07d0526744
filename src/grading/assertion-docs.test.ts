import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Assertion } from '../domain/verdict.ts';
import { assertionTable, baseTypeOf, leftOut } from './assertion-table.ts';
import { checkAssertions } from './check-assertions.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'assertions.md'), 'utf8');
const lines = [...page.matchAll(/^\| `([^`]+)` \| (.*): `(\{type: .*\})` \|$/gm)].map((match) => ({
  type: match[1] ?? '',
  words: match[2] ?? '',
  example: parse(match[3] ?? '') as Assertion,
}));

describe('docs/assertions.md', () => {
  it('has a line with an example for every type of the table, and no other', () => {
    expect(lines.map(({ type }) => type).sort()).toEqual([...assertionTable.keys()].sort());
  });

  it.each(lines.map(({ type, example }) => [type, example] as const))(
    'the example of %s is one of it, and has no problem',
    (type, example) => {
      expect(baseTypeOf(example.type)).toBe(type);
      expect(checkAssertions([example])).toEqual([]);
    },
  );

  it('tells the default thresholds of the table', () => {
    for (const { type, words } of lines) {
      const threshold = assertionTable.get(type)?.threshold;
      const isTold =
        typeof threshold !== 'number' ||
        threshold === 0 ||
        type.includes(':') ||
        new RegExp(`\\(${threshold}\\)`).test(words);
      expect(isTold, `${type}: ${threshold}`).toBe(true);
    }
  });

  it('names what is left out', () => {
    for (const type of leftOut.keys()) expect(page.slice(page.indexOf('## Not here'))).toContain(`\`${type}\``);
  });
});
