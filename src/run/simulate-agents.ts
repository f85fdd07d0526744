/**
 * A simulated user in front of agents with tools and handoffs: its config names a prompt specification, and the
 * conversation engine plays it. What comes back has the shape of every simulated conversation.
 */
import { join } from 'node:path';
import { runConversation } from '../conversation/run-conversation.ts';
import type { ConversationPorts } from '../conversation/setup.ts';
import type { ConversationResult } from '../domain/conversation-result.ts';
import type { Effects } from '../domain/effects.ts';
import { ParlaneError } from '../domain/errors.ts';
import { isObject } from '../domain/json.ts';
import type { ProviderFailure } from '../domain/reply.ts';
import { traceOfConversation } from '../grading/trace/trace-of-conversation.ts';
import { realFiles } from '../platform/files.ts';
import { loadSpecification, type SpecificationSnapshot } from '../prompts/load-specification.ts';
import { defaultTurns, personPrompt, stopMark } from './simulated-user.ts';
import { type Asking, type Message, Sayings, type Simulated } from './simulation.ts';

/** The specification with a client in it: the person that the instructions describe, unless it has its own. */
async function specificationOf({ config }: Asking, folder: string): Promise<SpecificationSnapshot> {
  const given = isObject(config['specification']) ? config['specification'] : {};
  const client = { name: 'Client', prompt: '{{ simulated_user }}' };
  const agents = { client, ...(isObject(given['agents']) ? given['agents'] : {}) };
  const text = JSON.stringify({ end_marker: stopMark, ...given, agents });
  const { snapshot, problems } = await loadSpecification(join(folder, 'specification.json'), text, realFiles);
  if (snapshot !== undefined) return snapshot;
  const told = problems.map(({ message }) => message).join('; ');
  throw new ParlaneError('eval/specification', `The simulated user's specification is wrong: ${told}.`, '', {});
}

const usesTools = ({ specification }: SpecificationSnapshot): boolean =>
  Object.keys(specification.tools ?? {}).length > 0 ||
  Object.values(specification.agents).some(({ handoffs }) => Object.keys(handoffs ?? {}).length > 0);

const messagesOf = ({ conversation_history }: ConversationResult): Message[] =>
  conversation_history.map(({ speaker, content }) => ({
    role: speaker === 'client' ? 'user' : 'assistant',
    content,
  }));

const failureOf = ({ error, error_code }: ConversationResult): ProviderFailure => ({
  kind: 'failure',
  code: error_code === 'auth' || error_code === 'timeout' ? error_code : 'program',
  message: error ?? 'The conversation could not be played to its end.',
  retryable: false,
  billed: 'no',
});

/** The same effects; what models say is added up. */
function summed(effects: Effects, sayings: Sayings): Effects {
  return {
    ...effects,
    async model(path, call) {
      const recorded = await effects.model(path, call);
      if (recorded.value.kind === 'reply') sayings.add(recorded.value, recorded.times.latencyMs);
      return recorded;
    },
  };
}

/** Plays the conversation of one test with the agents of a specification. */
export async function simulateAgents(
  asking: Asking,
  ports: ConversationPorts,
  folder: string,
): Promise<Simulated | ProviderFailure> {
  const { config, rendered, target, person, params } = asking;
  const template = typeof config['instructions'] === 'string' ? config['instructions'] : '{{instructions}}';
  const instructions = await asking.render(template, rendered.vars);
  const snapshot = await specificationOf(asking, folder);
  const sayings = new Sayings();
  const result = await runConversation(
    {
      scenario: {
        name: asking.name,
        variables: { ...rendered.vars, simulated_user: personPrompt(instructions), prompt: rendered.prompt },
      },
      snapshot,
      useTools: usesTools(snapshot),
      models: { agent: { provider: target, params }, client: { provider: person } },
      maxTurns: typeof config['maxTurns'] === 'number' ? config['maxTurns'] : defaultTurns,
      timeoutSec: typeof config['timeoutSec'] === 'number' ? config['timeoutSec'] : 600,
      firstSpeaker: snapshot.specification.first_speaker ?? 'client',
    },
    summed(asking.effects, sayings),
    ports,
  );
  if (result.status !== 'completed' && result.error !== undefined) return failureOf(result);
  return { ...sayings.result(messagesOf(result), result.session_id), trace: traceOfConversation(result) };
}
