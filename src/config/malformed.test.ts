import { describe, expect, it } from 'vitest';
import { malformed } from './fixtures/malformed.ts';
import { project } from './fixtures/project.ts';
import { problemReport, problemsAsJson } from './problem-report.ts';

async function said(text: string): Promise<string> {
  const one = project({ 'promptfooconfig.yaml': text, 'promptfooconfig.toml': 'x' });
  const problems = await one.problems({ strict: true });
  await one.remove();
  return problemReport(problems);
}

describe('malformed configs', () => {
  it('are at least a hundred and fifty, and each is told with a place and what is wrong', async () => {
    expect(malformed.length).toBeGreaterThanOrEqual(150);
    const reports: string[] = [];
    for (const [name, text] of malformed) {
      const report = await said(text);
      expect(report, `${name} was accepted`).toMatch(/^[^\n]+:\d+:\d+ {2}\S/);
      expect(report, name).not.toMatch(/\n\s+at |undefined|\[object/);
      reports.push(`### ${name}\n${report}\n`);
    }
    await expect(reports.join('\n')).toMatchFileSnapshot('golden/malformed.txt');
  });

  it('are reported all in one pass, in the order of their places', async () => {
    const report = await said(
      'providers: [echo]\nprompts: [5]\ntests:\n  - assert: [{type: 5}]\n    threshold: high\nbudget: none\n',
    );
    expect(report.match(/:\d+:\d+ /g)).toEqual([':2:11 ', ':4:21 ', ':5:16 ', ':6:9 ']);
  });

  it('show the source line with a caret, and the same as JSON', () => {
    const problem = { file: 'a.yaml', line: 3, column: 5, message: 'wrong', hint: 'right', excerpt: '    rpmm: 5' };
    expect(problemReport([problem])).toBe('a.yaml:3:5  wrong\n        rpmm: 5\n        ^\n    right');
    expect(problemsAsJson([problem])).toEqual([{ severity: 'error', ...problem }]);
  });
});
