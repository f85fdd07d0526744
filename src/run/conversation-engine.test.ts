import { afterAll, describe, expect, it } from 'vitest';
import { echoProvider, reply } from '../../test/support/run-harness.ts';
import { importOpenAi } from '../conversation/import-tau-bench.ts';
import { resultValidator } from '../conversation/result-schema.ts';
import type { Outcome } from '../domain/reply.ts';
import { realFiles } from '../platform/files.ts';
import type { FilePort } from '../prompts/files.ts';
import { openStore } from '../store/open-store.ts';
import { ConversationEngine } from './conversation-engine.ts';
import { importRun } from './import-run.ts';

const faultsOf = resultValidator();
const scenario = {
  name: 'milk and bread',
  variables: {
    SEED: 7,
    goal: 'two cartons of oat milk and one rye bread, delivered tomorrow',
    persona: 'a regular customer',
  },
};

describe('the ConversationEngine', () => {
  const engine = new ConversationEngine(
    { agent: 'sim:agent?latency=1ms', client: 'sim:client?latency=1ms', judge: 'sim:judge?latency=1ms' },
    'order_desk',
  );
  afterAll(() => engine.close());

  it('plays the order desk offline, with tools, handoffs and a judge', async () => {
    const result = await engine.runConversationWithTools(scenario);
    expect(faultsOf(JSON.parse(JSON.stringify(result)))).toEqual([]);
    expect(result).toMatchObject({
      scenario: 'milk and bread',
      status: 'completed',
      tools_used: true,
      prompt_spec_name: 'order_desk',
      seed: 7,
    });
    expect(result.tool_call_count).toBeGreaterThan(2);
    expect(result.conversation_history[0]?.speaker).toBe('agent_agent');
    expect(result.evaluation_status).toBe('completed');
  });

  it('plays without tools', async () => {
    const result = await engine.runConversation(scenario, { maxTurns: 3 });
    expect(faultsOf(JSON.parse(JSON.stringify(result)))).toEqual([]);
    expect(result).not.toHaveProperty('tools_used');
    expect(result.total_turns).toBeLessThanOrEqual(3);
    expect(new Set(result.conversation_history.map(({ speaker }) => speaker))).toEqual(new Set(['agent', 'client']));
  });

  it('plays many at once, each with a session of its own', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        engine.runConversationWithTools({ ...scenario, name: `s${at}` }, { maxTurns: 4 }),
      ),
    );
    expect(new Set(results.map(({ session_id: id }) => id)).size).toBe(20);
    expect(results.map(({ scenario: name }) => name)).toEqual(Array.from({ length: 20 }, (_, at) => `s${at}`));
  });

  it('uses default_prompts unless told, and says what there is when a name is wrong', async () => {
    const plain = new ConversationEngine('sim:fast?latency=1ms');
    expect((await plain.runConversation(scenario, { maxTurns: 1 })).prompt_spec_name).toBe('default_prompts');
    await plain.close();
    const wrong = new ConversationEngine('sim:fast', 'order_dest');
    await expect(wrong.runConversation(scenario)).rejects.toThrow('did you mean "order_desk"?');
    await wrong.close();
  });

  it('refuses bad input before anything is sent', async () => {
    await expect(engine.runConversation(scenario, { maxTurns: 0 })).rejects.toThrow('max_turns');
    await expect(engine.runConversation(scenario, { timeoutSec: -1 })).rejects.toThrow('timeout_sec');
    await expect(engine.runConversation({ name: 'x', variables: { SEED: 'x' } })).rejects.toThrow('SEED');
    await expect(engine.runConversation({ variables: {} } as never)).rejects.toThrow('name');
  });

  it('gives an aborted result with the history so far when it is cancelled', async () => {
    const controller = new AbortController();
    const hang = echoProvider('client', async (): Promise<Outcome> => {
      controller.abort();
      return new Promise(() => {});
    });
    const own = new ConversationEngine({ agent: echoProvider('agent', async () => reply('Hello.')), client: hang });
    const result = await own.runConversationWithTools(scenario, { signal: controller.signal });
    expect(result).toMatchObject({ status: 'failed', termination_reason: 'aborted', total_turns: 1 });
    expect(result.conversation_history.map(({ content }) => content)).toEqual(['Hello.']);
    await own.close();
  });

  it('ends a model call that hangs when the working time is used up', async () => {
    const own = new ConversationEngine({
      agent: echoProvider('agent', async () => reply('Hello.')),
      client: echoProvider('client', () => new Promise(() => {})),
    });
    const result = await own.runConversationWithTools(scenario, { timeoutSec: 0.05 });
    expect(result).toMatchObject({ status: 'failed', termination_reason: 'timeout', error_type: 'TimeoutError' });
    await own.close();
  });

  it('lets tools replay a run of the store it was given, and refuses one that is not there', async () => {
    const files = (backend: object): FilePort => ({
      ...realFiles,
      list: async () => ['look.json'],
      read: async () =>
        JSON.stringify({
          name: 'look',
          version: '1',
          agents: { agent: { name: 'A', prompt: 'a', tools: ['look'] }, client: { name: 'C', prompt: 'c' } },
          tools: { look: { description: 'd', parameters: { type: 'object' }, backend } },
        }),
    });
    const agent = echoProvider('agent', async (request) => {
      const last = request.kind === 'chat' ? request.messages?.at(-1) : undefined;
      if (last?.role === 'tool') return reply(last.content);
      return reply('', { toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }] });
    });
    const store = await openStore({ at: ':memory:' });
    const said = { name: 'x', variables: {}, script: ['hello'] };
    const call = { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'look', arguments: '{}' } }] };
    const log = [{ role: 'user', content: 'hi' }, call, { role: 'tool', content: '{"seen":42}' }];
    const { conversations } = importOpenAi('log.jsonl', JSON.stringify(log), 0);
    const run = await importRun(store, { name: 'log', format: 'openai', conversations, now: 0 });
    const own = new ConversationEngine(agent, 'look', { store, files: files({ replay: run }) });
    const result = await own.runConversationWithTools(said);
    expect(result.conversation_history[0]?.tool_results).toEqual([{ seen: 42 }]);
    for (const options of [{ store, files: files({ replay: 'gone' }) }, { files: files({ replay: run }) }]) {
      const lost = new ConversationEngine(agent, 'look', options);
      await expect(lost.runConversationWithTools(said)).rejects.toMatchObject({ code: 'recording/missing' });
      await lost.close();
    }
    await own.close();
    await store.close();
  });

  it('does not hold a slot of one lane while it waits for another', async () => {
    const own = new ConversationEngine({ agent: 'sim:fast?latency=1ms', client: 'sim:client?latency=1ms' });
    await own.runConversation(scenario, { maxTurns: 2 });
    expect(own.lanes().map(({ inFlight, queue }) => [inFlight, queue])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    await own.close();
  });
});
