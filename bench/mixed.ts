/**
 * Three providers that share nothing, through the lanes on the real clock, against a fault server in its own process:
 * no limit and no headers at 50 ms, 600 a minute at 200 ms, 120 a minute at 200 ms. 200 calls each, full-minute buckets
 * with headers, nothing declared. How near do the lanes come to the physical limit, and does anybody wait for another?
 */
import { caseIndex } from '../src/domain/ids.ts';
import type { Provider } from '../src/domain/provider.ts';
import { realClock } from '../src/platform/clock.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { resolveProvider } from '../src/providers/resolve-provider.ts';
import { Lanes } from '../src/run/lanes.ts';
import {
  type BehaviourRule,
  type LedgerEntry,
  type SpawnedFaultServer,
  spawnFaultServer,
} from '../src/testing/index.ts';
import type { Bench } from './main.ts';

interface Contender {
  readonly name: string;
  readonly rpm: number | undefined;
  readonly latencyMs: number;
}

const calls = 200;
const contenders: readonly Contender[] = [
  { name: 'unlimited', rpm: undefined, latencyMs: 50 },
  { name: 'rpm-600', rpm: 600, latencyMs: 200 },
  { name: 'rpm-120', rpm: 120, latencyMs: 200 },
];

const ruleOf = ({ name, rpm, latencyMs }: Contender): BehaviourRule => ({
  key: `key-${name}`,
  latency: latencyMs,
  ...(rpm === undefined ? { headers: 'none' as const } : { limits: { rpm } }),
});

/** The bucket's content goes at once, the rest at its rate, and the last answer takes its time. */
const boundMs = ({ rpm, latencyMs }: Contender): number =>
  latencyMs + (rpm === undefined ? 0 : (Math.max(0, calls - rpm) / rpm) * 60_000);

interface Timing {
  readonly contender: Contender;
  readonly answered: number;
  readonly endMs: number;
}

async function drive(contender: Contender, provider: Provider, lanes: Lanes, startedAt: number): Promise<Timing> {
  lanes.open(provider);
  const offset = contenders.indexOf(contender) * calls;
  const outcomes = await Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      const { outcome } = await lanes.submit({
        lane: provider.laneKey,
        index: caseIndex(offset + at),
        path: 'prompt',
        estimate: { input: 10, output: 10 },
        expectedCalls: 1,
        made: 0,
        perform: (signal, onHead) =>
          provider.call({ kind: 'chat', prompt: `call ${at} of ${contender.name}` }, { signal, onHead }),
      });
      return outcome.kind;
    }),
  );
  const answered = outcomes.filter((kind) => kind === 'reply').length;
  return { contender, answered, endMs: realClock.now() - startedAt };
}

async function driveAll(server: SpawnedFaultServer): Promise<{ timings: Timing[]; makespanMs: number }> {
  const http = createHttpClient({ clock: realClock });
  const lanes = new Lanes({ clock: realClock, seed: 1 });
  const providers = contenders.map(({ name }) =>
    resolveProvider(
      { id: `openai:chat:${name}`, config: { apiBaseUrl: `${server.url}/v1`, apiKey: `key-${name}` } },
      { clock: realClock, env: {}, basePath: '.', http },
    ),
  );
  const startedAt = realClock.now();
  const timings = await Promise.all(
    contenders.map((contender, at) => drive(contender, providers[at] as Provider, lanes, startedAt)),
  );
  const makespanMs = realClock.now() - startedAt;
  lanes.shutdown();
  await http.close();
  return { timings, makespanMs };
}

function caseOf({ contender, answered, endMs }: Timing, ledger: readonly LedgerEntry[]): Record<string, unknown> {
  const own = ledger.filter(({ key }) => key === `key-${contender.name}`);
  return {
    provider: contender.name,
    answered,
    requests: own.length,
    rejected: own.filter(({ status }) => status === 429).length,
    boundMs: Math.round(boundMs(contender)),
    endMs,
    efficiency: Math.round((boundMs(contender) / endMs) * 1000) / 1000,
  };
}

export const bench: Bench = {
  name: 'mixed',
  async run() {
    await using server = await spawnFaultServer({ rules: contenders.map(ruleOf) });
    const { timings, makespanMs } = await driveAll(server);
    const ledger = await server.ledger();
    const bound = Math.max(...contenders.map(boundMs));
    const unlimited = timings.find(({ contender }) => contender.name === 'unlimited')?.endMs ?? Number.NaN;
    const paidTwice = (await server.paidTwice()).length;
    const efficiency = Math.round((bound / makespanMs) * 1000) / 1000;
    return {
      name: 'mixed',
      figures: {
        efficiency,
        makespanMs,
        boundMs: bound,
        unlimitedMs: unlimited,
        paidTwice,
        answered: timings.reduce((sum, { answered }) => sum + answered, 0),
        rejected: ledger.filter(({ status }) => status === 429).length,
        holds: efficiency >= 0.95 && paidTwice === 0 && unlimited <= 1500,
      },
      cases: timings.map((timing) => caseOf(timing, ledger)),
    };
  },
};
