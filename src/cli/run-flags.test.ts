import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine, type Said, testContext } from '../../test/support/command-line.ts';
import { runId } from '../domain/ids.ts';
import { openStore } from '../store/open-store.ts';
import { runCommandLine } from './main.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-flags-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]): Promise<Said> => commandLine({ cwd }, ...args);
const file = (name: string, text: string): void => writeFileSync(join(cwd, name), text);

const config = (word = 'apple', count = 2, providers = '[echo]'): void =>
  file(
    'parlane.yaml',
    `description: words
prompts: ["Say ${word} {{n}}"]
providers: ${providers}
tests: ${JSON.stringify(
      Array.from({ length: count }, (_, n) => ({ vars: { n }, assert: [{ type: 'contains', value: 'apple' }] })),
    )}
`,
  );

describe('what a run leaves behind', () => {
  it('is written as every format that -o names', async () => {
    config();
    const { err, code } = await parlane('run', '--no-forecast', '-o', 'r.html', 'r.csv', 'r.jsonl', 'r.xml');
    expect(code).toBe(0);
    expect(err).toMatch(/Written: .*r\.html[\s\S]*Written: .*r\.xml/);
    expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toMatch(/^<!doctype html>/i);
    expect(readFileSync(join(cwd, 'r.csv'), 'utf8').split('\n').length).toBeGreaterThan(2);
    expect(readFileSync(join(cwd, 'r.jsonl'), 'utf8')).toMatch(/"status":"passed"/);
    expect(readFileSync(join(cwd, 'r.xml'), 'utf8')).toMatch(/<testsuite/);
  });

  it('is refused before anything is run when a name has no known ending', async () => {
    config();
    const { err, code } = await parlane('run', '-o', 'report.pdf');
    expect(err).toMatch(/cannot be written as "report\.pdf".*\.html, \.csv, \.jsonl or \.xml/);
    expect(code).toBe(2);
    expect((await parlane('runs')).out).toBe('No runs yet.\n');
  });
});

