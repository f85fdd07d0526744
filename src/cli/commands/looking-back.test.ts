import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { promptCase, rowOf } from '../../../test/contracts/store.ts';
import { commandLine, type Place } from '../../../test/support/command-line.ts';
import { unpackedReport } from '../../../test/support/packed-report.ts';
import { storedRun } from '../../../test/support/stored-runs.ts';
import { caseIndex, runId } from '../../domain/ids.ts';
import type { RowStatus } from '../../domain/row.ts';
import { openStore } from '../../store/open-store.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-look-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const parlane = (...args: string[]) => commandLine({ cwd }, ...args);
const parlaneAt = (place: Partial<Place>, ...args: string[]) => commandLine({ cwd, ...place }, ...args);

const first = '20261115-100000-aaaa';
const second = '20261115-110000-bbbb';

const eighteen = (failing: readonly number[]): RowStatus[] =>
  Array.from({ length: 18 }, (_, at) => (failing.includes(at + 1) ? 'failed' : 'passed'));

const twoRuns = async (before: readonly number[] = [7, 18], after: readonly number[] = []): Promise<void> => {
  await storedRun(cwd, { id: first, createdAt: 1000, statuses: eighteen(before), conversation: true });
  await storedRun(cwd, { id: second, createdAt: 9000, statuses: eighteen(after), conversation: true });
};

/** A fork of case 18 of the first run, with two tries. */
async function forkOfLast(): Promise<void> {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const fork = await store.createRun({
    id: runId('20261115-120000-ffff'),
    name: 'refunds, forked',
    createdAt: 20_000,
    snapshot: {},
    options: {},
  });
  await fork.addCases([0, 1].map((at) => ({ position: at, case: promptCase(at) })));
  for (const at of [0, 1]) await fork.saveRow(rowOf(promptCase(at), { output: `try ${at + 1}` }));
  await store.saveFork({ run: fork.id, parent: runId(first), index: caseIndex(17), keep: 'turns 1..1' }, []);
  await store.close();
}

