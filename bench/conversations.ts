/**
 * A thousand conversations. On the virtual clock: two simulated lanes of 600 calls a minute, first without and then with
 * the lengths of the first run as forecasts. On the real clock: all at once against a fault server in its own process,
 * through run, lanes and store, with its books compared turn by turn. `--crash N` adds N kills in mid-conversation.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConversationResult } from '../src/domain/conversation-result.ts';
import type { Scenario } from '../src/domain/scenario.ts';
import { SeededRandom } from '../src/domain/seeded-random.ts';
import { realClock } from '../src/platform/clock.ts';
import { keepHeapSmall } from '../src/platform/heap.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { resolveProvider } from '../src/providers/resolve-provider.ts';
import { BatchProcessor } from '../src/run/batch-processor.ts';
import { ConversationEngine } from '../src/run/conversation-engine.ts';
import { lowerBound } from '../src/sim/bound.ts';
import { VirtualClock } from '../src/sim/virtual-clock.ts';
import type { SimCase } from '../src/sim/workload.ts';
import { openStore } from '../src/store/open-store.ts';
import { spawnFaultServer } from '../src/testing/index.ts';
import { conversationCrashes } from '../test/conversation/crash.ts';
import type { Bench } from './main.ts';

const count = 1_000;
const cap = 60;
const perMinute = 600;
const bucket = 10;

/** Lengths as they are met: half of the conversations have up to 7 turns, a few have dozens; 9 in the mean. */
function lengths(seed: number): number[] {
  const random = new SeededRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Array.from({ length: count }, () => Math.max(1, Math.min(cap, Math.round(7 * Math.exp(0.7 * normal())))));
}

const scenarioOf = (turns: number, at: number, expected?: number): Scenario => ({
  name: `scenario ${at}`,
  variables: { goal: `errand ${at}`, instructions: `This is caller ${at}.` },
  // How long it will be is decided by the client, who hangs up; nobody knows it before.
  script: turns === 1 ? ['Never mind.'] : [{ model: turns - 1 }],
  max_turns: cap + 1,
  timeout_sec: 100_000,
  ...(expected === undefined ? {} : { expected_turns: expected }),
});

interface Played {
  readonly seconds: number;
  readonly results: readonly ConversationResult[];
}

/** Plays all of them on a virtual clock: time goes on when nobody has anything left to do. */
async function playVirtually(scenarios: readonly Scenario[]): Promise<Played> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const bound = { now: () => clock.now(), at: (at: number, fire: () => void) => clock.at(at, fire) };
  const limits = `rpm=${perMinute}&burst=${bucket}&reply=Fine.`;
  const engine = new ConversationEngine(
    { agent: `sim:agent?${limits}&latency=4s~10s`, client: `sim:client?${limits}&latency=2500ms~6s` },
    'default_prompts',
    { clock: bound, specsFolder: '/nowhere', env: {} },
  );
  const from = clock.now();
  let done = false;
  const all = Promise.all(scenarios.map((scenario) => engine.runConversation(scenario)));
  const end = all.then(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!done && !clock.step()) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await end;
  const seconds = (clock.now() - from) / 1000;
  await engine.close();
  return { seconds, results: await all };
}

/** No schedule of exactly these calls could have been faster. */
function boundSeconds(results: readonly ConversationResult[]): { seconds: number; term: string } {
  const cases = results.map(
    (result): SimCase => ({
      expected: 1,
      calls: result.conversation_history
        .filter(({ scripted }) => scripted !== true)
        .map((entry) => ({
          lane: entry.speaker === 'client' ? 1 : 0,
          latencyMs: entry.latency_ms,
          gapMs: 0,
          input: 1,
          output: 1,
          maxOutput: 1,
        })),
    }),
  );
  const server = { requests: { perMinute, capacity: bucket } };
  const { ms, term } = lowerBound(cases, [server, server], ['agent', 'client']);
  return { seconds: ms / 1000, term };
}

