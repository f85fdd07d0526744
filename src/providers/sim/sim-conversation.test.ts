import { describe, expect, it } from 'vitest';
import type { ConversationResult } from '../../domain/conversation-result.ts';
import { ConversationEngine } from '../../run/conversation-engine.ts';

const models = { agent: 'sim:instant', client: 'sim:client?latency=0ms', judge: 'sim:judge?latency=0ms' };

async function play(
  specification: string,
  variables: Record<string, string>,
  tools = true,
): Promise<ConversationResult> {
  const engine = new ConversationEngine(models, specification, { env: {} });
  const scenario = { name: 'rehearsal', variables: { SEED: 7, ...variables } };
  try {
    return await (tools ? engine.runConversationWithTools(scenario) : engine.runConversation(scenario));
  } finally {
    await engine.close();
  }
}

const toolsOf = (result: ConversationResult): string[] =>
  result.conversation_history.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.name));

describe('simulated models among themselves', () => {
  it('take an order through four agents to its end', async () => {
    const result = await play('order_desk', { goal: 'two cartons of oat milk and a rye bread, delivered tomorrow' });
    expect(result).toMatchObject({ status: 'completed', termination_reason: 'end_call_agent' });
    expect(result.final_state).toMatchObject({
      cart: [
        { product_id: 'P-101', quantity: 2 },
        { product_id: 'P-201', quantity: 1 },
      ],
      location_id: 1,
    });
    const tools = toolsOf(result);
    for (const name of ['find_products', 'handoff_flow_manager', 'set_delivery_date', 'end_call']) {
      expect(tools).toContain(name);
    }
  });

  it('pass a complaint on instead of selling something', async () => {
    const result = await play('order_desk', { goal: 'to complain that the last order came two days late' });
    expect(result.status).toBe('completed');
    expect(toolsOf(result)).toEqual(['handoff_support', 'transfer_call', 'end_call']);
  });

  it('talk without tools until the end marker, the same every time', async () => {
    const words = async (): Promise<string[]> => {
      const result = await play('default_prompts', { goal: 'to know the opening hours' }, false);
      expect(result.termination_reason).toBe('end_marker');
      return result.conversation_history.map(({ content }) => content);
    };
    expect(await words()).toEqual(await words());
  });
});
