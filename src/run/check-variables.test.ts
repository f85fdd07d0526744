import { relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Project, project, testsOf } from '../config/fixtures/project.ts';
import { configFiles } from '../platform/config-files.ts';
import { unusedVariables } from './check-variables.ts';
import { variablePlaces } from './place-variable.ts';

const open: Project[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.remove();
});

async function problems(files: Record<string, string>) {
  const one = project(files);
  open.push(one);
  const suite = await one.load();
  const places = await variablePlaces([`${one.folder}/promptfooconfig.yaml`], configFiles, (path) =>
    relative(one.folder, path),
  );
  const found = await unusedVariables(suite, places);
  return found.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
}

describe('variables that do not meet', () => {
  it('are told where the prompt reads them and where the test sets them', async () => {
    const config = [
      'providers: [echo]',
      'prompts:',
      '  - |',
      '    Hello {{ name }},',
      '    you are {{ age }}.',
      'tests:',
      '  - vars: {name: a, age: 1}',
      '  - vars:',
      '      name: b',
      '      agee: 2',
    ].join('\n');
    expect(await problems({ 'promptfooconfig.yaml': config.replace(', age: 1', '') })).toEqual([
      'promptfooconfig.yaml:5:16 a prompt reads "age", which no test sets',
      'promptfooconfig.yaml:10:7 tests set "agee", which no prompt reads',
    ]);
    expect(await problems({ 'promptfooconfig.yaml': config.replace('agee', 'age') })).toEqual([]);
  });

  it('are found in prompt files, tables and test files', async () => {
    expect(
      await problems({
        'promptfooconfig.yaml': 'providers: [echo]\nprompts: [file://p.txt]\ntests: t.csv\n',
        'p.txt': 'line one\nsay {{ word }} to {{who}}\n',
        't.csv': 'who,colour\nyou,red\n',
      }),
    ).toEqual([
      'p.txt:2:8 a prompt reads "word", which no test sets',
      't.csv:1:5 tests set "colour", which no prompt reads',
    ]);
  });
});

describe('the variables of a simulated user', () => {
  it('are read by it', async () => {
    const config =
      'providers: [echo]\nprompts: [x]\ntests: [{vars: {instructions: buy}, provider: promptfoo:simulated-user}]\n';
    expect(await problems({ 'promptfooconfig.yaml': config })).toEqual([]);
  });
});

describe('an unquoted date', () => {
  it('stays the text that was written', async () => {
    const one = project({
      'promptfooconfig.yaml': 'providers: [echo]\nprompts: ["{{when}}"]\ntests: [{vars: {when: 2024-01-05}}]\n',
    });
    open.push(one);
    expect((await testsOf(await one.load()))[0]?.vars).toEqual({ when: '2024-01-05' });
  });
});

describe('a key that would reach into JavaScript', () => {
  it.each(['__proto__', 'constructor'])('%s is refused at its place', async (key) => {
    const one = project({
      'promptfooconfig.yaml': `providers: [echo]\nprompts: [x]\ntests:\n  - vars:\n      ${key}: {a: 1}\n`,
    });
    open.push(one);
    expect(await one.problems()).toMatchObject([{ line: 5, column: 7, message: `the key "${key}" is not allowed` }]);
  });
});