describe('show', () => {
  it('shows an output with its prompt and the check that failed, by number or by name', async () => {
    await twoRuns();
    const { out, code } = await parlane('show', '#7', '--run', first);
    expect(out).toMatch(/#7 refund\/7 {3}failed[\s\S]*question 6[\s\S]*answer 6[\s\S]*FAILED {2}contains "manager"/);
    expect(code).toBe(0);
    expect((await parlane('show', 'refund/7', '--run', 'aaaa')).out).toBe(out);
  });

  it('shows a transcript with folded tools, one turn of it, or everything, and nothing that steers the terminal', async () => {
    await twoRuns();
    const terminal = { isTTY: true, columns: 80 };
    const { out } = await parlaneAt({ terminal }, 'show', '18', '--run', first, '--plain');
    expect(out).toContain('> lookup_order(id: "A-1007")');
    expect(out).toContain('fork 18 --after');
    expect(out).not.toContain('folded away because it is long');
    expect(out).not.toMatch(/[\u001b\u0007]|owned/);
    const unfolded = await parlaneAt({ terminal }, 'show', '18', '--run', first, '--unfold');
    expect(unfolded.out).toContain('folded away because');
    const piped = (await parlane('show', '18', '--run', first)).out;
    expect(piped).toMatch(/lookup_order\(id: "A-1007"\) -> .*folded away because it is long"\}\n/);
    expect(piped).not.toContain('tools are folded');
    const turn = (await parlane('show', '18', '--run', first, '--turn', '1')).out;
    expect(turn).toContain('Parcel desk');
    expect(turn).not.toContain('money today');
  });

  it('uses colour on a terminal, and not with --plain or NO_COLOR', async () => {
    await twoRuns();
    const terminal = { isTTY: true, columns: 100 };
    expect((await parlaneAt({ terminal }, 'show', '7')).out).toContain('\u001b[');
    expect((await parlaneAt({ terminal }, 'show', '7', '--plain')).out).not.toContain('\u001b');
    expect((await parlaneAt({ terminal, env: { NO_COLOR: '1' } }, 'show', '7')).out).not.toContain('\u001b');
  });

  it('looks at the newest run that is no fork, and at forks by their own names', async () => {
    await twoRuns();
    await forkOfLast();
    expect((await parlane('show', '7')).out).toContain('passed');
    expect((await parlane('show', '18f2', '--run', first)).out).toMatch(/^#18f2 [\s\S]*try 2/);
    expect((await parlane('show', '18f3', '--run', first)).err).toMatch(/no fork 3.*18f1 to 18f2/);
    expect((await parlane('show', '7f1')).err).toMatch(/no fork 1.*parlane fork 7/);
  });

  it('gives the whole row as JSON', async () => {
    await twoRuns();
    const { out } = await parlane('show', '7', '--json', '--run', first);
    expect(JSON.parse(out)).toMatchObject({ run: first, case: '7', row: { status: 'failed', index: 6 } });
  });
});

/** Five cases planned: two passed, one cancelled, one left open by a stop, one without a row. Its process has died. */
async function killedRun(): Promise<void> {
  const store = await openStore({ at: join(cwd, '.parlane') });
  const run = await store.createRun({ id: runId(first), name: 'refunds', createdAt: 1000, snapshot: {}, options: {} });
  await run.addCases([0, 1, 2, 3, 4].map((at) => ({ position: at, case: promptCase(at) })));
  const ended = { 0: {}, 1: {}, 2: { status: 'aborted' }, 3: { status: 'error', provisional: true } } as const;
  for (const [at, row] of Object.entries(ended)) await run.saveRow(rowOf(promptCase(Number(at)), row));
  // No process has a number as high as this one.
  const owner = { host: hostname(), pid: 2 ** 30, startedAt: '1', seenAt: 1000 };
  await run.change({ status: 'running', planned: 5, owner });
  await store.close();
}

describe('a run that was killed', () => {
  it('is stopped, and counts what passed, what was cancelled and what is open, alike everywhere', async () => {
    await killedRun();
    const { out } = await parlane('runs');
    expect(out).toContain(
      'stopped   3 of 5 done, its process is gone; 2 passed (100 %), 0 failed, 0 errors, 1 cancelled',
    );
    const counts = '2 passed, 0 failed, 0 errors, 0 skipped, 1 cancelled, 2 open';
    expect((await parlane('summary')).out).toContain(`5 test cases: ${counts}`);
    expect(JSON.parse((await parlane('summary', '--json')).out)).toMatchObject({
      planned: 5,
      counts: { passed: 2, errors: 0, aborted: 3, open: 2 },
    });
    expect((await parlane('show', '3')).out).toMatch(/^#3 .* cancelled /);
    expect((await parlane('show', '4')).out).toMatch(/^#4 .* open /);
  });
});

describe('compare', () => {
  it('tells the last run against the one before, whether it may be chance, and what would settle it', async () => {
    await twoRuns();
    const { out, code } = await parlane('compare');
    expect(out).toContain(`run ${second} against run ${first} (18 cases in both)`);
    expect(out).toMatch(/better {5}2 {3}#7, #18\n {2}worse {6}0\n {2}same {6}16/);
    expect(out).toMatch(
      /89 % -> 100 %\. {2}With 18 cases this may be chance \(p = 0\.50\); `--repeat \d+` would tell and cost about \$/,
    );
    expect(code).toBe(0);
  });

  it('takes the baseline when there is one, and two named runs in any order', async () => {
    await twoRuns();
    await storedRun(cwd, { id: '20261115-120000-cccc', createdAt: 12_000, statuses: eighteen([1]) });
    await parlane('runs', 'baseline', first);
    expect((await parlane('compare')).out).toContain(`cccc against run ${first}`);
    expect((await parlane('compare', 'bbbb', 'aaaa')).out).toContain(`run ${first} against run ${second}`);
    expect((await parlane('compare', 'baseline', 'latest')).out).toContain(`cccc against run ${first}`);
  });

  it('lists only what got worse when asked', async () => {
    await twoRuns([], [3]);
    const { out } = await parlane('compare', '--worse');
    expect(out).toMatch(/worse {6}1 {3}#3/);
    expect(out).not.toMatch(/better/);
  });

  it('fails on worse only when it is not chance', async () => {
    await twoRuns([], [3]);
    expect((await parlane('compare', '--fail-on-worse')).code).toBe(0);
    rmSync(join(cwd, '.parlane'), { recursive: true });
    await twoRuns([], [1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await parlane('compare', '--fail-on-worse')).code).toBe(100);
    expect((await parlane('compare')).code).toBe(0);
  });

  it('speaks Markdown, JSON and HTML', async () => {
    await twoRuns();
    expect((await parlane('compare', '--format', 'md')).out).toMatch(/^## run .*\n\n.*Pass rate/);
    expect(JSON.parse((await parlane('compare', '--json')).out)).toMatchObject({ version: 1, inBoth: 18, same: 16 });
    const { err } = await parlane('compare', '--format', 'html');
    expect(err).toContain('compare.html');
    expect(readFileSync(join(cwd, 'compare.html'), 'utf8')).toContain('id="comparison"');
  });
});

describe('export', () => {
  it('writes one HTML file that holds what models wrote as data', async () => {
    await twoRuns();
    const { err, code } = await parlane('export', 'aaaa');
    expect(err).toMatch(/Written: .*report\.html \(\d+ kB\)/);
    expect(code).toBe(0);
    const page = readFileSync(join(cwd, 'report.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(page).not.toContain('<script>alert(1)');
    expect(unpackedReport(page)).toContain('money today');
    expect(statSync(join(cwd, 'report.html')).mode & 0o077).toBe(0);
    expect(existsSync(join(cwd, 'report.html.part'))).toBe(false);
  });

  it('writes CSV, JSON lines and JUnit to standard output, or to a file by its ending', async () => {
    await twoRuns();
    const csv = (await parlane('export', first, '--format', 'csv')).out;
    expect(csv.split('\r\n')).toHaveLength(20);
    const lines = (await parlane('export', first, '--format', 'jsonl')).out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).index)).toEqual([...Array(18).keys()]);
    await parlane('export', first, '-o', 'out/results.xml');
    expect(readFileSync(join(cwd, 'out/results.xml'), 'utf8')).toContain('tests="18" failures="2" errors="0"');
  });

  it('makes folders inside the project, writes a told format under any name, and nothing elsewhere', async () => {
    await twoRuns();
    await parlane('export', first, '-o', 'a/b/results.xml');
    expect(existsSync(join(cwd, 'a/b/results.xml'))).toBe(true);
    expect((await parlane('export', '--format', 'csv', '-o', 'table.txt')).code).toBe(0);
    expect(await parlane('export', '-o', '/nonexist/dir/x.html')).toMatchObject({ code: 2 });
    expect(existsSync('/nonexist')).toBe(false);
  });

  it('says as JSON what it wrote', async () => {
    await twoRuns();
    const { out } = await parlane('export', '--format', 'csv', '-o', 'x.csv', '--json');
    expect(JSON.parse(out)).toMatchObject({ run: second, format: 'csv', path: join(cwd, 'x.csv') });
  });

  it('leaves out what people and models wrote with --redact, and known secrets always', async () => {
    await storedRun(cwd, { id: first, createdAt: 1, statuses: ['passed'], output: 'the key is hunter2-hunter2' });
    const env = { MY_API_KEY: 'hunter2-hunter2' };
    const plain = (await parlaneAt({ env }, 'export', '--format', 'jsonl')).out;
    expect(plain).toContain('the key is [redacted]');
    expect((await parlane('export', '--format', 'jsonl', '--redact')).out).not.toContain('the key');
  });

  it('puts a comparison into the report', async () => {
    await twoRuns();
    await parlane('export', '--against', first);
    expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toContain(`against run ${first}`);
  });
});

describe('runs', () => {
  it('lists runs with their verdicts, cost and marks', async () => {
    await twoRuns();
    await parlane('runs', 'baseline', first);
    await parlane('runs', 'name', first, 'before the rewrite');
    const { out } = await parlane('runs');
    expect(out.split('\n')[0]).toMatch(
      /bbbb .* complete .* 18 done; 18 passed \(100 %\), 0 failed, 0 errors .* refunds/,
    );
    expect(out.split('\n')[1]).toMatch(
      /aaaa .* 16 passed \(89 %\), 2 failed.*"before the rewrite" {2}baseline {2}refunds/,
    );
    expect((await parlane('show', '7', '--run', 'before the rewrite')).out).toContain('failed');
  });

  it('has one baseline at a time', async () => {
    await twoRuns();
    await parlane('runs', 'baseline', first);
    expect((await parlane('runs', 'baseline', 'latest')).out).toContain(`${second} is the baseline`);
    const { runs } = JSON.parse((await parlane('runs', '--json')).out);
    expect(runs.map(({ baseline }: { baseline?: boolean }) => baseline)).toEqual([true, undefined]);
  });

  it('deletes a run, but not a pinned one, not the baseline, not one that is at work', async () => {
    await twoRuns();
    await parlane('runs', 'pin', first);
    expect(await parlane('runs', 'delete', first)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is pinned'),
    });
    await parlane('runs', 'unpin', first);
    expect((await parlane('runs', 'delete', first)).out).toContain('is deleted');
    expect((await parlane('runs')).out).not.toContain(first);
    await parlane('runs', 'baseline', second);
    expect((await parlane('runs', 'delete', second)).err).toContain('is the baseline');
  });
});

describe('runs delete', () => {
  it('takes the forks of a run with it, unless one of them is pinned', async () => {
    await twoRuns();
    await forkOfLast();
    await parlane('runs', 'pin', 'ffff');
    expect((await parlane('runs', 'delete', first)).err).toContain('ffff is pinned');
    await parlane('runs', 'unpin', 'ffff');
    expect((await parlane('runs', 'delete', first)).out).toContain('is deleted, and 1 fork of it');
    expect((await parlane('runs')).out.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('what does not fit', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parlane-look-'));
    cwd = folder;
    await twoRuns();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    [['show'], /missing required argument 'case'/],
    [['show', '99'], /has no case #99.*18 cases: #1 to #18/],
    [['show', 'refnd/7'], /has no case "refnd\/7".*Did you mean "refund\/7"/],
    [['show', '7', '--run', '20261115-100000-aaab'], /no run .*Did you mean 20261115-100000-aaaa/],
    [['show', '7', '--turn', '1'], /not a conversation/],
    [['show', '18', '--turn', '9'], /"9" is not a turn.*1 to 2/],
    [['show', '7', '--unfoldd'], /unknown option '--unfoldd'[\s\S]*--unfold/],
    [['compare', 'aaaa', first], /are the same run/],
    [['compare', 'baseline', 'latest'], /No run is the baseline.*parlane runs baseline/],
    [['compare', first], /no run before .*aaaa/],
    [['compare', '--format', 'pdf'], /argument 'pdf' is invalid\. Allowed choices are text, md, json, html/],
    [['compare', '--worse', '--format', 'md'], /--worse is for --format text/],
    [['export', 'nope'], /There is no run "nope".*Known: .*bbbb, .*aaaa/],
    [['export', '--format', 'xls'], /Allowed choices are html, csv, jsonl, junit/],
    [['export', '-o', '.'], /is a folder/],
    [['export', '-o', 'foo.zip'], /cannot be written as "foo\.zip"\. End the name in \.html/],
    [['export', '-o', '/nonexist/dir/x.html'], /no folder \/nonexist\/dir\. Folders outside the project are not made/],
    [['export', '--format', 'csv', '-o', '../nonexist/x.csv'], /no folder .*nonexist/],
    [['export', '--against', 'nope'], /There is no run "nope"/],
    [['runs', 'basline', 'latest'], /cannot "basline".*Did you mean "baseline"/],
    [['runs', 'pin'], /Which run to pin\?/],
    [['runs', 'name', 'latest'], /Which name\?/],
    [['runs', 'name', 'latest', 'latest'], /"latest" is a word for a run already\. Choose another name/],
    [['runs', 'name', 'latest', 'baseline'], /"baseline" is a word for a run already/],
    [['runs', 'name', 'latest', '2026'], /"2026" is a part of run ids/],
    [['runs', 'name', 'latest', '20270101-12'], /is a part of run ids/],
    [['runs', 'name', 'latest', 'bbbb'], /"bbbb" is a part of run ids/],
    [['runs', 'pin', 'latest', 'more'], /"more" is too much/],
    [['runs', '--limit', 'many'], /"many" is not a number of runs/],
    [['runs', '--store', 'nowhere'], /no store at .*nowhere/],
    [['show', '1', '2'], /too many arguments/],
  ])('%j is one clear message and exit code 2', async (args, message) => {
    const { err, out, code } = await parlaneAt({ cwd: folder }, ...args);
    expect(err).toMatch(message);
    expect(out).toBe('');
    expect(code).toBe(2);
    expect(err.split('\n').length).toBeLessThan(5);
  });

  it('formats that exclude each other are refused, as JSON too', async () => {
    const { out, code } = await parlaneAt({ cwd: folder }, 'compare', '--json', '--format', 'md');
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'cli/conflict' } });
    expect(code).toBe(2);
  });

  it.each(['show 1', 'compare', 'export', 'runs delete x'])(
    '"%s" in an empty project says that there are no runs',
    async (line) => {
      expect(await parlane(...line.split(' '))).toMatchObject({
        code: 2,
        err: expect.stringMatching(/no runs here yet/),
      });
    },
  );
});
