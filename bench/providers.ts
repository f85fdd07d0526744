/** CPU per call of raw undici, of our adapter and of the vendor's SDK, side by side against one server elsewhere. */
import OpenAI from 'openai';
import { Pool } from 'undici';
import { realClock } from '../src/platform/clock.ts';
import { createHttpClient } from '../src/providers/http-client.ts';
import { resolveProvider } from '../src/providers/resolve-provider.ts';
import { spawnFaultServer } from '../src/testing/index.ts';

const callsPerRound = 1_000;
const rounds = 7;
const atOnce = 20;
const prompt = 'What is the weather like in Ulm today, and should I take an umbrella? '.repeat(10);
const model = 'gpt-4.1-mini';

interface Contender {
  readonly name: string;
  call(): Promise<unknown>;
  close(): Promise<unknown>;
}

function rawUndici(url: string): Contender {
  const pool = new Pool(url);
  const headers = { 'content-type': 'application/json', authorization: 'Bearer k' };
  return {
    name: 'undici',
    async call() {
      const body = JSON.stringify({
        model,
        messages: [{ role: 'user', content: prompt }],
        max_tokens: 1024,
        temperature: 0,
      });
      const response = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body });
      return response.body.json();
    },
    close: () => pool.close(),
  };
}

function ourAdapter(url: string): Contender {
  const http = createHttpClient({ clock: realClock });
  const config = { apiBaseUrl: `${url}/v1`, apiKey: 'k' };
  const provider = resolveProvider(
    { id: `openai:chat:${model}`, config },
    { clock: realClock, env: {}, basePath: '/', http },
  );
  const { signal } = new AbortController();
  return {
    name: 'adapter',
    async call() {
      const outcome = await provider.call({ kind: 'chat', prompt }, { signal, onHead: () => {} });
      if (outcome.kind === 'failure') throw new Error(outcome.message);
    },
    close: () => http.close(),
  };
}

function vendorSdk(url: string): Contender {
  const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
  return {
    name: 'sdk',
    call: () =>
      client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: prompt }],
        max_tokens: 1024,
        temperature: 0,
      }),
    close: () => Promise.resolve(),
  };
}

/** CPU milliseconds per call, user and system, of this process. */
async function cpuPerCall(contender: Contender, calls: number): Promise<number> {
  let left = calls;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await contender.call();
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / calls;
}

/** Whatever else runs on the machine only ever adds: the best round is the nearest to the truth. */
const best = (values: readonly number[]): number => Math.min(...values);
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

export const bench = {
  name: 'providers',
  async run() {
    await using server = await spawnFaultServer({ replies: { text: 'It rains. Take one.' } });
    const contenders = [rawUndici(server.url), ourAdapter(server.url), vendorSdk(server.url)];
    const measured = new Map(contenders.map(({ name }) => [name, [] as number[]]));
    for (const contender of contenders) await cpuPerCall(contender, callsPerRound);
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) {
        measured.get(contender.name)?.push(await cpuPerCall(contender, callsPerRound));
        await server.reset();
      }
    }
    await Promise.all(contenders.map((contender) => contender.close()));
    const [undici = 0, adapter = 0, sdk = 0] = contenders.map(({ name }) => best(measured.get(name) ?? []));
    return {
      name: 'providers',
      figures: {
        undiciCpuMs: rounded(undici),
        adapterCpuMs: rounded(adapter),
        sdkCpuMs: rounded(sdk),
        adapterToUndici: rounded(adapter / undici),
        ok: adapter <= 2 * undici && adapter < sdk,
      },
      cases: [...measured].map(([name, values]) => ({
        name,
        calls: callsPerRound * rounds,
        cpuMs: values.map(rounded).join(' '),
      })),
    };
  },
};
