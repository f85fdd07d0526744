/** What somebody would write in ten minutes: so many calls at once per key, and after a 429 the wait it asks for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { PlainWork } from './eval-process.ts';

const { url, lanes, atOnce } = JSON.parse(process.argv[2] ?? '') as PlainWork;
const dispatcher = new Agent({ connections: atOnce });

async function ask(key: string, at: number): Promise<void> {
  const content = `What is the capital of country number ${at}? Answer in one word, please.`;
  const body = JSON.stringify({ model: key, messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  for (;;) {
    const response = await request(`${url}/v1/chat/completions`, { method: 'POST', dispatcher, body, headers });
    const answer = (await response.body.json()) as { choices?: [{ message: { content: unknown } }] };
    if (response.statusCode !== 429) {
      if (typeof answer.choices?.[0].message.content !== 'string') throw new Error('no answer');
      return;
    }
    await sleep(Number(response.headers['retry-after'] ?? 1) * 1000);
  }
}

await Promise.all(
  lanes.map(async ({ key, calls }) => {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < calls; at = next++) await ask(key, at);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }),
);
await dispatcher.close();
