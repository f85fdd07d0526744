/**
 * What a test of an eval costs all in: `parlane eval` in a process of its own, config, table, lanes, store and one
 * `contains`, against a server without latency; beside it the same requests by plain undici in another process.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnFaultServer } from '../src/testing/index.ts';
import type { Bench } from './main.ts';

const sizes = [5_000, 20_000] as const;
const question = (at: number): string => `What is the capital of country number ${at}? Answer in one word, please.`;

const plainScript = `
import { Agent, request } from 'undici';
import { readFileSync, writeFileSync } from 'node:fs';
const [url, count, figures] = process.argv.slice(2);
const dispatcher = new Agent({ connections: 32 });
let next = 0;
const work = async () => {
  for (let at = next++; at < Number(count); at = next++) {
    const body = JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'What is the capital of country number ' + at + '? Answer in one word, please.' }] });
    const response = await request(url + '/v1/chat/completions', { method: 'POST', dispatcher, body, headers: { 'content-type': 'application/json', authorization: 'Bearer k' } });
    const answer = await response.body.json();
    if (typeof answer.choices[0].message.content !== 'string') throw new Error('no answer');
  }
};
await Promise.all(Array.from({ length: 32 }, work));
await dispatcher.close();
`;

/** Runs a program to its end; what it used is told by the program's own last word. */
const tail = `
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require('node:fs').writeFileSync(process.env.FIGURES, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, rssMb: maxRSS / 1024 }));
});
`;

async function measured(args: readonly string[], cwd: string): Promise<{ cpu: number; rssMb: number }> {
  const figures = join(cwd, 'figures.json');
  writeFileSync(join(cwd, 'tail.cjs'), tail);
  const child = spawn(process.execPath, ['--no-warnings', '--require', join(cwd, 'tail.cjs'), ...args], {
    cwd,
    env: { ...process.env, FIGURES: figures, OPENAI_API_KEY: 'k' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await new Promise((resolve) => child.once('exit', resolve));
  return JSON.parse(readFileSync(figures, 'utf8')) as { cpu: number; rssMb: number };
}

async function once(tests: number, url: string): Promise<Record<string, number>> {
  const cwd = mkdtempSync(join(tmpdir(), 'parlane-bench-'));
  try {
    const rows = Array.from({ length: tests }, (_, at) => `"${question(at)}"`);
    writeFileSync(join(cwd, 'tests.csv'), `q\n${rows.join('\n')}\n`);
    writeFileSync(
      join(cwd, 'promptfooconfig.yaml'),
      `providers:\n  - id: openai:chat:gpt-4.1\n    config: {apiBaseUrl: ${url}/v1}\nprompts: ["{{q}}"]\ndefaultTest: {assert: [{type: contains, value: e}]}\ntests: tests.csv\n`,
    );
    const root = join(import.meta.dirname, '..');
    writeFileSync(join(root, 'bench', '.plain.mjs'), plainScript);
    const plain = await measured([join(root, 'bench', '.plain.mjs'), url, String(tests)], cwd);
    rmSync(join(root, 'bench', '.plain.mjs'));
    const program = join(root, 'dist', 'cli', 'main.js');
    const parlane = await measured([program, 'eval', '--no-cache', '--no-table', '--no-progress-bar'], cwd);
    return {
      tests,
      cpuSecondsPer1000: (parlane.cpu / tests) * 1000,
      peakRssMb: parlane.rssMb,
      plainCpuSecondsPer1000: (plain.cpu / tests) * 1000,
      plainPeakRssMb: plain.rssMb,
    };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

export const bench: Bench = {
  name: 'evals',
  async run() {
    await using server = await spawnFaultServer({});
    const cases = [];
    for (const tests of sizes) cases.push(await once(tests, server.url));
    return { name: 'evals', figures: {}, cases };
  },
};
