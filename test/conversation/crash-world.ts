/** A batch to be killed in the middle of: tools with side effects, parallel tools, a handoff, a judge. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversationResult } from '../../src/domain/conversation-result.ts';
import type { ModelRequest } from '../../src/domain/message.ts';
import type { Provider } from '../../src/domain/provider.ts';
import type { Reply } from '../../src/domain/reply.ts';
import { BatchProcessor, type NewBatch } from '../../src/run/batch-processor.ts';
import type { Store } from '../../src/store/store.ts';
import { echoProvider, reply } from '../support/run-harness.ts';

export interface CrashOrder {
  readonly at: string;
  readonly folder: string;
  readonly kill?: { readonly commit: number; readonly when: 'before' | 'after' };
}

export function writeWorld(folder: string, toolUrl: string): void {
  mkdirSync(join(folder, 'prompts'), { recursive: true });
  const specification = {
    name: 'crash',
    version: '1',
    world: { cart: [] },
    agents: {
      agent: {
        name: 'Desk',
        prompt: 'desk',
        tools: ['charge', 'look', 'put', 'end_call'],
        handoffs: { support: 'trouble' },
      },
      support: { name: 'Support', prompt: 'support', tools: ['charge'], handoffs: { agent: 'order' } },
      client: { name: 'Client', prompt: 'client {{ goal }}', tools: [] },
      evaluator: { name: 'Judge', prompt: 'judge', tools: [] },
    },
    tools: {
      charge: { description: 'd', parameters: { type: 'object' }, backend: { http: { url: `${toolUrl}/charge` } } },
      look: {
        description: 'd',
        parallel: true,
        parameters: { type: 'object' },
        backend: { http: { url: `${toolUrl}/look` } },
      },
      put: { description: 'd', parameters: { type: 'object' }, backend: { state: { do: 'insert', at: 'cart' } } },
    },
  };
  writeFileSync(join(folder, 'prompts', 'crash.json'), JSON.stringify(specification, null, 2));
}

const call = (name: string, args: object, n: number): Reply['toolCalls'][number] => ({
  id: `c${n}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

/** Answers by what it sees and by nothing else, so that what is asked again is answered the same. */
function agentReply(request: ModelRequest): Reply {
  const messages = request.kind === 'chat' ? (request.messages ?? []) : [];
  const last = messages.at(-1);
  const mine = messages.filter(({ role }) => role === 'assistant').length;
  if (last?.role === 'tool') return reply(`Result: ${last.content}`);
  if (messages[0]?.content === 'support')
    return mine === 0
      ? reply('Support here.', { toolCalls: [call('charge', { fee: 1 }, mine)] })
      : reply('Back.', { toolCalls: [call('handoff_agent', { reason: 'done' }, mine)] });
  const heard = last?.content ?? '';
  if (heard.includes('one')) return reply('', { toolCalls: [call('charge', { n: 1 }, 1), call('put', { id: 1 }, 2)] });
  if (heard.includes('two'))
    return reply('Looking.', {
      toolCalls: [call('look', { n: 1 }, 1), call('look', { n: 2 }, 2), call('look', { n: 3 }, 3)],
    });
  if (heard.includes('three')) return reply('Over.', { toolCalls: [call('handoff_support', { reason: 'angry' }, 1)] });
  return reply('Yes?');
}

const providers: Readonly<Record<string, Provider>> = {
  agent: echoProvider('agent', async (request) => agentReply(request)),
  client: echoProvider('client', async () => reply('played four')),
  judge: echoProvider('judge', async () => reply('{"score": 3, "comment": "good"}')),
};

export const crashProcessor = (store: Store, folder: string): BatchProcessor =>
  new BatchProcessor({ store, folder, provider: (name) => providers[name], env: {} });

export const crashBatch: NewBatch = {
  promptSpecName: 'crash',
  useTools: true,
  models: { agent: { provider: 'agent' }, client: { provider: 'client' }, judge: { provider: 'judge' } },
  scenarios: ['a', 'b', 'c'].map((name) => ({
    name,
    variables: { goal: name },
    script: ['one', 'two', 'three', { model: 1 }],
  })),
};

/** What must be equal after kill and resume: everything but times and the names of sessions. */
export const transcriptsOf = (results: readonly ConversationResult[]): string =>
  JSON.stringify(results, (key, value: unknown) =>
    /_time$|timestamp|_at$|_seconds$|_ms$|session_id/.test(key) ? undefined : value,
  );
