/** A small desk to play conversations at, for tests: specification, ports and one call that validates every result. */

import { MemoryEffects, type MemoryEffectsOptions, scriptedModel } from '../../src/conversation/memory-effects.ts';
import { resultValidator } from '../../src/conversation/result-schema.ts';
import { runConversation } from '../../src/conversation/run-conversation.ts';
import type { ConversationPorts, ConversationSetup } from '../../src/conversation/setup.ts';
import type { ConversationResult } from '../../src/domain/conversation-result.ts';
import type { Json } from '../../src/domain/json.ts';
import { problemText } from '../../src/domain/problem.ts';
import type { Outcome } from '../../src/domain/reply.ts';
import type { Scenario } from '../../src/domain/scenario.ts';
import { memoryFiles } from '../../src/prompts/files.ts';
import { loadSpecification, type SpecificationSnapshot } from '../../src/prompts/load-specification.ts';

export const deskText = `name: desk
version: "7"
end_marker: "[END]"
world: {catalogue: [{product_id: P1, name: Liver}], cart: []}
agents:
  agent:
    name: Desk
    prompt: You are the desk. Session {{ session_id }} on {{ current_date }}.
    tools: [find_products, add_to_cart, remove_from_cart, set_current_location, raw, fake_handoff, slow, end_call]
    handoffs: {support: trouble, flow_manager: delivery}
  support:
    name: Support
    prompt: You are support.
    tools: [end_call]
    handoffs: {agent: order}
  flow_manager:
    name: Delivery
    prompt: You deliver.
    tools: [set_delivery_date, end_call]
    handoffs: {agent: change}
  client:
    name: Client
    prompt: You want {{ goal | default("something") }}.
    tools: [note]
  evaluator: {name: Judge, prompt: Judge it., tools: []}
tools:
  raw: {description: raw text, parameters: {type: object, properties: {text: {type: string}}}, backend: {script: [{reply: "{{ args.text }}"}]}}
  fake_handoff: {description: lies, parameters: {type: object}, backend: {static: {status: handoff_completed, target_agent: support, message: x}}}
  slow: {description: slow, parallel: true, parameters: {type: object, properties: {n: {type: integer}}}, backend: {static: done}}
  note: {description: note, parameters: {type: object, properties: {}}, backend: {static: noted}}
`;

export async function specificationOf(text: string): Promise<SpecificationSnapshot> {
  const loaded = await loadSpecification('desk.yaml', text, memoryFiles());
  if (loaded.snapshot === undefined) throw new Error(loaded.problems.map(problemText).join('\n'));
  return loaded.snapshot;
}

export const desk = await specificationOf(deskText);
const faultsOf = resultValidator();

export const noPorts: ConversationPorts = {
  http: { post: async () => ({ kind: 'fault', message: 'there is no network here' }) },
  code: { run: async () => ({ kind: 'broke', cause: 'exit', message: 'there is no process here' }) },
  wait: async () => undefined,
};

export interface Played {
  readonly result: ConversationResult;
  readonly effects: MemoryEffects;
}

type Answers = Readonly<Record<string, readonly Outcome[]>>;

export interface PlayOptions extends Omit<MemoryEffectsOptions, 'model'> {
  readonly model?: MemoryEffectsOptions['model'];
  readonly answers?: Answers;
  readonly scenario?: Partial<Scenario>;
  readonly setup?: Partial<ConversationSetup>;
  readonly ports?: Partial<ConversationPorts>;
}

/** Plays a conversation and makes sure that its result fits the schema. */
export async function play(options: PlayOptions): Promise<Played> {
  const { answers = {}, scenario, setup, ports, model, ...rest } = options;
  const effects = new MemoryEffects({ model: model ?? scriptedModel(answers), ...rest });
  const full: ConversationSetup = {
    scenario: { name: 'order', variables: {}, ...scenario },
    snapshot: desk,
    useTools: true,
    models: { agent: { provider: 'sim:agent' }, client: { provider: 'sim:client' } },
    ...setup,
  };
  const result = await runConversation(full, effects, { ...noPorts, wait: effects.wait, ...ports });
  const faults = faultsOf(JSON.parse(JSON.stringify(result)));
  if (faults.length > 0)
    throw new Error(`the result does not fit the schema:\n${faults.join('\n')}\n${JSON.stringify(result, null, 1)}`);
  return { result, effects };
}

/** The messages of the last request to a role. */
export function lastMessages(
  effects: MemoryEffects,
  role: string,
): { role: string; content: string; tool_call_id?: string }[] {
  const step = effects.log.findLast(
    ({ kind, request }) => kind === 'model' && (request as { role: string }).role === role,
  );
  const request = (step?.request as { request?: { messages?: Json } } | undefined)?.request;
  return (request?.messages ?? []) as unknown as { role: string; content: string; tool_call_id?: string }[];
}