describe('reporters', () => {
  it('annotate failures for GitHub and write its summary of the step', async () => {
    config('pear');
    const summary = join(cwd, 'summary.md');
    const { out, code } = await commandLine(
      { cwd, env: { GITHUB_STEP_SUMMARY: summary } },
      ...['run', '--no-forecast', '--reporter', 'github'],
    );
    expect(out).toMatch(/^::error file=parlane\.yaml,title=#1 /m);
    expect(readFileSync(summary, 'utf8')).toMatch(/### Not passed/);
    expect(code).toBe(100);
  });

  it('tell events as JSON like --json, and an unknown one is refused', async () => {
    config();
    const { out } = await parlane('run', '--no-forecast', '--reporter', 'json');
    expect(JSON.parse(out.split('\n')[0] ?? '')).toMatchObject({ type: 'run-start' });
    expect((await parlane('run', '--reporter', 'gitlab')).code).toBe(2);
  });
});

describe('--fail-on-worse', () => {
  it('ends with 100 when the run is worse and not by chance, also above --fail-under', async () => {
    config('apple', 12);
    expect((await parlane('run', '--no-forecast')).code).toBe(0);
    config('pear', 12);
    const worse = await parlane('run', '--no-forecast', '--fail-under', '0%', '--fail-on-worse', 'latest');
    expect(worse.code).toBe(100);
    config('apple', 12);
    expect((await parlane('run', '--no-forecast', '--fail-on-worse', 'latest')).code).toBe(0);
    const unknown = await parlane('run', '--fail-on-worse', 'nobody');
    expect(unknown.err).toMatch(/There is no run "nobody"/);
    expect(unknown.code).toBe(2);
  });
});

describe('money', () => {
  const costly = (): void =>
    file(
      'parlane.yaml',
      'prompts: ["Say {{n}}"]\nproviders: ["sim:fast?price=100000/100000"]\ntests: [{vars: {n: 1}}, {vars: {n: 2}}, {vars: {n: 3}}]\n',
    );

  it('is refused without somebody to ask', async () => {
    costly();
    const { err, code } = await parlane('run');
    expect(err).toMatch(/expected to cost about \$.*--yes/);
    expect(code).toBe(2);
  });

  it('is asked about where a person is, and a no spends nothing', async () => {
    costly();
    const asked: string[] = [];
    const answer = async (yes: boolean): Promise<{ code: number; err: string; out: string }> => {
      const { context, said } = testContext({ cwd });
      const confirm = async (question: string): Promise<boolean> => {
        asked.push(question);
        return yes;
      };
      await runCommandLine(['run'], { ...context, confirm });
      return said;
    };
    const refused = await answer(false);
    expect(refused.err).toMatch(/Nothing was run, nothing was spent/);
    expect(refused.code).toBe(2);
    expect((await parlane('runs')).out).toBe('No runs yet.\n');
    expect((await answer(true)).out).toMatch(/3 cases in/);
    expect(asked[0]).toMatch(/about \$.* Start it\?/);
  });
});

describe('checks that compare columns', () => {
  it('are made by run as by eval: the rows, the totals and the exit code agree', async () => {
    file(
      'parlane.yaml',
      `prompts: ["{{w}}", "{{w}} and more"]
providers: [echo]
tests:
  - vars: {w: apple}
    assert: [{type: contains, value: more}, {type: max-score}]
`,
    );
    const { out, code } = await parlane('run', '--no-forecast');
    expect(out).toMatch(/2 cases in .*1 passed +1 failed/);
    expect(code).toBe(100);
    const shown = JSON.parse((await parlane('show', '1', '--json')).out) as { row: { verdict: object } };
    expect(JSON.stringify(shown.row.verdict)).toContain('max-score');
    const evaluated = await parlane('eval', '-c', 'parlane.yaml', '--no-table');
    expect(evaluated.out).toMatch(/2 cases: 1 passed, 1 failed/);
    expect(JSON.parse((await parlane('show', '1', '--json')).out)).toMatchObject({ row: { status: 'failed' } });
  });

  it('turn a passed row over only when it is not the best', async () => {
    file(
      'parlane.yaml',
      `prompts: ["{{w}}", "{{w}} {{w}}"]
providers: [echo]
tests:
  - vars: {w: apple}
    assert:
      - {type: javascript, value: "({pass: true, score: output.length / 100, reason: 'length'})"}
      - {type: max-score}
`,
    );
    const { out } = await parlane('run', '--no-forecast', '--json');
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    const ends = events.filter(({ type }) => type === 'case-end') as unknown as { index: number; status: string }[];
    expect(ends.toSorted((a, b) => a.index - b.index)).toMatchObject([{ status: 'failed' }, { status: 'passed' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', totals: { passed: 1, failed: 1 } });
  });
});

describe('--seed', () => {
  it('reaches models, counts on with repeats, and leaves keys as they are', async () => {
    config('apple', 1, '["sim:fast?latency=0ms"]');
    type Shown = { row: { key: string }; steps: { request?: { request?: { seed?: number } } }[] };
    const seeds = async (...args: string[]): Promise<{ key: string; seeds: (number | undefined)[] }> => {
      await parlane('run', '--no-forecast', ...args);
      const { row, steps } = JSON.parse((await parlane('show', '1', '--raw', '--json')).out) as Shown;
      return {
        key: row.key,
        seeds: steps.flatMap(({ request }) => (request === undefined ? [] : [request.request?.seed])),
      };
    };
    const [plain, seeded] = [await seeds(), await seeds('--seed', '7')];
    expect(plain.seeds).toEqual([undefined]);
    expect(seeded.seeds).toEqual([7]);
    expect(seeded.key).toBe(plain.key);
  });
});

describe('parlane plan', () => {
  it('with --pilot runs so many cases for real, says so, and forecasts from them', async () => {
    config('apple', 9, '["sim:fast?latency=5ms", "echo"]');
    const { out, err } = await parlane('plan', '--pilot', '5');
    expect(err).toMatch(/Pilot: 5 cases for real/);
    expect(out).toMatch(/a pilot of 5/);
    expect(out).toMatch(/Sent: the pilot of 5 cases, \$/);
    expect((await parlane('runs')).out).toMatch(/5/);
    const { rows } = JSON.parse((await parlane('runs', '--json')).out).runs[0];
    expect(rows.total).toBe(5);
  });

  it('with --set forecasts another value of the config, and refuses a place that is not there', async () => {
    config();
    expect((await parlane('plan', '--set', 'providers[0]=sim:strict')).out).toMatch(/sim:strict/);
    const { err, code } = await parlane('plan', '--set', 'providers[7]=echo');
    expect(err).toMatch(/there is no \[7\]/);
    expect(code).toBe(2);
  });
});

describe('runs of eval', () => {
  const stopped = async (): Promise<void> => {
    config('apple', 3, '["sim:fast?latency=0ms"]');
    file('parlane.yaml', `${readFileSync(join(cwd, 'parlane.yaml'), 'utf8')}evaluateOptions: {maxEvalTimeMs: 1}\n`);
    expect((await parlane('eval', '-c', 'parlane.yaml')).code).toBe(3);
  };

  it('go on with parlane resume, from their snapshot, when the config is gone', async () => {
    await stopped();
    rmSync(join(cwd, 'parlane.yaml'));
    const { out, code } = await parlane('resume');
    expect(out).toMatch(/3 cases: 3 passed.* 0 open/);
    expect(code).toBe(0);
  });

  it('go on from their config and flags when they died before their plan was recorded', async () => {
    config('apple', 3);
    await parlane('eval', '-c', 'parlane.yaml', '--filter-first-n', '2', '--no-table');
    const store = await openStore({ at: join(cwd, '.parlane') });
    const [whole] = await store.runs();
    const snapshot = await (await store.openRun(whole?.id ?? runId('')))?.snapshot();
    await store.createRun({ id: runId('died'), name: 'words', createdAt: 1, snapshot: snapshot ?? null, options: {} });
    await store.close();
    const { out, code } = await parlane('resume', 'died');
    expect(out).toMatch(/2 cases: 2 passed/);
    expect(code).toBe(0);
  });

  it('are replayed and run again like all others', async () => {
    await stopped();
    await parlane('resume');
    expect((await parlane('replay', '1')).out).toMatch(/identical/);
    expect((await parlane('retry', '2')).out).toMatch(/1 case in .* 1 passed/);
  });
});