async function virtual() {
  const turns = lengths(7);
  const first = await playVirtually(turns.map((length, at) => scenarioOf(length, at)));
  const second = await playVirtually(turns.map((length, at) => scenarioOf(length, at, first.results[at]?.total_turns)));
  return [first, second].map(({ seconds, results }, run) => {
    const bound = boundSeconds(results);
    return {
      name: run === 0 ? 'virtual clock, nothing known' : 'virtual clock, forecasts from the first run',
      conversations: results.length,
      meanTurns: Number((results.reduce((sum, one) => sum + one.total_turns, 0) / results.length).toFixed(1)),
      completed: results.filter(({ status }) => status === 'completed').length,
      makespanSeconds: Math.round(seconds),
      boundSeconds: Math.round(bound.seconds),
      bindingTerm: bound.term,
      efficiency: Number((bound.seconds / seconds).toFixed(3)),
    };
  });
}

/** All at once on the real clock; the server's books say whether a turn was lost or doubled. */
async function real() {
  const home = mkdtempSync(join(tmpdir(), 'parlane-conversations-'));
  await using server = await spawnFaultServer({ latency: 50 });
  const http = createHttpClient({ clock: realClock });
  const context = { clock: realClock, env: {}, basePath: home, http };
  const store = await openStore({ at: join(home, 'store') });
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, process.memoryUsage.rss() / 1024 / 1024);
  }, 50);
  try {
    const config = { apiKey: 'sk-bench', apiBaseUrl: `${server.url}/v1` };
    const models = new Map(
      ['agent', 'client'].map((name) => [
        name,
        resolveProvider({ id: `openai:chat:${name}`, label: name, config }, context),
      ]),
    );
    const processor = new BatchProcessor({ store, folder: home, provider: (name) => models.get(name), env: {} });
    const turns = lengths(11);
    const job = await processor.create({
      useTools: false,
      models: { agent: { provider: 'agent' }, client: { provider: 'client' } },
      scenarios: turns.map((length, at) => scenarioOf(length, at)),
    });
    const from = performance.now();
    const done = await processor.run(job.batch_id);
    const seconds = (performance.now() - from) / 1000;
    // The batch is over; what follows is this bench reading all results at once.
    clearInterval(watch);
    const results = await processor.results(job.batch_id);
    // Every turn is an agent's and a client's call; the last turn is the agent's, and the client hangs up.
    const expected = turns.reduce((sum, length) => sum + (length === 1 ? 2 : 2 * length - 1), 0);
    const said = results.reduce(
      (sum, one) => sum + one.conversation_history.filter(({ scripted }) => scripted !== true).length,
      0,
    );
    const twice = await server.paidTwice();
    return {
      name: 'real clock, all at once',
      conversations: results.length,
      completed: done.completed_scenarios,
      lostEntries: expected - said,
      requests: (await server.statistics()).requests,
      callsExpected: expected,
      paidTwice: twice.length,
      seconds: Number(seconds.toFixed(1)),
      peakRssMb: Math.round(peakMb),
    };
  } finally {
    clearInterval(watch);
    await store.close();
    await http.close();
    rmSync(home, { recursive: true, force: true });
  }
}

// As the command line does.
keepHeapSmall();

export const bench: Bench = {
  name: 'conversations',
  async run({ args }) {
    const at = args.indexOf('--crash');
    const together = await real();
    const [first, second] = await virtual();
    const killed = at === -1 ? undefined : await conversationCrashes(Number(args[at + 1] ?? 500));
    return {
      name: 'conversations',
      figures: {
        efficiencyFirst: first?.efficiency,
        efficiencySecond: second?.efficiency,
        makespanFirst: first?.makespanSeconds,
        makespanSecond: second?.makespanSeconds,
        peakRssMb: together.peakRssMb,
        lostEntries: together.lostEntries,
        paidTwice: together.paidTwice,
        ...(killed === undefined
          ? {}
          : {
              kills: killed.kills,
              differentTranscripts: killed.differentTranscripts,
              toolsCalledAgain: killed.toolsCalledAgain,
            }),
      },
      cases: [
        together,
        ...(first === undefined ? [] : [first]),
        ...(second === undefined ? [] : [second]),
        ...(killed === undefined ? [] : [killed]),
      ],
    };
  },
};
