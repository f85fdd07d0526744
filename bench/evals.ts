/**
 * What an eval costs all in: `parlane eval` in a process of its own, config, table, lanes, store and one `contains`,
 * against a server without latency; beside it the same requests by plain undici in another process. Then three
 * providers that share nothing, through the same command: how near does it come to the physical limit? And a table of a
 * hundred thousand rows: how soon is the first call made, and how much memory does it take, reports included?
 *
 *   npm run bench -- evals [sizes] [providers] [table] [rows=100000]     all three parts unless told
 */
import { type BehaviourRule, spawnFaultServer } from '../src/testing/index.ts';
import type { Bench } from './main.ts';
import { BenchFolder, type Used } from './support/eval-process.ts';

const sizes = [5_000, 20_000] as const;
const defaultRows = 100_000;

const question = (at: number): string => `What is the capital of country number ${at}? Answer in one word, please.`;
const table = (rows: number): string =>
  `q\n${Array.from({ length: rows }, (_, at) => `"${question(at)}"`).join('\n')}\n`;
const config = (url: string): string =>
  `providers:\n  - id: openai:chat:gpt-4.1\n    config: {apiBaseUrl: ${url}/v1}\nprompts: ["{{q}}"]\ndefaultTest: {assert: [{type: contains, value: e}]}\ntests: tests.csv\n`;

const per1000 = ({ cpu }: Used, tests: number): number => (cpu / tests) * 1000;

async function bySize(tests: number): Promise<Record<string, number>> {
  await using server = await spawnFaultServer({});
  using folder = new BenchFolder();
  folder.file('tests.csv', table(tests)).file('promptfooconfig.yaml', config(server.url));
  const plain = await folder.plain({ url: server.url, lanes: [{ key: 'k', calls: tests }], atOnce: 32 });
  const parlane = await folder.parlane(['eval', '--no-cache', '--no-table', '--no-progress-bar']);
  const { requests } = await server.statistics();
  if (requests !== 2 * tests) throw new Error(`${requests} requests for ${tests} tests, twice`);
  return {
    tests,
    cpuSecondsPer1000: per1000(parlane, tests),
    peakRssMb: parlane.rssMb,
    plainCpuSecondsPer1000: per1000(plain, tests),
    plainPeakRssMb: plain.rssMb,
  };
}

interface Contender {
  readonly key: string;
  readonly rpm?: number;
  readonly latencyMs: number;
}

const calls = 200;
const contenders: readonly Contender[] = [
  { key: 'unlimited', latencyMs: 50 },
  { key: 'rpm-600', rpm: 600, latencyMs: 200 },
  { key: 'rpm-120', rpm: 120, latencyMs: 200 },
];

const ruleOf = ({ key, rpm, latencyMs }: Contender): BehaviourRule => ({
  key,
  latency: latencyMs,
  ...(rpm === undefined ? { headers: 'none' as const } : { limits: { rpm } }),
});

/** The bucket's content goes at once, the rest at its rate, and the last answer takes its time. */
const boundMs = ({ rpm, latencyMs }: Contender): number =>
  latencyMs + (rpm === undefined ? 0 : (Math.max(0, calls - rpm) / rpm) * 60_000);

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/** Three providers, nothing declared: the whole command from its start to its end, and what the server saw of it. */
async function threeProviders(): Promise<Record<string, number>> {
  const rules = contenders.map(ruleOf);
  await using server = await spawnFaultServer({ rules });
  await using plainServer = await spawnFaultServer({ rules });
  using folder = new BenchFolder();
  const providers = contenders.map(({ key }) => ({
    id: `openai:chat:${key}`,
    config: { apiBaseUrl: `${server.url}/v1`, apiKey: key },
  }));
  folder.file('tests.csv', table(calls));
  folder.file('promptfooconfig.yaml', JSON.stringify({ providers, prompts: ['{{q}}'], tests: 'tests.csv' }));
  const lanes = contenders.map(({ key }) => ({ key, calls }));
  const [parlane, plain] = await Promise.all([
    folder.parlane(['eval', '--no-cache', '--no-table', '--no-progress-bar']),
    folder.plain({ url: plainServer.url, lanes, atOnce: 64 }),
  ]);
  const ledger = await server.ledger();
  const first = Math.min(...ledger.map(({ at }) => at));
  const last = Math.max(...ledger.map(({ endedAt = 0 }) => endedAt));
  const unlimited = Math.max(...ledger.filter(({ key }) => key === 'unlimited').map(({ endedAt = 0 }) => endedAt));
  const bound = Math.max(...contenders.map(boundMs));
  return {
    efficiency: rounded(bound / (last - first)),
    efficiencyWithStartAndEnd: rounded(bound / parlane.wallMs),
    makespanMs: last - first,
    boundMs: bound,
    unlimitedMs: unlimited - first,
    answered: ledger.filter(({ status }) => status === 200).length,
    rejected: ledger.filter(({ status }) => status === 429).length,
    paidTwice: (await server.paidTwice()).length,
    plainEfficiency: rounded(bound / plain.wallMs),
    plainRejected: (await plainServer.ledger()).filter(({ status }) => status === 429).length,
  };
}

/** A large table, its CSV and HTML reports written at the end. */
async function largeTable(rows: number): Promise<Record<string, number>> {
  await using server = await spawnFaultServer({});
  using folder = new BenchFolder();
  folder.file('tests.csv', table(rows)).file('promptfooconfig.yaml', config(server.url));
  const outputs = ['-o', 'out.csv', '-o', 'out.html'];
  const used = await folder.parlane(['eval', '--no-cache', '--no-table', '--no-progress-bar', ...outputs]);
  const { keys, requests } = await server.statistics();
  const firstCall = Math.min(...Object.values(keys).map(({ times }) => times[0] ?? Number.NaN));
  return {
    tableRows: rows,
    tableCalls: requests,
    tableFirstCallMs: firstCall - used.startedAt,
    tablePeakRssMb: Math.round(used.rssMb),
    tableCpuSecondsPer1000: rounded(per1000(used, rows)),
    tableCsvMb: Math.round(folder.size('out.csv') / 2 ** 20),
    tableHtmlMb: Math.round(folder.size('out.html') / 2 ** 20),
  };
}

export const bench: Bench = {
  name: 'evals',
  async run({ args }) {
    const parts = args.filter((arg) => !arg.startsWith('rows='));
    const wants = (part: string): boolean => parts.length === 0 || parts.includes(part);
    const rows = Number(args.find((arg) => arg.startsWith('rows='))?.slice(5) ?? defaultRows);
    const cases = [];
    if (wants('sizes')) for (const tests of sizes) cases.push(await bySize(tests));
    const providers = wants('providers') ? await threeProviders() : {};
    const large = wants('table') ? await largeTable(rows) : {};
    const figures: Record<string, number | boolean> = { ...providers, ...large };
    const within = (name: string, holds: (value: number) => boolean): boolean =>
      figures[name] === undefined || holds(Number(figures[name]));
    const holds =
      cases.every(({ cpuSecondsPer1000 = 0, peakRssMb = 0 }) => cpuSecondsPer1000 <= 1.5 && peakRssMb <= 200) &&
      within('efficiency', (value) => value >= 0.95) &&
      within('tableFirstCallMs', (value) => value <= 2_000) &&
      within('tablePeakRssMb', (value) => value <= 512);
    return { name: 'evals', figures: { ...figures, holds }, cases };
  },
};
