import { describe, expect, it } from 'vitest';
import { parseSource } from './source-document.ts';

const first = (text: string, file = 'a.yaml') => parseSource(file, text).problems[0];

describe('limits', () => {
  it('refuses nesting beyond 64 levels before anything recursive runs, flow and block alike', () => {
    expect(first('['.repeat(100_000))).toMatchObject({ line: 1, message: 'nested deeper than 64 levels' });
    expect(first('a: '.repeat(3) + '{a: '.repeat(5000))).toBeDefined();
    const block = Array.from({ length: 100 }, (_, at) => `${' '.repeat(at)}a:`).join('\n');
    expect(first(block)).toMatchObject({ message: 'nested deeper than 64 levels' });
    expect(first('- '.repeat(10_000))).toMatchObject({ message: 'nested deeper than 64 levels' });
    expect(parseSource('a.yaml', `${'['.repeat(60)}1${']'.repeat(60)}`).problems).toEqual([]);
  });

  it('does not count braces inside text as nesting', () => {
    expect(parseSource('a.yaml', `prompt: |\n${'  {{ {{ {[\n'.repeat(200)}`).problems).toEqual([]);
  });

  it('refuses bombs of aliases', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 9; at += 1)
      lines.push(
        `a${at}: &a${at} [${Array(9)
          .fill(`*a${at - 1}`)
          .join(', ')}]`,
      );
    expect(first(lines.join('\n'))?.hint).toBe('too many aliases');
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the key %s in YAML and JSON, with its place', (key) => {
    expect(first(`a:\n  ${key}: 1\n`)).toMatchObject({
      line: 2,
      column: 3,
      message: `the key "${key}" is not allowed`,
    });
    expect(first(`{\n "b": {"${key}": 1}}`, 'a.json')).toMatchObject({
      line: 2,
      message: `the key "${key}" is not allowed`,
    });
  });
});

describe('places', () => {
  const document = parseSource('a.yaml', 'base: &b\n  x: 1\nlist:\n  - one\n  - <<: *b\n    y: 2\n');

  it('are those of values and keys, through aliases and merges', () => {
    expect(document.at(['list', 1, 'y'], 'm')).toMatchObject({ line: 6, column: 8, excerpt: '    y: 2' });
    expect(document.atKey(['list', 1, 'y'], 'm')).toMatchObject({ line: 6, column: 5 });
    expect(document.at(['list', 1, 'x'], 'm')).toMatchObject({ line: 2, column: 6 });
  });

  it('of something that is not there are those of what is around it', () => {
    expect(document.at(['list', 0, 'deep', 'er'], 'm')).toMatchObject({ line: 4, column: 5 });
  });

  it('of broken JSON are where it broke', () => {
    expect(first('{\n  "a": 1,\n  "b": [2\n}', 'a.json')).toMatchObject({ line: 4, column: 1 });
  });
});

it('reports every syntax error, duplicate keys and second documents', () => {
  expect(first('a: 1\nb: 2\na: 3\n')).toMatchObject({ line: 3, column: 1, message: 'the key "a" stands here twice' });
  expect(first('a: 1\n---\nb: 2\n')).toMatchObject({ message: 'a second document starts here; one is expected' });
  expect(first('a: "open\n')).toMatchObject({ line: 2 });
});

it('takes comments and trailing commas in JSON files, as old configs have them', () => {
  expect(parseSource('a.json', '{ # note\n "a": [1, 2,], }').value).toEqual({ a: [1, 2] });
});

it('gives nothing for an empty file', () => {
  expect(parseSource('a.yaml', '# only a comment\n').value).toBeUndefined();
});
