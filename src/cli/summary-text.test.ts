import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type Said } from '../../test/support/command-line.ts';

const prompt = 'Please answer in one short sentence, and never promise anything: what is {{a}} times {{b}}?';
const config = `
description: numbers
prompts: ['${prompt}', 'And {{a}} * {{b}}?']
providers: ['sim:instant?price=1/4', { id: 'sim:instant', label: free }]
defaultTest: { options: { provider: 'sim:judge?latency=1' } }
tests: [{ vars: { a: 6, b: 7 }, assert: [{ type: llm-rubric, value: right }] }]
`;

let cwd: string;
const run = (columns: number, ...args: string[]): Promise<Said> =>
  commandLine({ cwd, terminal: { isTTY: Number.isFinite(columns), columns } }, ...args);

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'parlane-summary-'));
  writeFileSync(join(cwd, 'parlane.yaml'), config);
  await run(Number.POSITIVE_INFINITY, 'run', '--yes', '--plain');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('parlane summary', () => {
  it('cuts and breaks nothing in a pipe', async () => {
    const { out } = await run(Number.POSITIVE_INFINITY, 'summary');
    expect(out).toContain(`  free | ${prompt}: `);
    expect(out).not.toContain('…');
  });

  it.each([40, 60, 80, 160])('fits a terminal of %i columns', async (columns) => {
    const { out } = await run(columns, 'summary');
    const [, ...lines] = out.trimEnd().split('\n');
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(out.replace(/\s+/g, ' ')).toContain('of what the limits allow');
  });

  it('writes the cost of each column and each role with the digits of the whole', async () => {
    const { out } = await run(Number.POSITIVE_INFINITY, 'summary');
    const amounts = (lines: RegExp): string[] => [...(lines.exec(out)?.[0] ?? '').matchAll(/\$[\d.]+/g)].map(String);
    const cost = amounts(/^cost.*$/m);
    expect(cost).toHaveLength(3);
    expect(cost[0]).toBe(cost.find((each) => Number(each.slice(1)) > 0));
    for (const group of [cost, amounts(/ {2}sim:instant[\s\S]*?(?=limits)/)])
      expect(new Set(group.map((each) => each.length)).size).toBe(1);
  });

  it('does not measure a stopped run by what it would have taken', async () => {
    expect((await run(Number.POSITIVE_INFINITY, 'summary')).out).toMatch(/^limits/m);
    writeFileSync(join(cwd, 'dear.yaml'), config.replace("id: 'sim:instant'", "id: 'sim:instant?price=100/400'"));
    await run(Number.POSITIVE_INFINITY, 'run', 'dear.yaml', '--yes', '--plain', '--budget', '0.1');
    const { out } = await run(Number.POSITIVE_INFINITY, 'summary');
    expect(out).toMatch(/2 open/);
    expect(out).not.toMatch(/^limits/m);
  });
});
