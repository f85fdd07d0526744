/**
 * What a call costs all in: 20,000 calls to a server without latency, through run, lanes, provider, store and a
 * `contains` check, beside the same requests by plain undici in the same process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request as undici } from 'undici';
import type { PromptCase } from '../src/domain/case.ts';
import { caseIndex, caseKey } from '../src/domain/ids.ts';
import type { RunEvent } from '../src/domain/run-event.ts';
import { grade } from '../src/grading/grade.ts';
import { realClock } from '../src/platform/clock.ts';
import { keepHeapSmall } from '../src/platform/heap.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { resolveProvider } from '../src/providers/resolve-provider.ts';
import { Lanes } from '../src/run/lanes.ts';
import { promptRunner } from '../src/run/prompt-case.ts';
import { runPlan } from '../src/run/run-plan.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { spawnFaultServer } from '../src/testing/index.ts';

const calls = 20_000;
const early = 5_000;

const caseAt = (index: number): PromptCase => ({
  kind: 'prompt',
  index: caseIndex(index),
  key: caseKey(`case-${index}`),
  name: `case ${index}`,
  column: { position: 0, provider: 'model', prompt: 'q' },
  repeat: 0,
  checks: [{ type: 'contains', value: 'echo' }],
  prompt: `What is the capital of country number ${index}? Answer in one word, please.`,
  vars: {},
});

async function* cases(count: number): AsyncGenerator<PromptCase> {
  for (let index = 0; index < count; index++) yield caseAt(index);
}

const cpuSeconds = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

/** What is really held: after a collection where the program was started with `--expose-gc`. */
const rssMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1024 / 1024;
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

/** Measures what the journal adds to a call: from an answer's arrival until it is on disk. */
const timingAnswers = (store: Store, commitMs: number[]): Store => {
  const createRun = store.createRun.bind(store);
  store.createRun = async (run) => {
    const created = await createRun(run);
    const answer = created.answer.bind(created);
    created.answer = async (one) => {
      const from = performance.now();
      await answer(one);
      commitMs.push(performance.now() - from);
    };
    return created;
  };
  return store;
};

/** `inFlight`: most calls at once; absent means what the lane thinks right. */
async function throughParlane(url: string, at: string, count: number, inFlight?: number) {
  const http = createHttpClient({ clock: realClock });
  const provider = resolveProvider(
    { id: 'openai:chat:gpt-4.1', config: { apiKey: 'sk-bench', apiBaseUrl: `${url}/v1` } },
    { clock: realClock, env: {}, basePath: '/', http },
  );
  let commits = 0;
  const hooks = {
    after: (commit: number): void => {
      commits = commit;
    },
  };
  const store = await openStore({ at, hooks });
  const commitMs: number[] = [];
  const timed = timingAnswers(store, commitMs);
  let rssEarly = 0;
  const observer = (event: RunEvent): void => {
    if (event.type === 'case-end' && event.completed === early) rssEarly = rssMb();
  };
  const ports = { render: (text: string) => text } as unknown as Parameters<typeof grade>[3]['ports'];
  const prompt = promptRunner({
    render: (text) => text,
    grade: ({ case: one, reply, effects, vars }) =>
      grade(one.checks, { output: reply.output, vars }, effects, { baseDir: '/', ports }),
  });
  const before = process.cpuUsage();
  const from = performance.now();
  const outcome = await runPlan(
    { name: 'overhead', snapshot: {}, cases: cases(count), planned: count, traits: { serial: false, stateful: false } },
    {
      store: timed,
      clock: realClock,
      provider: () => provider,
      lanes: ({ onEvent }) =>
        new Lanes({
          clock: realClock,
          onEvent,
          limits: () => (inFlight === undefined ? {} : { maxConcurrent: inFlight }),
        }),
      runners: { prompt, conversation: () => Promise.reject(new Error('no conversations here')) },
      observers: [observer],
    },
  );
  const cpu = cpuSeconds(before);
  const seconds = (performance.now() - from) / 1000;
  const rssLate = rssMb();
  await store.close();
  await http.close();
  return {
    outcome,
    cpu,
    seconds,
    rssEarly,
    rssLate,
    commitP99Ms: percentile(commitMs, 0.99),
    commits,
  };
}

async function throughUndici(url: string): Promise<{ cpu: number; seconds: number }> {
  const agent = new Agent({ connections: 64 });
  const before = process.cpuUsage();
  const from = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < calls; index = next++) {
      const body = JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: caseAt(index).prompt }] });
      const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-bench' };
      const response = await undici(`${url}/v1/chat/completions`, { method: 'POST', body, headers, dispatcher: agent });
      JSON.parse(await response.body.text());
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  const used = { cpu: cpuSeconds(before), seconds: (performance.now() - from) / 1000 };
  await agent.close();
  return used;
}

const round = (value: number, digits = 3): number => Number(value.toFixed(digits));

// As the command line does.
keepHeapSmall();

export const bench = {
  name: 'overhead',
  async run() {
    const home = mkdtempSync(join(tmpdir(), 'parlane-overhead-'));
    await using server = await spawnFaultServer({});
    try {
      const own = await throughParlane(server.url, join(home, 'fast'), calls);
      const raw = await throughUndici(server.url);
      // What the journal adds is measured at a pace that real providers allow; without latency it is lost in the queue.
      await using slow = await spawnFaultServer({ latency: 50 });
      const paced = await throughParlane(slow.url, join(home, 'paced'), 3_000, 20);
      if (own.outcome.totals.passed !== calls) throw new Error(`only ${own.outcome.totals.passed} of ${calls} passed`);
      const figures = {
        calls,
        cpuSecondsPer1000: round((own.cpu / calls) * 1000),
        rawCpuSecondsPer1000: round((raw.cpu / calls) * 1000),
        rssMbAt5000: round(own.rssEarly, 1),
        rssMbAt20000: round(own.rssLate, 1),
        callsPerSecond: round(calls / own.seconds, 0),
        rawCallsPerSecond: round(calls / raw.seconds, 0),
        pacedCallsPerSecond: round(3_000 / paced.seconds, 0),
        pacedCommitP99Ms: round(paced.commitP99Ms, 2),
        callsPerCommit: round(calls / own.commits, 1),
      };
      return { name: 'overhead', figures, cases: [] };
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};
