import { afterEach, describe, expect, it } from 'vitest';
import { cellAssertion, cellList, cellNumber } from './csv-cell.ts';
import { rowTest } from './csv-row.ts';
import { type Project, project, testsOf } from './fixtures/project.ts';

let open: Project | undefined;
afterEach(async () => {
  await open?.remove();
  open = undefined;
});
const table = (csv: string): Project => {
  open = project({ 'promptfooconfig.yaml': 'providers: [echo]\nprompts: [p]\ntests: t.csv\n', 't.csv': csv });
  return open;
};

describe('expected cells', () => {
  it.each([
    ['plain text', { type: 'equals', value: 'plain text' }],
    ['contains: x ', { type: 'contains', value: 'x' }],
    ['not-contains:x', { type: 'not-contains', value: 'x' }],
    ['similar:hi', { type: 'similar', value: 'hi', threshold: 0.8 }],
    ['similar(0.9):hi', { type: 'similar', value: 'hi', threshold: 0.9 }],
    ['levenshtein(5): hi', { type: 'levenshtein', value: 'hi', threshold: 5 }],
    ['latency(100)', { type: 'latency', threshold: 100 }],
    ['cost', { type: 'cost', threshold: 0.75 }],
    ['is-json', { type: 'is-json' }],
    ['is-json:{"type":"object"}', { type: 'is-json', value: '{"type":"object"}' }],
    ['contains-any: a, "b, c", d', { type: 'contains-any', value: ['a', 'b, c', 'd'] }],
    ['javascript: output.length > 1', { type: 'javascript', value: 'output.length > 1' }],
    ['fn:output', { type: 'javascript', value: 'output' }],
    ['eval:output', { type: 'javascript', value: 'output' }],
    ['file://check.js', { type: 'javascript', value: 'file://check.js' }],
    ['python: len(output)', { type: 'python', value: 'len(output)' }],
    ['file://check.py:fn', { type: 'python', value: 'file://check.py:fn' }],
    ['grade: be kind', { type: 'llm-rubric', value: ' be kind' }],
    ['llm-rubric: be kind', { type: 'llm-rubric', value: ' be kind' }],
    ['containsx: y', { type: 'equals', value: 'containsx: y' }],
  ])('%j', (cell, assertion) => {
    expect(cellAssertion(cell)).toEqual(assertion);
  });

  it('split lists at commas outside of quotes', () => {
    expect(cellList('a,, b ,"c ""d"" \\"e\\"" , f')).toEqual(['a', 'b', 'c "d" "e"', 'f']);
    expect(() => cellList('"open')).toThrow('does not end');
  });

  it('read only whole numbers as numbers', () => {
    expect([cellNumber('0'), cellNumber(' 1.5 '), cellNumber('1x'), cellNumber(''), cellNumber('1e3')]).toEqual([
      0,
      1.5,
      undefined,
      undefined,
      1000,
    ]);
  });
});

describe('rows', () => {
  it('say everything by their columns', () => {
    const row = {
      name: 'Ann',
      ' city ': 'Bonn',
      __expected: 'contains: x',
      __expected2: 'equals: y',
      __expected3: '',
      __prefix: 'P',
      __suffix: 'S',
      __description: 'D',
      __providerOutput: 'O',
      __metric: 'M',
      __threshold: '0',
      '__metadata:k': 'v',
      '__metadata:list[]': 'a, b\\,c',
      '__config:__expected2:threshold': '0.4',
    };
    expect(rowTest(row)).toEqual({
      faults: [],
      test: {
        vars: { name: 'Ann', city: 'Bonn' },
        assert: [
          { type: 'contains', value: 'x', metric: 'M' },
          { type: 'equals', value: 'y', metric: 'M', threshold: 0.4 },
        ],
        options: { prefix: 'P', suffix: 'S' },
        description: 'D',
        providerOutput: 'O',
        threshold: 0,
        metadata: { k: 'v', list: ['a', 'b,c'], threshold: 0.4 },
      },
    });
  });

  it('leave out an odd threshold', () => {
    expect(rowTest({ __threshold: 'high' }).test.threshold).toBeUndefined();
  });
});

describe('tables', () => {
  it('survive byte order marks, quotes, newlines in cells and CRLF', async () => {
    const suite = await table('\uFEFFa,b\r\n"x, ""y""","two\nlines"\r\n').load();
    expect((await testsOf(suite))[0]?.vars).toEqual({ a: 'x, "y"', b: 'two\nlines' });
  });

  it('with a stray quote are read a little less strictly', async () => {
    const suite = await table('a,b\n5" pipe,ok\n').load();
    expect((await testsOf(suite))[0]?.vars).toEqual({ a: '5" pipe', b: 'ok' });
    const [problem] = await table('a,b\n5" pipe,ok\n').problems({ env: { PROMPTFOO_CSV_STRICT: '1' } });
    expect(problem).toMatchObject({ file: 't.csv', line: 2 });
  });

  it('use the delimiter that is set', async () => {
    const suite = await table('a;b\n1;2\n').load({ env: { PROMPTFOO_CSV_DELIMITER: ';' } });
    expect((await testsOf(suite))[0]?.vars).toEqual({ a: '1', b: '2' });
  });

  it('tell file, line, row and column of a bad cell', async () => {
    const problems = await table('a,__expected,__config:__expected:threshold\n1,x,0.5\n2,"y\nz",high\n').problems();
    expect(problems).toEqual([
      {
        file: 't.csv',
        line: 4,
        column: 1,
        message: '(row 2), column "__config:__expected:threshold": "high" is no number',
      },
    ]);
  });

  it('with rows of different lengths are refused with the line', async () => {
    expect((await table('a,b\n1,2\n3\n').problems())[0]).toMatchObject({ file: 't.csv', line: 3 });
  });

  it('may not have a column that reaches a prototype', async () => {
    expect((await table('a,__proto__\n1,2\n').problems())[0]?.message).toBe('the column "__proto__" is not allowed');
  });

  it('are counted without being held, and read again from the start each time', async () => {
    const suite = await table(`a\n${Array.from({ length: 5000 }, (_, at) => `v${at}`).join('\n')}\n`).load();
    expect(suite.tests.count).toBe(5000);
    for (let round = 0; round < 2; round += 1) {
      for await (const test of suite.tests.read()) {
        expect(test.vars).toEqual({ a: 'v0' });
        break;
      }
    }
  });
});
