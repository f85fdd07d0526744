import { afterAll, describe, expect, it } from 'vitest';
import { echoProvider, reply } from '../../test/support/run-harness.ts';
import { resultValidator } from '../conversation/result-schema.ts';
import type { Outcome } from '../domain/reply.ts';
import { ConversationEngine } from './conversation-engine.ts';

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
